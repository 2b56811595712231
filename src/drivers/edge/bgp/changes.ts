import type { Action } from '../contract.ts';
import { flowOrder } from './nlri.ts';

/** A flow in the routers' table; null takes it out. */
export interface Change {
  family: 4 | 6;
  bytes: Buffer;
  action: Action | null;
}

/** What routers hold or ought to: family and text of a flow, and its action. */
export type Table = ReadonlyMap<string, Change & { action: Action }>;

export function keyOf({ family, bytes }: Pick<Change, 'family' | 'bytes'>): string {
  return `${family} ${bytes.toString('hex')}`;
}

export function tableOf(rows: readonly (Change & { action: Action })[]): Table {
  // The first of two counts: a measure stands before the policy.
  return new Map(rows.toReversed().map((row) => [keyOf(row), row]));
}

/**
 * From one table to another, told in the order in which routers look and withdrawn in the reverse. So at each moment a packet
 * meets what one of the two tables does with it: a deny never stands without the permits before it, and where both tables
 * agree on a packet nothing comes between.
 */
export function changesOf(now: Table, wanted: Table): Change[] {
  const told = [...wanted]
    .filter(([key, { action }]) => now.get(key)?.action !== action)
    .map(([, row]) => row);
  const gone = [...now]
    .filter(([key]) => !wanted.has(key))
    .map(([, row]): Change => ({ ...row, action: null }));
  return [...told.toSorted(inOrder), ...gone.toSorted(inOrder).toReversed()];
}

function inOrder(a: Change, b: Change): number {
  return a.family - b.family || flowOrder(a.bytes, b.bytes, a.family);
}
