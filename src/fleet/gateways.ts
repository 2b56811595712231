import type { Context } from '../platform/index.ts';
import { gatewaysOf } from './pools.ts';

/**
 * Has a node answer on the gateways of pools that staff adds while it runs. `answered` is the list that the
 * driver was given and reads whenever it prepares its host; a gateway that is gone stays until the next start,
 * as machines may still use it.
 */
export async function followGateways(
  ctx: Context,
  location: string,
  answered: string[],
  prepare: () => Promise<void>,
): Promise<void> {
  const missing = (await gatewaysOf(ctx, location)).filter((gateway) => !answered.includes(gateway));
  if (missing.length === 0) return;
  answered.push(...missing);
  try {
    await prepare();
  } catch (error) {
    answered.splice(-missing.length); // so that the next turn tries again
    throw error;
  }
  ctx.log.info({ gateways: missing }, 'the node answers on the gateways of new pools');
}
