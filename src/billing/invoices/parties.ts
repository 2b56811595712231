import type { Context } from '../../platform/index.ts';
import type { Buyer, Seller } from '../documents/parties.ts';
import { readSeller } from '../documents/seller.ts';
import { profileOf } from '../profile/read.ts';

/** Who sells and who buys, as they are today: what an invoice that is written now keeps. */
export async function partiesOf(
  ctx: Context,
  organizationId: number,
): Promise<{ seller: Seller; buyer: Buyer }> {
  const [seller, { updated_at: _, ...buyer }] = await Promise.all([
    readSeller(ctx),
    profileOf(ctx, organizationId),
  ]);
  return { seller, buyer };
}
