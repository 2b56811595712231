import type { QueryClient } from '@tanstack/react-query';

/**
 * What of staff's pages is read anew when something happened: by the first word of an event, the words after `/staff/` of
 * the paths that tell of it. What needs a person and the audit may follow from any.
 */
export const followUps: Readonly<Record<string, readonly string[]>> = {
  account: ['users', 'staff'],
  address: ['address-pools'],
  address_pool: ['address-pools'],
  api_key: ['keys'],
  arrival: ['enrolment', 'servers', 'server-profiles'],
  bank_entry: ['bank-statements', 'transfers'],
  bank_statement: ['bank-statements'],
  billing_profile: ['organizations'],
  canned_reply: ['canned-replies'],
  cluster: ['clusters', 'nodes'],
  coupon: ['coupons'],
  credit: ['invoices', 'figures'],
  credit_return: ['organizations', 'credit-returns'],
  credit_note: ['invoices', 'figures'],
  dedicated: ['servers', 'installations', 'erasures'],
  dispute: ['disputes', 'payments', 'invoices'],
  email_change: ['users'],
  image: ['images'],
  impersonation: ['impersonations'],
  enrolment: ['enrolment'],
  invitation: ['organizations'],
  invoice: ['invoices', 'payments', 'orders', 'services', 'refunds', 'figures'],
  job: ['jobs'],
  mail: ['mails'],
  member: ['organizations', 'users'],
  // Edges stand in nodes, and say whether those are reached.
  node: ['nodes', 'clusters', 'shield'],
  order: ['orders', 'services'],
  organization: ['organizations'],
  passkey: ['staff'],
  password: [],
  payment: ['invoices', 'payments', 'transfers', 'refunds'],
  payment_method: [],
  price_move: ['price-moves', 'products'],
  product: ['products', 'shield'],
  product_group: ['product-groups', 'products'],
  rack: ['racks', 'servers'],
  restore: ['services', 'invoices'],
  second_factor: ['users', 'staff'],
  // How many are ready is the stock of a product.
  server: [
    'servers',
    'racks',
    'switches',
    'enrolment',
    'server-profiles',
    'products',
    'installations',
    'erasures',
  ],
  server_profile: ['server-profiles', 'servers', 'products'],
  service: ['services', 'orders', 'nodes', 'settings'],
  session: [],
  settings: ['settings', 'tickets'],
  shield: ['shield'],
  sign_in: [],
  ssh_key: [],
  staff: ['staff', 'users'],
  switch: ['switches', 'servers'],
  tax: ['tax', 'organizations'],
  tax_id: ['organizations'],
  tax_rate: ['tax'],
  ticket: ['tickets', 'unclaimed-mails'],
  ticket_mail: ['unclaimed-mails', 'tickets'],
  transfer: ['transfers', 'payments', 'invoices', 'bank-statements'],
  unknown_payment: ['unknown-payments'],
  vps: ['services', 'nodes', 'unknown-machines'],
  webhook: ['webhook-deliveries'],
};
const always = ['attention', 'audit'];

/** How long what happens is gathered before pages read anew: a busy provider has many events a second. */
const gatherMs = 300;

/** Takes the names of events, and has what follows from them read anew. */
export function staffFollower(queries: QueryClient): (event: string) => void {
  const kinds = new Set<string>();
  return (event) => {
    if (kinds.size === 0)
      setTimeout(() => {
        for (const kind of kinds) void queries.invalidateQueries({ queryKey: ['staff', kind] });
        kinds.clear();
      }, gatherMs);
    for (const kind of [...always, ...(followUps[event.split('.', 1)[0] ?? ''] ?? [])]) kinds.add(kind);
  };
}
