/**
 * What mails tell of, one or more of each event. Whoever adds a mail adds a sample; what begins with `~` is free text, which
 * anybody may have written, and is replaced by something hostile in one of the tests.
 */
const service = { user_id: 7, product: '~Cloud S', hostname: '~web1.example.com' };
const byHand = { ...service, module_id: 3, hostname: null };
const machine = { ...service, module_id: 2 };
const key = { user_id: 7, name: '~deploy', prefix: 'ink_live_4f1b', by_other: true };
const passkey = { user_id: 7, passkey_id: 1, name: '~Phone' };
const aboutLink = { user_id: 7, link_id: 4503599627370601 };
const changing = { user_id: 7, email_change_id: 12 };
const account = { user_id: 7 };
const money = { user_id: 7, currency: 'EUR' };
const items = [
  { description: '~Cloud S, web1.example.com, 1 February to 28 February', amount: '1249.50' },
  { description: '~Coupon WELCOME', amount: '-10.00' },
];
const invoice = { ...money, total: '1239.50', duedate: '2026-02-03', items };
const credited = { ...money, amount: '3.00', description: '~x', invoice_id: 4503599627370302 };
const refund = { ...money, amount: '3.00', reason: '~A slow week', full: true };
const member = { user_id: 7, organization: '~Ada & Sons', role: 'billing' };
const reminded = { ...service, service_id: 9, due: '3.00', currency: 'EUR', duedate: '2026-02-03' };
const priced = { ...service, cycle: 'monthly', price_before: '3.00', price: '3.50', currency: 'EUR' };

const attack = {
  ...{ user_id: null, attack_id: '4503599627370951', address: '203.0.113.10/32', kind: 'reflection' },
  ...{ description: 'DNS reflection', pps: 50_000, mbps: 480, packets: 15_000_000, bytes: 18_000_000_000 },
  started_at: '2026-02-03T09:30:00.000Z',
};

export const samples: Record<string, object[]> = {
  'account.registered': [{ ...aboutLink, organization_name: '~x', country: null }],
  'account.verification_sent': [aboutLink],
  'account.registration_repeated': [aboutLink],
  'account.put_back': [{ user_id: 7, made_at: '2026-02-03T02:10:00.000Z', api_keys: 2 }],
  'account.blocked': [{ ...account, reason: '~x' }],
  'account.unblocked': [account],
  'account.corrected': [{ ...account, fields: ['first_name', 'last_name', 'phone'] }],
  'account.closed': [{ ...changing, organization_ids: [] }],
  'shield.attack.started': [{ ...attack, is_first: true }],
  'shield.attack.ended': [{ ...attack, is_first: true, ended_at: '2026-02-03T09:35:00.000Z' }],
  'webhook.paused': [
    {
      ...{ user_id: 7, url: '~https://hooks.example.com/in', reason: '~503 Service Unavailable' },
      failing_since: '2026-02-03T09:30:00.000Z',
    },
  ],
  'api_key.created': [key, { ...key, by_other: false, by_self: true }],
  'ssh_key.created': [
    { ...account, name: '~laptop', fingerprint: 'SHA256:4X8uo0v1JxZ4d0e0x0cP4sM2yQ3mH3pXvJr2mX3Yb3s' },
  ],
  'api_key.revoked': [key],
  'api_key.ending': [{ ...key, expires_at: '2026-02-03T09:30:00.000Z' }],
  'password.forgotten': [aboutLink],
  'password.reset': [{ ...account, sessions_ended: 1 }],
  'password.changed': [{ ...account, sessions_ended: 1 }],
  'email_change.asked': [changing],
  'email_change.told': [changing],
  'email_change.refused': [changing],
  'email_change.confirmed': [changing],
  'email_change.revoked': [
    { ...aboutLink, sessions_ended: 1, ssh_keys: [] },
    { ...aboutLink, sessions_ended: 1, ssh_keys: ['~laptop', '~phone'] },
  ],
  'email_change.address_held': [changing],
  'session.opened': [
    { ...account, new_device: true, user_agent: '~Mozilla/5.0 (X11; Linux x86_64)' },
    { ...account, new_device: true, user_agent: null },
  ],
  'second_factor.enabled': [account],
  'second_factor.disabled': [account],
  'second_factor.recovery_codes_made': [account],
  'second_factor.reset_asked': [{ ...aboutLink, reason: '~x', due_at: '2026-02-03T09:30:00.000Z' }],
  'second_factor.reset_stopped': [account],
  'second_factor.reset': [account],
  'passkey.added': [passkey],
  'passkey.removed': [passkey],
  'passkey.went_back': [passkey],
  'impersonation.started': [
    { ...account, reason: '~You asked for help', read_only: true },
    { ...account, reason: '~You asked for help', read_only: false },
  ],
  'staff.added': [{ ...aboutLink, role: 'support' }],
  'member.invited': [{ ...member, email: 'eve@example.com', invited_by: '~Ada Lovelace', sending: 1 }],
  'invitation.sent_again': [{ ...member, email: 'eve@example.com', invited_by: '~Ada Lovelace', sending: 2 }],
  'invitation.accepted': [{ ...member, email: '~eve@example.com' }],
  'organization.blocked': [{ user_id: 7, organization: '~Ada & Sons', reason: '~x' }],
  'organization.unblocked': [{ user_id: 7, organization: '~Ada & Sons' }],
  'organization.corrected': [{ user_id: 7, organization: '~Ada & Sons', fields: ['name', 'country'] }],
  'member.role_changed': [{ ...member, before: 'viewer' }],
  'member.removed': [
    { ...member, left: true },
    { ...member, left: false },
  ],
  'vps.move.planned': [
    {
      ...{ user_id: 7, hostname: '~web1.example.com', begins_at: '2026-02-03T03:00:00.000Z' },
      ...{ is_off: false, lost_snapshots: 0, lost_backups: 0 },
    },
    {
      ...{ user_id: 7, hostname: '~web1.example.com', begins_at: null },
      ...{ is_off: false, lost_snapshots: 2, lost_backups: 1 },
    },
    {
      ...{ user_id: 7, hostname: '~web1.example.com', begins_at: '2026-02-03T03:00:00.000Z' },
      ...{ is_off: true, lost_snapshots: 2, lost_backups: 0 },
    },
    {
      ...{ user_id: 7, hostname: '~web1.example.com', begins_at: null },
      ...{ is_off: true, lost_snapshots: 0, lost_backups: 1 },
    },
  ],
  'vps.move.ended': [
    {
      ...{ user_id: 7, hostname: '~web1.example.com', moved: true },
      ...{ off_at: '2026-02-03T03:00:04.112Z', away_s: 94, is_late: false },
    },
    {
      ...{ user_id: 7, hostname: '~web1.example.com', moved: true },
      ...{ off_at: '2026-02-03T03:00:04.112Z', away_s: null, is_late: true },
    },
    {
      user_id: 7,
      hostname: '~web1.example.com',
      moved: false,
      off_at: '2026-02-03T03:00:04.112Z',
      away_s: null,
      is_late: false,
    },
    { user_id: 7, hostname: '~web1.example.com', moved: false, off_at: null, away_s: null, is_late: false },
  ],
  'dedicated.moved': [true, false].map((isNew) => ({
    ...{ user_id: 7, hostname: '~big1.example.com', new_password: isNew },
  })),
  'dedicated.out_of_order': [false, true].map((isTaken) => ({
    ...{ user_id: 7, hostname: '~big1.example.com', taken_away: isTaken },
  })),
  'dedicated.in_order': [{ user_id: 7, hostname: '~big1.example.com' }],
  'vps.recovered': [
    {
      user_id: 7,
      hostname: '~web1.example.com',
      name: 'ams1/n2',
      before: 'ams1/n1',
      backup_at: '2026-02-03T03:00:04.112Z',
    },
  ],
  'invoice.created': [
    ...['order', 'renewal', 'upgrade', 'top_up', 'late_fee', 'manual'].map((kind) => ({ ...invoice, kind })),
    ...['order', 'renewal', 'upgrade', 'manual'].map((kind) => ({ ...invoice, kind, total: '0.00' })),
    { ...invoice, kind: 'renewal', credit: '1.00' },
  ],
  'invoice.paid': [{ ...invoice, kind: 'order', method: 'credit' }],
  'invoice.part_paid': [
    { ...invoice, kind: 'order', amount: '1.00', due: '2.00' },
    { ...invoice, kind: 'renewal', amount: '1.00', due: '2.00' },
  ],
  'invoice.expired': [
    { ...invoice, kind: 'order', credited: '1.00' },
    { ...invoice, kind: 'renewal' },
  ],
  'invoice.cancelled': [
    { ...invoice, kind: 'order' },
    { ...invoice, kind: 'order', credited: '1.00', reason: '~it was a mistake' },
  ],
  'invoice.refunded': [
    ...['credit', 'original', 'dispute', 'taken_back'].map((method) => ({ ...refund, method })),
  ],
  'invoice.paid_again': [refund],
  'invoice.part_returned': [refund],
  'credit_return.done': [{ ...money, amount: '3.00', paid_on: '2026-02-03' }],
  'credit.granted': [
    { ...credited, invoice_was: 'cancelled' },
    { ...credited, invoice_was: 'paid' },
    { ...credited, invoice_was: 'refunded' },
    { ...credited, invoice_was: 'disputed' },
    { ...credited, invoice_id: null, reference: '~INV 4503' },
  ],
  'payment.declined': [
    {
      ...credited,
      charge_id: 1,
      reason: '~Not enough money',
      next_try_on: '2026-02-05',
      pay_url: 'https://x.example/p',
    },
    {
      ...credited,
      charge_id: 1,
      reason: '~Not enough money',
      next_try_on: null,
      pay_url: 'https://x.example/p',
    },
  ],
  'payment.confirmation_wanted': [{ ...credited, charge_id: 1, pay_url: 'https://x.example/p' }],
  'payment_method.saved': [{ user_id: 7, method: '~visa ending in 4242', is_default: true }],
  'payment_method.removed': [
    { user_id: 7, method: '~visa ending in 4242', is_default: false },
    { user_id: 7, method: '~visa ending in 4242', is_default: true },
  ],
  'tax_id.checked': [{ user_id: 7, tax_id: '~NL123', state: 'invalid', by: 'register' }],
  'order.held': [{ user_id: 7, reasons: ['~x'] }],
  'order.released': [{ user_id: 7, note: '~x' }],
  'order.refused': [{ user_id: 7, reason: '~We do not sell there' }],
  'service.staff_delivery_wanted': [byHand],
  'service.provisioned': [
    { ...service, primary_ip: '192.0.2.7' },
    { ...byHand, primary_ip: null },
  ],
  'service.done_by_hand': [...['change', 'unsuspend', 'terminate'].map((task) => ({ ...byHand, task }))],
  'service.renewed': [{ ...machine, duedate: '2026-03-01' }],
  'service.renewal_refunded': [{ ...machine, duedate: '2026-03-01' }],
  'service.traffic_used': [
    { ...machine, month: '2026-03', percent: 80, billing: 'total', used: 16.204, included: 20 },
    { ...machine, month: '2026-03', percent: 100, billing: 'percentile95', used: 104.5, included: 100 },
  ],
  'service.suspended': [{ ...machine, reason: '~It sends unsolicited mail' }],
  'service.unsuspended': [machine, byHand],
  'service.terminated': [
    { ...machine, reason: '~It was not paid' },
    { ...byHand, reason: '~It was not paid' },
  ],
  'service.cancel_scheduled': [{ ...service, effective_on: '2026-03-01', reason: null }],
  'service.cancel_revoked': [service],
  'service.moved_away': [{ ...machine, organization_id: 1, organization: '~Ada & Sons' }],
  'service.moved_in': [
    { ...machine, organization_id: 1, organization: '~Ada & Sons', coming_price: null },
    {
      ...{ ...machine, organization_id: 1, organization: '~Ada & Sons' },
      coming_price: { price: '3.50', currency: 'EUR', from: '2026-03-03' },
    },
  ],
  'service.product_changed': [
    {
      ...{ ...byHand, product_before: '~Cloud S', product: '~Cloud M', cycle: 'annually' },
      ...{ duedate: '2026-03-01', price: '120.00', currency: 'EUR' },
    },
  ],
  'service.ending': [{ ...service, ends_on: '2026-03-01' }],
  'service.price_change_announced': [{ ...priced, from: '2026-03-01' }],
  'service.price_change_revoked': [priced],
  'invoice.reminded': [{ ...reminded, suspends_on: null, last: false }],
  'invoice.overdue': [
    { ...reminded, suspends_on: null, last: false },
    { ...reminded, suspends_on: '2026-02-10', last: true },
  ],
  'ticket.department_told': [
    ...[true, false].map((is_new) => ({
      ...{
        recipient: 'desk@example.com',
        tid: 'a1b2c3d4',
        subject: '~It is down',
        from: '~Ada Lovelace',
        is_new,
        attachments: is_new ? [] : [{ name: '~photo.png', url: 'https://panel.example.com/api/x/1' }],
      },
    })),
  ],
  'ticket.customer_told': [
    ...[
      { is_closed: false, is_asked: false, by_mail: false },
      { is_closed: false, is_asked: false, by_mail: true },
      { is_closed: true, is_asked: false, by_mail: true },
      { is_closed: true, is_asked: true, by_mail: false },
      {
        ...{ is_closed: false, is_asked: false, by_mail: false },
        attachments: ['~photo.png', '~error.log'].map((name) => ({
          name,
          url: 'https://panel.example.com/api/x/1',
        })),
      },
    ].map((told) => ({
      ...{ ...account, tid: 'a1b2c3d4', subject: '~It is down', ticket_id: 12, in_reply_to: null },
      ...{ attachments: [], ...told },
    })),
  ],
  'staff.told': [
    {
      ...{ recipient: 'noc@example.com', kind: 'job.failed', title: 'Jobs that failed' },
      concerns: Array.from({ length: 22 }, (_, nth) => ({ id: nth, message: '~vps.provision: no host' })),
    },
  ],
};
