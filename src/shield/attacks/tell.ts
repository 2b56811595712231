import { record } from '../../events/index.ts';
import type { TxContext } from '../../platform/index.ts';
import { attackEnded, attackStarted, attackUpdated } from '../events.ts';
import { single } from '../prefix.ts';
import type { Attack } from '../watch/detect.ts';
import { nameOfAttack } from '../watch/words.ts';
import { type Followed, wasCalm } from './rows.ts';

/** What events say of an attack: exact, and with moments as ISO. */
function said({ id, address, attack }: Followed) {
  return {
    attack_id: String(id),
    address: single(address).text,
    kind: attack.kind,
    description: nameOfAttack(attack),
    pps: Math.round(attack.peakPps),
    mbps: Math.round(attack.peakMbps),
    packets: attack.packets,
    bytes: attack.bytes,
    started_at: attack.startedAt.toISOString(),
  };
}

/** Writes in the journal what has become of an attack since `before`, if that is worth telling. */
export async function tellOfAttack(tx: TxContext, before: Attack | null, followed: Followed): Promise<void> {
  const { organizationId, serviceId, attack } = followed;
  const about = { subject: { type: 'service', id: serviceId }, organizationId };
  const data = { ...said(followed), user_id: null };
  const isNew = before === null;
  if (!isNew && attack.endedAt === null) {
    if (isNews(before, attack)) await record(tx, attackUpdated, { ...about, data });
    return;
  }
  const is_first = await wasCalm(tx, followed);
  if (isNew) await record(tx, attackStarted, { ...about, data: { ...data, is_first } });
  if (attack.endedAt === null) return;
  const ended_at = attack.endedAt.toISOString();
  await record(tx, attackEnded, { ...about, data: { ...data, is_first, ended_at } });
}

/** Another name, or twice as much as was told before. */
export function isNews(before: Attack, now: Attack): boolean {
  return before.kind !== now.kind || before.of !== now.of || now.peakPps >= 2 * before.peakPps;
}
