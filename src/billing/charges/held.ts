import { type Context, statement, type TxContext } from '../../platform/index.ts';
import { heldCredit, listCredit } from '../ledger/ledger.ts';

const held = statement<{ minor: number }, { invoiceId: number }>(
  'billing.heldByBanks',
  `select coalesce(sum(d.amount_minor), 0)::bigint as minor from disputes d join charges c on c.id = d.charge_id
   where c.invoice_id = :invoiceId and d.state = 'open'`,
);

/** What banks hold of an invoice's money until a dispute is decided. */
export async function heldByBanks(ctx: Context, invoiceId: number): Promise<number> {
  return (await ctx.db.one(held, { invoiceId })).minor;
}

// What of disputed charges became credit: what they brought for credit, or for what was given up or given back since, also
// in part, and what was more than was due. What was given back of an invoice is there once, however many of its charges
// are disputed.
const creditHeld = statement<{ minor: number }, { organizationId: number; currency: string }>(
  'billing.creditHeldByBanks',
  `with charged as (
     select c.invoice_id, c.credited_minor, least(sum(d.amount_minor), c.amount_minor - c.returned_minor) as minor
     from disputes d join charges c on c.id = d.charge_id
     where d.organization_id = :organizationId and d.currency = :currency and d.state = 'open' group by c.id),
   invoiced as (
     select invoice_id, sum(minor) as minor, sum(least(minor, credited_minor)) as credited_minor
     from charged group by invoice_id)
   select coalesce(sum(case
       when i.status in ('cancelled', 'refunded') or i.kind = 'top_up' and i.status <> 'unpaid' then h.minor
       else least(h.minor, h.credited_minor + case when i.status = 'unpaid' then i.credited_minor else 0 end
         + (select coalesce(sum(r.amount_minor), 0) from refunds r
            where r.invoice_id = i.id and r.method = 'credit')) end), 0)::bigint as minor
   from invoiced h join invoices i on i.id = h.invoice_id`,
);

/**
 * What an organization can pay with its credit, which is locked: all of it, but for what a bank holds of the money that
 * brought it. Spent, it would be gone when the bank keeps it.
 */
export async function spendableCredit(
  tx: TxContext,
  organizationId: number,
  currency: string,
): Promise<number> {
  return withoutHeld(tx, organizationId, currency, await heldCredit(tx, organizationId, currency));
}

/** The same as it is now, for who looks: nothing is locked, and it may be less when it is spent. */
export async function readableCredit(
  ctx: Context,
  organizationId: number,
  currency: string,
): Promise<number> {
  const [state] = await listCredit(ctx, organizationId, currency);
  return withoutHeld(ctx, organizationId, currency, state?.balanceMinor ?? 0);
}

async function withoutHeld(
  ctx: Context,
  organizationId: number,
  currency: string,
  hasMinor: number,
): Promise<number> {
  if (hasMinor === 0) return 0;
  const { minor } = await ctx.db.one(creditHeld, { organizationId, currency });
  return Math.max(0, hasMinor - minor);
}
