import { type ListRequest, listData, pagedList } from '../../platform/http/index.ts';
import { type Context, formatMoney, requireRow, statement } from '../../platform/index.ts';
import type { BankEntryRow, EntryState, Proposal } from './book.ts';

interface StatementRow {
  id: number;
  account: string;
  name: string;
  known_entries: number;
  created_at: Date;
  counts: Partial<Record<EntryState, number>>;
}

const selectStatement = `
  select t.id, t.account, t.name, t.known_entries, t.created_at,
    (select coalesce(jsonb_object_agg(c.state, c.entries), '{}') from (
       select e.state, count(*)::int as entries from bank_entries e where e.statement_id = t.id group by e.state) c) as counts
  from bank_statements t`;

const statements = pagedList<StatementRow>({
  name: 'billing.statements',
  from: 'bank_statements t',
  select: selectStatement,
  key: { by: 't.id', type: 'bigint', of: (row) => row.id },
  sorts: {
    created_at: { by: 't.created_at', type: 'timestamptz', of: (row) => row.created_at.toISOString() },
  },
  order: '-created_at',
});
const statementById = statement<StatementRow, { id: number }>(
  'billing.statementById',
  `${selectStatement} where t.id = :id`,
);
const statementsByIds = statement<StatementRow, { ids: number[] }>(
  'billing.statementsByIds',
  `${selectStatement} where t.id = any(:ids::bigint[])`,
);

interface EntryRow extends Omit<BankEntryRow, 'statement_id' | 'account' | 'proposals'> {
  ordinal: number;
  outcome: string | null;
  proposals: (Proposal & { name: string })[];
  transfer_id: number | null;
  organization_name: string | null;
}

const selectEntry = `
  select e.id, e.ordinal, e.direction, e.amount_minor, e.currency, e.booked_on, e.reference, e.name, e.iban, e.text,
    e.is_reversal, e.state, e.outcome, e.transfer_id, e.organization_id,
    (select o.name from organizations o where o.id = e.organization_id) as organization_name,
    (select coalesce(jsonb_agg(p.proposal || jsonb_build_object('name', o.name) order by p.place), '[]')
       from jsonb_array_elements(e.proposals) with ordinality as p(proposal, place)
       join organizations o on o.id = (p.proposal->>'organization_id')::bigint) as proposals
  from bank_entries e`;

const entries = pagedList<EntryRow>({
  name: 'billing.bankEntries',
  from: 'bank_entries e',
  select: selectEntry,
  within: 'e.statement_id = :statementId',
  filters: { state: 'e.state = :state' },
  key: { by: 'e.ordinal', type: 'bigint', of: (row) => row.ordinal },
  sorts: { ordinal: null },
  order: 'ordinal',
});
const entryById = statement<EntryRow, { id: number }>('billing.bankEntry', `${selectEntry} where e.id = :id`);

/** Every statement that was received, newest first unless sorted. */
export async function listStatements(ctx: Context, query: ListRequest) {
  const { rows, at } = await statements(ctx, query);
  return listData('statements', rows.map(viewStatement), at);
}

/** One statement with how many of its entries are where; `not_found`. */
export async function readStatement(ctx: Context, id: number) {
  return { statement: viewStatement(await requireRow(ctx, statementById, { id })) };
}

/** These, in this order. */
export async function summariesOf(ctx: Context, ids: number[]) {
  const rows = await ctx.db.many(statementsByIds, { ids });
  const byId = new Map(rows.map((row) => [row.id, viewStatement(row)]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}

/** The entries of a statement as the bank had them; `not_found`. */
export async function listEntries(
  ctx: Context,
  statementId: number,
  query: ListRequest & { state?: EntryState | undefined },
) {
  await requireRow(ctx, statementById, { id: statementId });
  const { rows, at } = await entries(ctx, query, { statementId, state: query.state });
  return listData('bank_entries', rows.map(viewEntry), at);
}

export async function readEntry(ctx: Context, id: number) {
  return { entry: viewEntry(await requireRow(ctx, entryById, { id })) };
}

function viewStatement({ counts, ...row }: StatementRow) {
  const count = (state: EntryState) => counts[state] ?? 0;
  return {
    id: row.id,
    account: row.account,
    name: row.name,
    created_at: row.created_at,
    entries: {
      waiting: count('waiting'),
      booked: count('booked'),
      proposed: count('proposed'),
      open: count('open'),
      dismissed: count('dismissed'),
      outgoing: count('outgoing'),
      known: row.known_entries,
    },
  };
}

function viewEntry(row: EntryRow) {
  return {
    id: row.id,
    direction: row.direction,
    amount: formatMoney(row.amount_minor, row.currency),
    currency: row.currency,
    booked_on: row.booked_on,
    reference: row.reference,
    name: row.name,
    iban: row.iban,
    text: row.text,
    reversal: row.is_reversal,
    state: row.state,
    outcome: row.outcome,
    organization:
      row.organization_id === null ? null : { id: row.organization_id, name: row.organization_name ?? '' },
    proposals: row.proposals.map(({ organization_id: id, name, invoice_ids, because }) => ({
      organization: { id, name },
      invoice_ids,
      because,
    })),
    transfer_id: row.transfer_id,
  };
}
