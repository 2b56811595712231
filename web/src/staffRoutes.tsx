import { createRoute, redirect } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { lazyPage } from './lazyPage.tsx';
import { requireSignedIn, root } from './root.tsx';
import { openStaffTexts } from './text/index.ts';
import { Center, Loader } from './ui/index.ts';

/** The provider's side of the dashboard; others are sent to theirs. */
export const staffHouse = createRoute({
  getParentRoute: () => root,
  id: 'staff-house',
  beforeLoad: async ({ location }) => {
    const { staff } = await requireSignedIn(location.href);
    if (staff === null) throw redirect({ to: '/' });
    await openStaffTexts();
  },
  pendingComponent: () => (
    <Center h="60vh">
      <Loader />
    </Center>
  ),
  component: lazyPage(() => import('./StaffHouse.tsx'), 'StaffHouse'),
});

/** What lists are filtered by. */
export type Words = Readonly<Record<string, string | number | undefined>>;

function words(search: Record<string, unknown>): Words {
  const isWord = (value: unknown) => typeof value === 'string' || typeof value === 'number';
  return Object.fromEntries(Object.entries(search).filter(([, value]) => isWord(value))) as Words;
}

function page<const Path extends string, const Name extends string>(
  path: Path,
  load: () => Promise<Record<Name, () => ReactNode>>,
  name: Name,
) {
  const component = lazyPage(load, name);
  return createRoute({ getParentRoute: () => staffHouse, path, validateSearch: words, component });
}

/** Staff's part of the list of pages. */
export const staffPages = [
  page('/staff', () => import('./attention/staff/Today.tsx'), 'Today'),
  page('/staff/tickets', () => import('./tickets/staff/Queue.tsx'), 'Queue'),
  page('/staff/tickets/$tid', () => import('./tickets/staff/Ticket.tsx'), 'Ticket'),
  page('/staff/unclaimed-mails', () => import('./tickets/staff/Unclaimed.tsx'), 'Unclaimed'),
  page('/staff/unclaimed-mails/$id', () => import('./tickets/staff/UnclaimedMail.tsx'), 'UnclaimedMail'),
  page('/staff/departments', () => import('./tickets/staff/DepartmentsPage.tsx'), 'DepartmentsPage'),
  page('/staff/canned-replies', () => import('./tickets/staff/CannedReplies.tsx'), 'CannedReplies'),
  page('/staff/organizations', () => import('./organizations/staff/Organizations.tsx'), 'Organizations'),
  page('/staff/organizations/$id', () => import('./organizations/staff/Organization.tsx'), 'Organization'),
  page('/staff/users', () => import('./account/staff/Users.tsx'), 'Users'),
  page('/staff/users/$id', () => import('./account/staff/User.tsx'), 'User'),
  page('/staff/services', () => import('./services/staff/StaffServices.tsx'), 'StaffServices'),
  page('/staff/services/$id', () => import('./services/staff/StaffService.tsx'), 'StaffService'),
  page('/staff/invoices', () => import('./billing/staff/StaffInvoices.tsx'), 'StaffInvoices'),
  page('/staff/invoices/$id', () => import('./billing/staff/StaffInvoice.tsx'), 'StaffInvoice'),
  page('/staff/orders', () => import('./services/staff/Orders.tsx'), 'Orders'),
  page('/staff/payments', () => import('./billing/staff/Payments.tsx'), 'Payments'),
  page('/staff/transfers', () => import('./billing/staff/Transfers.tsx'), 'Transfers'),
  page('/staff/bank-statements', () => import('./billing/staff/BankStatements.tsx'), 'BankStatements'),
  page('/staff/bank-statements/$id', () => import('./billing/staff/BankStatement.tsx'), 'BankStatement'),
  page('/staff/refunds', () => import('./billing/staff/Returns.tsx'), 'Refunds'),
  page('/staff/credit-returns', () => import('./billing/staff/Returns.tsx'), 'CreditReturns'),
  page('/staff/disputes', () => import('./billing/staff/Returns.tsx'), 'Disputes'),
  page('/staff/payouts', () => import('./billing/staff/Provider.tsx'), 'Payouts'),
  page('/staff/unknown-payments', () => import('./billing/staff/Provider.tsx'), 'UnknownPayments'),
  page('/staff/coupons', () => import('./catalog/staff/Coupons.tsx'), 'Coupons'),
  page('/staff/products', () => import('./catalog/staff/StaffProducts.tsx'), 'StaffProducts'),
  page('/staff/products/$id', () => import('./catalog/staff/StaffProduct.tsx'), 'StaffProduct'),
  page('/staff/product-groups', () => import('./catalog/staff/ProductGroups.tsx'), 'ProductGroups'),
  page('/staff/price-moves', () => import('./services/staff/PriceMoves.tsx'), 'PriceMoves'),
  page('/staff/price-moves/$id', () => import('./services/staff/PriceMoves.tsx'), 'PriceMoveServices'),
  page('/staff/tax-rates', () => import('./billing/staff/Tax.tsx'), 'TaxRates'),
  page('/staff/tax-report', () => import('./billing/staff/Tax.tsx'), 'TaxReport'),
  page('/staff/books', () => import('./billing/staff/Books.tsx'), 'Books'),
  page('/staff/coming', () => import('./services/staff/Coming.tsx'), 'Coming'),
  page('/staff/figures', () => import('./services/staff/Figures.tsx'), 'Figures'),
  page('/staff/clusters', () => import('./fleet/staff/Clusters.tsx'), 'Clusters'),
  page('/staff/clusters/$id', () => import('./fleet/staff/Clusters.tsx'), 'Cluster'),
  page('/staff/nodes', () => import('./fleet/staff/Nodes.tsx'), 'Nodes'),
  page('/staff/nodes/$id', () => import('./fleet/staff/Node.tsx'), 'Node'),
  page('/staff/unknown-machines/$id', () => import('./fleet/staff/UnknownMachine.tsx'), 'UnknownMachine'),
  page('/staff/address-pools', () => import('./fleet/staff/AddressPools.tsx'), 'AddressPools'),
  page('/staff/address-pools/$id', () => import('./fleet/staff/AddressPools.tsx'), 'AddressPool'),
  page('/staff/images', () => import('./fleet/staff/Images.tsx'), 'Images'),
  page('/staff/racks', () => import('./fleet/staff/Racks.tsx'), 'Racks'),
  page('/staff/racks/$id', () => import('./fleet/staff/Racks.tsx'), 'Rack'),
  page('/staff/switches', () => import('./fleet/staff/Switches.tsx'), 'Switches'),
  page('/staff/switches/$id', () => import('./fleet/staff/Switches.tsx'), 'Switch'),
  page('/staff/enrolment', () => import('./fleet/staff/Enrolment.tsx'), 'Enrolment'),
  page('/staff/enrolment/$id', () => import('./fleet/staff/Arrival.tsx'), 'Arrival'),
  page('/staff/server-profiles', () => import('./fleet/staff/Profiles.tsx'), 'Profiles'),
  page('/staff/servers', () => import('./fleet/staff/Servers.tsx'), 'Servers'),
  page('/staff/servers/$id', () => import('./fleet/staff/Server.tsx'), 'Server'),
  page('/staff/installations', () => import('./fleet/staff/Installations.tsx'), 'Installations'),
  page('/staff/erasures', () => import('./fleet/staff/Erasures.tsx'), 'Erasures'),
  page('/staff/shield-attacks', () => import('./shield/staff/StaffAttacks.tsx'), 'StaffAttacks'),
  page('/staff/shield-attacks/$id', () => import('./shield/staff/StaffAttacks.tsx'), 'StaffAttack'),
  page('/staff/shield-edges', () => import('./shield/staff/Edges.tsx'), 'ShieldEdges'),
  page('/staff/shield-edges/$id', () => import('./shield/staff/Edge.tsx'), 'ShieldEdge'),
  page('/staff/shield-prefixes', () => import('./shield/staff/Prefixes.tsx'), 'ShieldPrefixes'),
  page('/staff/shield-address-lists', () => import('./shield/staff/AddressLists.tsx'), 'ShieldAddressLists'),
  page('/staff/shield-products', () => import('./shield/staff/ShieldProducts.tsx'), 'ShieldProducts'),
  page('/staff/jobs', () => import('./platform/staff/Jobs.tsx'), 'Jobs'),
  page('/staff/mails', () => import('./events/staff/Mails.tsx'), 'Mails'),
  page('/staff/mails/$id', () => import('./events/staff/Mails.tsx'), 'Mail'),
  page('/staff/audit', () => import('./events/staff/Audit.tsx'), 'Audit'),
  page('/staff/webhook-deliveries', () => import('./webhooks/staff/Deliveries.tsx'), 'AllDeliveries'),
  page('/staff/people', () => import('./account/staff/StaffPeople.tsx'), 'StaffPeople'),
  page('/staff/keys', () => import('./account/staff/StaffKeys.tsx'), 'StaffKeys'),
  page('/staff/settings', () => import('./settings/staff/Settings.tsx'), 'SettingsPage'),
  page('/staff/settings/brand', () => import('./settings/Brand.tsx'), 'Brand'),
] as const;
