import { existsSync, readFileSync } from 'node:fs';
import pg from 'pg';
import type { SimulatedMachine } from '../../src/drivers/hypervisor/index.ts';
import { roomsThatDiffer } from '../rooms.ts';

/**
 * What must hold of the whole database at any quiet moment, whatever happened before: each question finds the
 * rows that break it. A new table gets its line here, and every sweep asks it after every crash.
 */
const questions: Record<string, string> = {
  'a job that is not finished': `
    select id, name, state, direction, attempts, error_message from jobs where state in ('ready', 'running')
      -- A method that was declined is asked again some days later.
      and not (name = 'billing.chargeAgain' and attempts = 0 and run_at > created_at + interval '12 hours')`,

  'a customer who was told of one price twice': `
    select subject_id, data->>'price' as price from journal where action = 'service.price_change_announced'
    group by 1, 2, data->>'from' having count(*) > 1`,
  'a new price that waits for a service that has ended': `
    select r.move_id, r.service_id, r.state, s.status from service_price_moves r join services s on s.id = r.service_id
    where r.state in ('waiting', 'telling', 'told') and s.status in ('terminated', 'cancelled')`,
  'a period at the price of a move that does not count for the service': `
    select r.invoice_id, r.price_move_id, m.state from service_renewals r
    left join service_price_moves m on m.move_id = r.price_move_id and m.service_id = r.service_id
    where r.state = 'applied' and r.price_move_id is not null and m.state is distinct from 'moved'`,

  'what Shield is to do at an address that its service does not have': `
    select t.address, t.service_id from shield_addresses t
    left join addresses a on a.address = t.address and a.service_id = t.service_id and a.state = 'taken'
    where a.address is null`,
  'a rule of Shield that is in force where nothing of it is wanted': `
    select r.id from shield_rules r where r.enforced_active and not exists
      (select 1 from shield_addresses t where t.organization_id = r.organization_id and t.address <<= r.destination)`,

  'an invoice without items': `
    select id from invoices i where not exists (select 1 from invoice_items where invoice_id = i.id)`,
  'an ordered item without its service, or a service without its item': `
    select s.id as service, l.service_id as item from services s
    full join (select l.* from invoice_items l join invoices i on i.id = l.invoice_id and i.kind = 'order'
               where l.service_id is not null) l
      on l.service_id = s.id and l.invoice_id = s.invoice_id
    where s.id is null or l.service_id is null`,
  'an invoice that is paid and lacks money, or is not and lacks none': `
    select id, status, paid_minor, total_minor from invoices
    where kind <> 'credit_note'
      and (status in ('paid', 'refunded', 'partially_refunded')) <> (paid_minor = total_minor and status <> 'cancelled')`,
  'an invoice whose payments are not what counts towards it and what became credit': `
    select i.id, i.status, i.paid_minor, i.credited_minor, sum(p.amount_minor) from invoices i
    left join payments p on p.invoice_id = i.id group by i.id
    having coalesce(sum(p.amount_minor - p.taken_back_minor), 0) <> i.paid_minor + i.credited_minor
      or (i.status in ('paid', 'refunded', 'partially_refunded') and i.kind <> 'credit_note') > (count(p.id) > 0)`,
  'a transfer that is not what it paid and what became credit': `
    select t.id, t.amount_minor, sum(p.amount_minor) from transfers t left join payments p on p.transfer_id = t.id
    group by t.id having coalesce(sum(p.amount_minor), 0) > t.amount_minor`,
  'money at the bank that no transfer or payout brought, or the other way round': `
    select t.minor as transfers, l.minor as ledger from
      (select coalesce(sum(minor), 0) as minor from (
         select amount_minor as minor from transfers where taken_back_at is null
         union all select booked_minor from payouts
         union all select -amount_minor from credit_returns where state <> 'cancelled') each) t,
      (select coalesce(sum(e.amount_minor), 0) as minor from ledger_entries e
        join ledger_accounts a on a.id = e.account_id and a.kind = 'bank') l
    where t.minor <> l.minor`,
  'money at the payment provider that no charge brought, or the other way round': `
    select c.currency, c.minor as charges, l.minor as ledger from
      (select currency, sum(minor) as minor from (
         select currency, amount_minor - case when fee_currency = currency then fee_minor else 0 end as minor
           from charges where state = 'paid'
         union all select c.currency, -r.amount_minor from charge_returns r join charges c on c.id = r.charge_id
         -- One that was made at the provider's desk, or by a bank, stands in both; and may fail all the same. What a bank
         -- keeps of what was given back before is more than the charge brought.
         union all select r.currency, case when exists (select 1 from charge_returns g where g.reference = r.reference)
             then case r.state when 'failed' then r.amount_minor else 0 end
             else case r.state when 'failed' then 0 else -r.amount_minor end end
           from refunds r where r.charge_id is not null
         union all select currency, -fee_minor - case when state = 'open' then amount_minor else 0 end
           from disputes
         union all select currency, -booked_minor from payouts
         union all select fee_currency, -fee_minor from payouts where fee_minor <> 0) each group by currency) c
      full join (select a.currency, sum(e.amount_minor) as minor from ledger_entries e
        join ledger_accounts a on a.id = e.account_id and a.kind = 'provider' group by a.currency) l using (currency)
    where coalesce(c.minor, 0) <> coalesce(l.minor, 0)`,
  'disputes in the ledger that are not those that are open': `
    select d.minor as disputes, l.minor as ledger from
      (select coalesce(sum(amount_minor), 0) as minor from disputes where state = 'open') d,
      (select coalesce(sum(e.amount_minor), 0) as minor from ledger_entries e
        join ledger_accounts a on a.id = e.account_id and a.kind = 'disputes') l
    where d.minor <> l.minor`,
  'a charge that came and paid nothing, or paid and did not come': `
    select c.id, c.state, c.amount_minor, sum(p.amount_minor) from charges c left join payments p on p.charge_id = c.id
    group by c.id having (c.state = 'paid') <> (count(p.id) > 0) or coalesce(sum(p.amount_minor), 0) > c.amount_minor`,
  'parts in the ledger that are not those of open invoices': `
    select i.minor as invoices, l.minor as ledger from
      (select coalesce(sum(paid_minor), 0) as minor from invoices where status = 'unpaid') i,
      (select coalesce(-sum(e.amount_minor), 0) as minor from ledger_entries e
        join ledger_accounts a on a.id = e.account_id and a.kind = 'parts') l
    where i.minor <> l.minor`,
  'an open invoice that counts and is not owed, or is owed and not open': `
    select i.id, i.minor as open, l.minor as ledger from
      (select id, total_minor as minor from invoices where status = 'unpaid' and booked_at_issue) i
      full join (select t.invoice_id as id, sum(e.amount_minor) as minor from ledger_entries e
        join ledger_accounts a on a.id = e.account_id and a.kind = 'receivable'
        join ledger_transactions t on t.id = e.transaction_id group by t.invoice_id) l using (id)
    where coalesce(i.minor, 0) <> coalesce(l.minor, 0)`,
  'what is owed as service and is not on the account for it': `
    select d.minor as deferrals, l.minor as ledger from
      (select coalesce(sum(amount_minor - earned_minor - returned_minor), 0) as minor from deferrals) d,
      (select coalesce(-sum(e.amount_minor), 0) as minor from ledger_entries e
        join ledger_accounts a on a.id = e.account_id and a.kind = 'deferred') l
    where d.minor <> l.minor`,
  'a deferral whose months are not what was earned of it': `
    select d.id, d.earned_minor, sum(e.amount_minor) from deferrals d left join earnings e on e.deferral_id = d.id
    group by d.id having coalesce(sum(e.amount_minor), 0) <> d.earned_minor
      or (d.earns_on is not null) <> (d.starts_on is not null and d.earned_minor + d.returned_minor < d.amount_minor)`,
  'a posting of what was earned that is not the sum of its months': `
    select t.id from ledger_transactions t join ledger_entries e on e.transaction_id = t.id
    join ledger_accounts a on a.id = e.account_id and a.kind = 'revenue' where t.kind = 'revenue_earned'
      and -e.amount_minor <> (select coalesce(sum(m.amount_minor), 0) from earnings m where m.transaction_id = t.id)`,
  'a service that was delivered and whose order is not being earned': `
    select s.id, d.id from services s join deferrals d on d.service_id = s.id and d.invoice_id = s.invoice_id
    where s.status in ('active', 'suspended') and d.starts_on is null`,
  'a paid invoice without exactly one transaction in the ledger': `
    select i.id, count(t.id) from invoices i
    left join ledger_transactions t on t.invoice_id = i.id and t.kind = 'invoice_paid'
    group by i.id
    having count(t.id) <> (i.status in ('paid', 'refunded', 'partially_refunded') and i.kind <> 'credit_note'
      and i.total_minor > 0)::int`,
  'legal numbers with a gap': `
    select s.prefix, s.last, count(i.id), max(i.sequence) from invoice_series s left join invoices i on i.series = s.prefix
    group by s.prefix having count(i.id) <> s.last or coalesce(max(i.sequence), 0) <> s.last`,
  'a refund without its credit note, or the other way round': `
    select i.id, i.refunded_minor, coalesce(-sum(c.total_minor), 0) as credited from invoices i
    left join invoices c on c.corrects = i.id where i.kind <> 'credit_note' and i.status <> 'cancelled' group by i.id
    having i.refunded_minor <> coalesce(-sum(c.total_minor), 0)`,
  'refunds that do not add up': `
    select i.id, i.status, i.refunded_minor, sum(r.amount_minor) from invoices i left join refunds r on r.invoice_id = i.id
    group by i.id
    having coalesce(sum(r.amount_minor), 0) <> i.refunded_minor
      or (i.status = 'refunded') <> (count(r.id) > 0 and i.refunded_minor = i.total_minor)
      or i.kind <> 'top_up' and coalesce(sum(r.amount_minor), 0) <> coalesce((select sum(-e.amount_minor) from ledger_transactions t
           join ledger_entries e on e.transaction_id = t.id join ledger_accounts a on a.id = e.account_id
           where t.invoice_id = i.id and t.kind in ('invoice_refunded', 'refund_undone') and a.kind in ('credit', 'bank', 'provider', 'disputes')), 0)`,

  'a ledger transaction that does not balance': `
    select transaction_id, sum(amount_minor) from ledger_entries group by transaction_id having sum(amount_minor) <> 0`,
  'a ledger transaction without entries': `
    select id from ledger_transactions t where not exists (select 1 from ledger_entries where transaction_id = t.id)`,
  'a balance that is not the sum of its entries': `
    select * from (select account_id, sequence, balance_minor,
        sum(-amount_minor) over (partition by account_id order by sequence) as summed,
        row_number() over (partition by account_id order by sequence) as counted
      from ledger_entries where sequence is not null) e
    where balance_minor <> summed or sequence <> counted`,

  'a node whose taken room is not the sum of what is held there': roomsThatDiffer,
  'resources held by what does not need them, or needed and not held': `
    select s.id, s.status, s.provisioning_state, p.service_id from services s
    join products on products.id = s.product_id and module_id = 2
    full join placements p on p.service_id = s.id
    where (p.service_id is not null) is distinct from
      (s.status in ('active', 'suspended') or (s.status = 'pending' and s.provisioning_state in ('queued', 'running')))`,
  'addresses that are not as many as ordered': `
    select s.id, s.status, s.provisioning_state, count(a.address) from services s
    join products on products.id = s.product_id and module_id = 2
    left join addresses a on a.service_id = s.id and not a.held group by s.id
    having count(a.address) <> case
      when s.status in ('active', 'suspended') or (s.status = 'pending' and s.provisioning_state in ('queued', 'running'))
      then (s.options->>'option4')::int + (s.options->>'option5')::int else 0 end`,
  'an upgrade that waits for nothing, or addresses held for none': `
    select u.id, u.service_id, i.status from vps_upgrades u join invoices i on i.id = u.invoice_id
    where u.state = 'waiting' and i.status <> 'unpaid'
    union all select null, a.service_id, 'held' from addresses a where a.held and not exists (
      select 1 from vps_upgrades u where u.service_id = a.service_id and u.state = 'waiting')
      and not exists (select 1 from service_changes c where c.service_id = a.service_id and c.state in ('waiting', 'scheduled'))`,
  'a period that is invoiced twice': `
    select service_id, starts_on, count(*) from service_renewals where state <> 'ended'
    group by service_id, starts_on having count(*) > 1`,
  'a step of the calendar that did not happen, or happened unseen': `
    select s.id, count(c.step), (select count(*) from journal j where j.action = 'service.suspended'
      and j.subject_id = s.id and j.actor_type = 'system') as told
    from services s left join service_calendar_steps c on c.service_id = s.id and c.step = 'suspend' group by s.id
    having count(c.step) <> (select count(*) from journal j where j.action = 'service.suspended'
      and j.subject_id = s.id and j.actor_type = 'system')`,
  'an address of nobody': `
    select a.address from addresses a left join services s on s.id = a.service_id
    where a.state = 'taken' and s.id is null`,
  'a machine without an active service, or an active VPS without its machine': `
    select s.id, s.status, m.service_id from (select s.* from services s
      join products p on p.id = s.product_id and p.module_id = 2) s
    full join machines m on m.service_id = s.id
    where (m.service_id is not null) is distinct from coalesce(s.status in ('active', 'suspended'), false)`,
  'a machine in a state that should pass': `
    select m.service_id, m.state, m.wanted, s.status from machines m join services s on s.id = m.service_id
    where m.state <> case s.status when 'suspended' then 'suspended' else m.wanted end`,
  'an action that never ended': `
    select service_id, command, status from vps_actions where status in ('queued', 'running')`,
  'an upgrade that is paid and not applied, or applied and not paid': `
    select u.id, u.state, i.status from vps_upgrades u left join invoices i on i.id = u.invoice_id
    where (u.state = 'waiting' and i.status is distinct from 'unpaid') or (u.state = 'applied' and i.status = 'unpaid')`,
  'a machine whose size is not what its service pays for': `
    select m.service_id, m.memory_mib, s.options from machines m join services s on s.id = m.service_id
    where m.memory_mib <> (s.options->>'option1')::int * 1024 or m.cpu_cores <> (s.options->>'option3')::int`,
  'a renewal that is paid and does not count, or counts and is not paid': `
    select r.invoice_id, r.state, i.status from service_renewals r join invoices i on i.id = r.invoice_id
    where i.kind <> 'renewal' or (r.state = 'waiting') <> (i.status = 'unpaid') or (r.state = 'applied' and i.number is null)`,
  'a renewal whose period does not end where the next one begins, or where its service is due': `
    select r.service_id, r.starts_on, r.ends_on, s.duedate from service_renewals r join services s on s.id = r.service_id
    where r.state = 'applied' and r.ends_on <> coalesce((select min(n.starts_on) from service_renewals n
      where n.service_id = r.service_id and n.state = 'applied' and n.starts_on > r.starts_on), s.duedate)`,
  'a snapshot that is neither there nor gone': `
    select service_id, name, kind, state from vps_snapshots where state <> 'ready'`,
  'an action whose secrets outlived it': `
    select x.action_id, a.status from vps_secrets x left join vps_actions a on a.id = x.action_id
    where a.status is null or a.status in ('success', 'error')`,
  'a password that waits for nothing': `
    select x.service_id, s.status from service_secrets x left join services s on s.id = x.service_id
    where s.status is distinct from 'pending'`,
  'a VPS on its way without its password': `
    select s.id from services s join products p on p.id = s.product_id and p.module_id = 2
    where s.status = 'pending' and not exists (select 1 from service_secrets where service_id = s.id)`,

  'a coupon whose uses are not those of its orders': `
    select c.code, c.uses, count(i.id) from coupons c
    left join invoices i on i.coupon_id = c.id and (exists (
      select 1 from services s where s.invoice_id = i.id and s.status <> 'cancelled')
      or exists (select 1 from service_changes p where p.invoice_id = i.id and p.state in ('waiting', 'applied')))
    group by c.id having c.uses <> count(i.id)`,

  'something told of twice, or not at all': `
    with told as (select action, subject_id, count(*) as times from journal group by action, subject_id),
    should as (
      select 'invoice.created' as action, id, 1 as times from invoices where kind <> 'credit_note'
      union all select 'credit_note.issued', id, 1 from invoices where kind = 'credit_note'
      union all select 'invoice.paid', id, 1 from invoices
        where kind <> 'credit_note' and status in ('paid', 'refunded', 'partially_refunded')
      union all select case when exists (select 1 from told where action = 'invoice.cancelled' and subject_id = i.id)
        then 'invoice.cancelled' else 'invoice.expired' end, id, 1 from invoices i where status = 'cancelled'
      union all select case when amount_minor < 0 then 'invoice.paid_again' else 'invoice.refunded' end, invoice_id, count(*)
        from refunds group by 1, 2
      union all select 'service.provisioned', id, 1 from services where status in ('active', 'suspended', 'terminated')
      union all select 'service.terminated', id, 1 from services where status = 'terminated'
      union all select 'service.cancelled', id, 1 from services where status = 'cancelled')
    select s.action, s.id, t.action as told, t.subject_id, t.times from should s
    full join (select * from told where action in (select action from should)) t
      on t.action = s.action and t.subject_id = s.id
    where s.id is null or coalesce(t.times, 0) <> s.times`,
  'an action told of twice, or not at all': `
    select a.id, a.command, a.status, count(j.id) from vps_actions a
    left join journal j on j.action = 'vps.action.succeeded' and (j.data->>'action_id')::bigint = a.id
    group by a.id having count(j.id) <> (a.status = 'success')::int`,
  'a mail that is missing or waits': `
    select j.id, j.action, m.state, m.error from journal j left join mails m on m.journal_id = j.id
    where j.action in ('invoice.created', 'invoice.paid', 'invoice.expired', 'invoice.refunded', 'service.provisioned',
      'service.suspended', 'service.unsuspended', 'service.terminated')
      and (m.id is null or m.state not in ('sent', 'kept'))
      -- Nobody is there to be told.
      and not exists (select 1 from organizations o where o.id = j.organization_id and o.status = 'closed'
        and o.status_since <= j.created_at)`,
};

/** What may be so while orders are on their way; everything else must hold at any moment, also under load. */
export const unlessSettled = [
  'a job that is not finished',
  'a machine without an active service, or an active VPS without its machine',
  'a machine in a state that should pass',
  'an action that never ended',
  'a mail that is missing or waits',
];

/** Asks every question; returns a line for each that was answered with rows. `except` names what may be. */
export async function audit(databaseUrl: string, except: readonly string[] = []): Promise<string[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const found: string[] = [];
  try {
    for (const [name, text] of Object.entries(questions)) {
      if (except.includes(name)) continue;
      const { rows } = await client.query(text);
      if (rows.length > 0) found.push(`${name}: ${JSON.stringify(rows.slice(0, 3))}`);
    }
  } finally {
    await client.end();
  }
  return found;
}

function powerOf({ state, wanted }: { state: string; wanted: string }): string {
  if (state === 'error') return 'either';
  return state === 'suspended' ? 'stopped' : wanted;
}

interface Stored {
  machines: [string, SimulatedMachine][];
}

/** Holds what a simulated node has against what the database says it should have. */
export async function auditNode(databaseUrl: string, storeFile: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const { rows } = await client
    .query<{ id: string; wanted: string; state: string }>(
      `select 'vps-' || service_id as id, wanted, state from machines`,
    )
    .finally(() => client.end());
  // A machine in error says so, and is what its last action left of it.
  const wanted = new Map(rows.map((row) => [row.id, powerOf(row)]));
  // The store is written with the first machine.
  const { machines }: Stored = existsSync(storeFile)
    ? JSON.parse(readFileSync(storeFile, 'utf8'))
    : { machines: [] };
  const found: string[] = [];
  for (const [id, machine] of machines) {
    const power = machine.startedAtMs === null ? 'stopped' : 'running';
    if (!wanted.has(id)) found.push(`a machine of nobody is left on the node: ${id}`);
    else if (![power, 'either'].includes(wanted.get(id) ?? ''))
      found.push(`${id} is ${power} and should be ${wanted.get(id)}`);
    if (machine.identity?.passwordHash) found.push(`${id} still has a password on its host`);
  }
  const there = new Set(machines.map(([id]) => id));
  for (const id of wanted.keys()) if (!there.has(id)) found.push(`the machine ${id} is not on the node`);
  return found;
}
