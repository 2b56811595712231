import { releaseAddresses } from '../fleet/index.ts';
import { type Context, transaction } from '../platform/index.ts';
import { forgetShield } from '../shield/index.ts';

/**
 * Gives addresses of a machine back, all or those beyond the first so many of each kind. What was to be done with packets to
 * them is gone in the same transaction.
 */
export async function giveBackAddresses(
  ctx: Context,
  serviceId: number,
  keep?: { count4: number; count6: number },
): Promise<void> {
  await transaction(ctx, 'vps.giveBackAddresses', async (tx) => {
    await forgetShield(tx, serviceId, await releaseAddresses(tx, serviceId, keep));
  });
}
