import { keepFromOthers, releaseAddresses } from '../fleet/index.ts';
import type { TxContext } from '../platform/index.ts';
import { forgetShield } from '../shield/index.ts';

/** Nobody has the addresses of a service any more: they rest. `mayBeOn`: a server that may still be on with them, until which is off nobody gets them. */
export async function giveBackAddresses(
  tx: TxContext,
  serviceId: number,
  mayBeOn: number | null = null,
): Promise<void> {
  const freed = await releaseAddresses(tx, serviceId);
  await forgetShield(tx, serviceId, freed);
  if (mayBeOn !== null) await keepFromOthers(tx, mayBeOn, freed);
}
