import { type Context, transaction } from '../../platform/index.ts';
import { type MinuteOver, writeMinute } from '../analytics/minutes.ts';
import { type CountedThere, type Followed, writeAttack } from '../attacks/rows.ts';
import { isNews, tellOfAttack } from '../attacks/tell.ts';
import type { Defences } from '../mitigation/defence.ts';
import { keepDefences, noteWritten, unwritten } from '../mitigation/turn.ts';
import { isAttack } from './detect.ts';
import type { Beside } from './known.ts';
import type { Counted } from './seen.ts';

/** Whether there is nothing left to be written of one that is over; then it is forgotten. */
export function isDone({ id, attack }: Followed, { written, told }: Beside): boolean {
  if (isAttack(attack) && written.get(id) !== attack) return false;
  for (const map of [written, told]) map.delete(id);
  return true;
}

export function writeMinutes(
  ctx: Context,
  { counting, minutes }: Beside,
  over: readonly MinuteOver[],
): Promise<void> {
  if (over.length === 0) return Promise.resolve();
  return counting.take(async () => {
    for (const minute of over) {
      await writeMinute(ctx, minute);
      minutes.add(minute.time);
    }
  });
}

/** Writes down what has changed of attacks and what is done about them, and what is told of it, together. */
export function writeDown(
  ctx: Context,
  nodeId: number,
  { written, told, writing, shelf }: Beside,
  attacks: readonly Followed[],
  defences: Defences,
  counted: Counted,
): Promise<void> {
  const changed = attacks.filter(({ id, attack }) => isAttack(attack) && written.get(id) !== attack);
  const others = unwritten(defences, shelf);
  if (changed.length === 0 && others.length === 0) return Promise.resolve();
  return writing.take(async () => {
    await transaction(ctx, 'shield.writeAttacks', async (tx) => {
      for (const followed of changed) {
        await writeAttack(tx, nodeId, followed, countedThere(counted, followed.address));
        await tellOfAttack(tx, told.get(followed.id) ?? null, followed);
      }
      await keepDefences(tx, nodeId, others, shelf);
    });
    noteWritten(others, shelf);
    for (const { id, attack } of changed) {
      const before = told.get(id);
      if (before === undefined || isNews(before, attack)) told.set(id, attack);
      written.set(id, attack);
    }
  });
}

function countedThere(counted: Counted, address: string): CountedThere {
  return Object.fromEntries(
    [...counted]
      .filter(([, count]) => count.address === address)
      .map(([key, { packets, bytes }]) => [key, { packets, bytes }]),
  );
}
