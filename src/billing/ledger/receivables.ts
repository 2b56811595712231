import { type Context, formatMoney, statement } from '../../platform/index.ts';
import type { Difference } from './totals.ts';

interface Receivable {
  id: number;
  organization_id: number;
  currency: string;
  wrong: { invoice_id: number | null; ledger_minor: number; open_minor: number }[];
}

// By the entries on one side, by the invoices that are open on the other. One that is in the entries and is paid, or was
// given up, is open with nothing.
const receivables = statement<Receivable, { after: number; limit: number }>(
  'billing.recomputedReceivables',
  `select a.id, a.organization_id, a.currency, w.wrong
   from (select id, organization_id, currency from ledger_accounts where kind = 'receivable' and id > :after
         order by id limit :limit) a
   cross join lateral (
     select coalesce(jsonb_agg(jsonb_build_object('invoice_id', coalesce(l.invoice_id, o.id),
       'ledger_minor', coalesce(l.minor, 0), 'open_minor', coalesce(o.total_minor, 0))), '[]') as wrong
     from (select t.invoice_id, sum(e.amount_minor)::bigint as minor from ledger_entries e
           join ledger_transactions t on t.id = e.transaction_id where e.account_id = a.id group by t.invoice_id) l
     full join (select i.id, i.total_minor from invoices i where i.organization_id = a.organization_id
                  and i.currency = a.currency and i.booked_at_issue and i.status = 'unpaid') o on o.id = l.invoice_id
     where coalesce(l.minor, 0) <> coalesce(o.total_minor, 0)) w
   order by a.id`,
);

/**
 * What customers owe by the entries and do not owe by their invoices, or the other way round, of so many accounts after the
 * one that was looked at last; `last` is where to go on, null at the end.
 */
export async function receivablesThatDiffer(
  ctx: Context,
  range: { after: number; limit: number },
): Promise<{ differences: Difference[]; last: number | null }> {
  const found = await ctx.db.many(receivables, range);
  const differences = found.flatMap(({ wrong, organization_id: organizationId, currency }) =>
    wrong.map(({ invoice_id: invoiceId, ledger_minor, open_minor }) => ({
      organizationId,
      what: 'receivable',
      subject: `${organizationId} ${invoiceId ?? 'none'}`,
      message:
        `By the ledger organization ${organizationId} owes ${formatMoney(ledger_minor, currency)} ${currency} for ` +
        `${invoiceId === null ? 'no invoice' : `invoice ${invoiceId}`}; ${formatMoney(open_minor, currency)} ${currency} of it is open`,
    })),
  );
  const isLast = found.length < range.limit;
  return { differences, last: isLast ? null : (found.at(-1)?.id ?? null) };
}
