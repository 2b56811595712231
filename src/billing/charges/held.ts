import { type Context, statement } from '../../platform/index.ts';

const held = statement<{ minor: number }, { invoiceId: number }>(
  'billing.heldByBanks',
  `select coalesce(sum(d.amount_minor), 0)::bigint as minor from disputes d join charges c on c.id = d.charge_id
   where c.invoice_id = :invoiceId and d.state = 'open'`,
);

/** What banks hold of an invoice's money until a dispute is decided. */
export async function heldByBanks(ctx: Context, invoiceId: number): Promise<number> {
  return (await ctx.db.one(held, { invoiceId })).minor;
}
