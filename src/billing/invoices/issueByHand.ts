import { organizationExists, ownerOf } from '../../organizations/index.ts';
import { type Context, fail, newId, parseMoney, transaction } from '../../platform/index.ts';
import { settleFree } from '../payments/pay.ts';
import { taxOf } from '../tax/taxOf.ts';
import { issueInvoice } from './issue.ts';
import { readInvoice } from './read.ts';

interface ByHand {
  organization_id: number;
  currency: string;
  due_days: number;
  lines: { description: string; price: string }[];
}

const msPerDay = 86_400_000;

/**
 * Issues an invoice for what no room sells, as staff writes it, with the tax of its customer. Nothing is delivered when it
 * is paid. `not_found`, and `invalid_amount` for a price that is none.
 */
export async function issueByHand(
  ctx: Context,
  { organization_id: organizationId, currency, ...body }: ByHand,
) {
  return transaction(ctx, 'billing.issueByHand', async (tx) => {
    if (!(await organizationExists(tx, organizationId))) throw fail('not_found');
    const lines = body.lines.map(({ description, price }, at) => {
      const priceMinor = parseMoney(price, currency);
      if (priceMinor === null) {
        throw fail('invalid_amount', { message: `lines[${at}].price is no amount of ${currency}` });
      }
      const none = { productId: null, serviceId: null, setupFeeMinor: 0, discountMinor: 0 };
      return { ...none, description, priceMinor };
    });
    const tax = await taxOf(tx, organizationId, { lock: true });
    const expiresAt = new Date(tx.clock.now().getTime() + body.due_days * msPerDay);
    expiresAt.setUTCHours(23, 59, 59, 999);
    const id = newId();
    const userId = await ownerOf(tx, organizationId);
    const invoice = { id, organizationId, userId, kind: 'manual', couponId: null } as const;
    const { totalMinor } = await issueInvoice(tx, { ...invoice, currency, lines, tax, expiresAt });
    if (totalMinor === 0) await settleFree(tx, id);
    return readInvoice(tx, id);
  });
}
