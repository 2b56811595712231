import { expect, it } from 'vitest';
import { createTurns, createWriters, type Leave } from './turns.ts';

const tooLong = () => new Error('too long');

it('lets so many in at once for each key, the others in the order in which they came', async () => {
  const turns = createTurns(2, 1_000, tooLong);
  const inside: Leave[] = [await turns.take('a'), await turns.take('a')];
  const order: number[] = [];
  const waiting = [1, 2, 3].map(async (nth) => {
    const leave = await turns.take('a');
    order.push(nth);
    return leave;
  });
  (await turns.take('b'))();
  await Promise.resolve();
  expect(order).toEqual([]);
  inside[0]?.();
  inside[0]?.(); // once is enough
  (await waiting[0])?.();
  await waiting[1];
  expect(order).toEqual([1, 2]);
  inside[1]?.();
  await waiting[2];
  expect(order).toEqual([1, 2, 3]);
});

it('turns away who has waited too long, and nobody behind them', async () => {
  const turns = createTurns(1, 30, tooLong);
  const leave = await turns.take('a');
  await expect(turns.take('a')).rejects.toThrow('too long');
  const next = turns.take('a');
  leave();
  (await next)();
  (await turns.take('a'))();
});

it('has at once only what need not wait', async () => {
  const turns = createTurns(1, 1_000, tooLong);
  const leave = turns.takeNow('a');
  expect([turns.takeNow('a'), turns.takeNow('b') === null]).toEqual([null, false]);
  const next = turns.take('a');
  leave?.();
  expect(turns.takeNow('a')).toBeNull();
  (await next)();
  expect(turns.takeNow('a')).not.toBeNull();
});

it('leaves connections to who only reads, and nobody more than a quarter of the rest', async () => {
  const writers = createWriters(8);
  const own = [await writers.begin(1, 1), await writers.begin(1, 2)];
  const began: string[] = [];
  const later = writers.begin(1, 3).then((leave) => {
    began.push('later');
    return leave;
  });
  const others = await Promise.all([writers.begin(2, 2), writers.begin(3, 3), writers.begin(4, null)]);
  expect(began).toEqual([]);
  for (const leave of own) leave();
  (await later)();
  for (const leave of others) leave();
});
