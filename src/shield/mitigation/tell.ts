import { record } from '../../events/index.ts';
import type { TxContext } from '../../platform/index.ts';
import { mitigationReleased, mitigationStarted } from '../events.ts';
import { single } from '../prefix.ts';
import type { Defence, Mitigation } from './defence.ts';
import { describeMeasure } from './words.ts';

/** Writes in the journal that something is done against an attack, or no more. `before`: as it was told of last. */
export async function tellOfMitigation(
  tx: TxContext,
  { address, organizationId, serviceId }: Defence,
  before: Mitigation | null,
  now: Mitigation,
): Promise<void> {
  const about = { subject: { type: 'service', id: serviceId }, organizationId };
  const data = {
    mitigation_id: now.id,
    attack_id: String(now.attackId),
    address: single(address).text,
    kind: now.kind,
    measure: now.measure,
    description: describeMeasure(now),
  };
  if (before === null) await record(tx, mitigationStarted, { ...about, data });
  if (now.because === null || before?.because != null) return;
  const dropped = { packets: now.dropped.packets, bytes: now.dropped.bytes };
  await record(tx, mitigationReleased, { ...about, data: { ...data, ...dropped, because: now.because } });
}
