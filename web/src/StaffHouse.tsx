import { useQueryClient } from '@tanstack/react-query';
import { Outlet } from '@tanstack/react-router';
import { useEffect } from 'react';
import type { OperationName } from '../../client/index.ts';
import { Proof } from './account/Proof.tsx';
import { useMay } from './data/may.ts';
import { followAll } from './data/staffStream.ts';
import { PaletteButton } from './search/PaletteButton.tsx';
import { useText } from './text/index.ts';
import { LinkButton, Page, Refusal, Shell, Text } from './ui/index.ts';
import { useHouse } from './useHouse.ts';

/** Places of staff, each with the operation that it shows something by. */
const groups = [
  { group: null, places: [{ to: '/staff', label: 'staff.today', operation: 'listConcerns' }] },
  {
    group: 'staff.groupSupport',
    places: [
      { to: '/staff/tickets', label: 'staff.queue', operation: 'listTicketQueue' },
      { to: '/staff/unclaimed-mails', label: 'staff.unclaimed', operation: 'listUnclaimedMails' },
      { to: '/staff/canned-replies', label: 'staff.canned', operation: 'listCannedReplies' },
      { to: '/staff/departments', label: 'staff.departments', operation: 'getSettings' },
    ],
  },
  {
    group: 'staff.groupCustomers',
    places: [
      { to: '/staff/organizations', label: 'staff.organizations', operation: 'listOrganizationsAsStaff' },
      { to: '/staff/users', label: 'staff.users', operation: 'listUsers' },
      { to: '/staff/services', label: 'staff.services', operation: 'listServicesAsStaff' },
    ],
  },
  {
    group: 'staff.groupMoney',
    places: [
      { to: '/staff/orders', label: 'staff.orders', operation: 'listOrders' },
      { to: '/staff/invoices', label: 'staff.invoices', operation: 'listInvoicesAsStaff' },
      { to: '/staff/payments', label: 'staff.payments', operation: 'listPayments' },
      { to: '/staff/transfers', label: 'staff.transfers', operation: 'listBankTransfers' },
      { to: '/staff/bank-statements', label: 'staff.statements', operation: 'listBankStatements' },
      { to: '/staff/refunds', label: 'staff.refunds', operation: 'listRefunds' },
      { to: '/staff/credit-returns', label: 'staff.creditReturns', operation: 'listCreditReturns' },
      { to: '/staff/disputes', label: 'staff.disputes', operation: 'listDisputes' },
      { to: '/staff/payouts', label: 'staff.payouts', operation: 'listPayouts' },
      { to: '/staff/unknown-payments', label: 'staff.unknownPayments', operation: 'listUnknownPayments' },
      { to: '/staff/figures', label: 'staff.figuresPage', operation: 'getFigures' },
      { to: '/staff/tax-report', label: 'staff.taxReport', operation: 'getTaxReport' },
      { to: '/staff/tax-rates', label: 'staff.taxRates', operation: 'listTaxRates' },
      { to: '/staff/books', label: 'staff.books', operation: 'listBookkeepingPeriods' },
    ],
  },
  {
    group: 'staff.groupOffer',
    places: [
      { to: '/staff/products', label: 'staff.products', operation: 'listProductsAsStaff' },
      { to: '/staff/product-groups', label: 'staff.groups', operation: 'listProductGroups' },
      { to: '/staff/coupons', label: 'staff.coupons', operation: 'listCoupons' },
      { to: '/staff/price-moves', label: 'staff.priceMoves', operation: 'listPriceMoves' },
    ],
  },
  {
    group: 'staff.groupRunning',
    places: [
      { to: '/staff/clusters', label: 'staff.clusters', operation: 'listClusters' },
      { to: '/staff/nodes', label: 'staff.nodes', operation: 'listNodes' },
      { to: '/staff/address-pools', label: 'staff.pools', operation: 'listAddressPools' },
      { to: '/staff/images', label: 'staff.images', operation: 'listOperatingSystemImages' },
      { to: '/staff/racks', label: 'staff.racks', operation: 'listRacks' },
      { to: '/staff/switches', label: 'staff.switches', operation: 'listSwitches' },
      { to: '/staff/servers', label: 'staff.servers', operation: 'listServers' },
      { to: '/staff/server-profiles', label: 'staff.serverProfiles', operation: 'listServerProfiles' },
      { to: '/staff/installations', label: 'staff.installations', operation: 'listInstallations' },
      { to: '/staff/erasures', label: 'staff.erasures', operation: 'listErasedDisks' },
      { to: '/staff/enrolment', label: 'staff.enrolment', operation: 'getEnrolment' },
      { to: '/staff/shield-attacks', label: 'staff.attacks', operation: 'listAttacksAsStaff' },
      { to: '/staff/shield-edges', label: 'staff.shieldEdges', operation: 'listShieldEdges' },
      { to: '/staff/shield-prefixes', label: 'staff.shieldPrefixes', operation: 'listShieldPrefixes' },
      {
        to: '/staff/shield-address-lists',
        label: 'staff.shieldAddressLists',
        operation: 'listShieldAddressLists',
      },
      { to: '/staff/shield-products', label: 'staff.shieldProducts', operation: 'listShieldProducts' },
      { to: '/staff/jobs', label: 'staff.jobs', operation: 'listFailedJobs' },
      { to: '/staff/mails', label: 'staff.mails', operation: 'listMails' },
      { to: '/staff/webhook-deliveries', label: 'staff.deliveries', operation: 'listAllWebhookDeliveries' },
      { to: '/staff/audit', label: 'staff.audit', operation: 'listAudit' },
      { to: '/staff/people', label: 'staff.people', operation: 'listStaff' },
      { to: '/staff/keys', label: 'staff.keys', operation: 'listStaffKeys' },
      { to: '/staff/settings', label: 'staff.settings', operation: 'getSettings' },
    ],
  },
  {
    group: 'staff.groupCompany',
    places: [{ to: '/staff/settings/brand', label: 'brand.title', operation: 'updateSettings' }],
  },
] as const satisfies readonly { group: string | null; places: readonly Place[] }[];

interface Place {
  to: string;
  label: string;
  operation: OperationName;
}

/** Around every page of the provider's people: where they may go, and news of everything. */
export function StaffHouse() {
  const { t } = useText();
  const queries = useQueryClient();
  const { signedIn, signOut, speak } = useHouse();
  const may = useMay();
  const hearsAll = may('followAllEvents');
  useEffect(() => {
    if (!hearsAll) return;
    const end = new AbortController();
    followAll(queries, end.signal);
    return () => end.abort();
  }, [hearsAll, queries]);
  if (!signedIn?.staff) return null;
  const open = groups.flatMap(({ group, places }) =>
    places
      .filter(({ operation }) => may(operation))
      .map(({ to, label }, index) => ({
        ...{ to, label: t(label) },
        group: group !== null && index === 0 ? t(group) : undefined,
      })),
  );
  return (
    <Shell
      session={{ ...signedIn, organizations: [], organization: null }}
      places={open}
      search={<PaletteButton places={open} isStaff />}
      elsewhere={signedIn.organization === null ? undefined : { to: '/', label: t('staff.toOwn') }}
      onOrganization={() => undefined}
      onLanguage={speak}
      onSignOut={() => signOut.mutate()}
    >
      <Proof />
      <Refusal error={signOut.error} />
      {signedIn.staff.operations.length === 0 ? <NoFactor /> : <Outlet />}
    </Shell>
  );
}

/** Nothing of the provider's is shown to whoever signed in without a second factor. */
function NoFactor() {
  const { t } = useText();
  return (
    <Page title={t('staff.factorTitle')}>
      <Text>{t('staff.factorText')}</Text>
      <LinkButton to="/account/security" style={{ alignSelf: 'flex-start' }}>
        {t('staff.factorSetUp')}
      </LinkButton>
    </Page>
  );
}
