import type { Hears } from './events/index.ts';
import { mayAsStaff, type Route } from './platform/http/index.ts';

/**
 * The operation by which staff is shown what an event is about, by the first word of the event's name, or its first two: who may call it
 * hears of the event. A test compares this with the events there are.
 */
export const shownBy: Readonly<Record<string, string>> = {
  account: 'listUsers',
  address: 'listAddressPools',
  address_pool: 'listAddressPools',
  api_key: 'listStaffKeys',
  arrival: 'listArrivals',
  bank_entry: 'listBankStatements',
  bank_statement: 'listBankStatements',
  billing_profile: 'listOrganizationsAsStaff',
  canned_reply: 'listCannedReplies',
  cluster: 'listClusters',
  coupon: 'listCoupons',
  credit: 'listInvoicesAsStaff',
  credit_note: 'listInvoicesAsStaff',
  credit_return: 'listCreditReturns',
  dedicated: 'listServicesAsStaff',
  dispute: 'listDisputes',
  email_change: 'listUsers',
  enrolment: 'getEnrolment',
  image: 'listOperatingSystemImages',
  impersonation: 'listImpersonations',
  invitation: 'listOrganizationsAsStaff',
  invoice: 'listInvoicesAsStaff',
  job: 'listFailedJobs',
  mail: 'listMails',
  member: 'listOrganizationsAsStaff',
  node: 'listNodes',
  order: 'listOrders',
  organization: 'listOrganizationsAsStaff',
  passkey: 'listUsers',
  password: 'listUsers',
  payment: 'listInvoicesAsStaff',
  payment_method: 'listInvoicesAsStaff',
  price_move: 'listPriceMoves',
  product: 'listProductsAsStaff',
  product_group: 'listProductGroups',
  rack: 'listRacks',
  restore: 'releaseRestore',
  second_factor: 'listUsers',
  server: 'listServers',
  server_profile: 'listServerProfiles',
  service: 'listServicesAsStaff',
  session: 'listUsers',
  settings: 'getSettings',
  shield: 'listAttacksAsStaff',
  'shield.edge': 'listShieldEdges',
  'shield.organization': 'getShieldOrganization',
  'shield.prefix': 'listShieldPrefixes',
  'shield.product': 'listShieldProducts',
  sign_in: 'listUsers',
  ssh_key: 'listUsers',
  staff: 'listStaff',
  switch: 'listSwitches',
  tax: 'listTaxRates',
  tax_id: 'listOrganizationsAsStaff',
  tax_rate: 'listTaxRates',
  ticket: 'listTicketQueue',
  ticket_mail: 'listUnclaimedMails',
  transfer: 'listBankTransfers',
  unknown_payment: 'listUnknownPayments',
  vps: 'listServicesAsStaff',
  webhook: 'listAllWebhookDeliveries',
};

/** Who may read the audit hears all that the journal has of an event; others that it happened to what they are shown. */
export function hearingOf(allRoutes: () => readonly Route[]): Hears {
  let routes: ReadonlyMap<string, Route> | null = null;
  return (principal, event) => {
    routes ??= new Map(allRoutes().map((route) => [route.operation, route]));
    const may = (operation: string | undefined): boolean => {
      const route = operation === undefined ? undefined : routes?.get(operation);
      return route !== undefined && mayAsStaff(route, principal);
    };
    if (may('listAudit')) return 'all';
    return may(shownBy[subjectOf(event)]) ? 'that' : 'nothing';
  };
}

/** Where an event stands in the list above. */
export function subjectOf(event: string): string {
  const [first = '', second = ''] = event.split('.');
  const both = `${first}.${second}`;
  return both in shownBy ? both : first;
}
