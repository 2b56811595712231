import { expect, it } from 'vitest';
import type { Context } from '../context.ts';
import { claimableBy, openingsIn } from './queues.ts';

it('a queue takes no more at once than any organization may still get', () => {
  expect(openingsIn(12, [])).toEqual({ atMost: 6, full: [] });
  expect(openingsIn(12, [1, 1, 2])).toEqual({ atMost: 4, full: [] });
  expect(openingsIn(4, [1, 1])).toEqual({ atMost: 1, full: [1] });
  expect(openingsIn(4, [1, 1, 2])).toEqual({ atMost: 1, full: [1, 2] });
  expect(openingsIn(4, [1, 1, 2, 2])).toMatchObject({ atMost: 0 });
  expect(openingsIn(1, [])).toEqual({ atMost: 1, full: [] });
});

it('whoever comes next finds a place beside two that have taken all they get', () => {
  const two = [...Array.from({ length: 6 }, () => 1), ...Array.from({ length: 3 }, () => 2)];
  expect(openingsIn(12, two)).toEqual({ atMost: 2, full: [1, 2] });
});

it('organizations of one owner share what one gets', async () => {
  const asked: (readonly number[])[] = [];
  const claimable = claimableBy(async (_, ids) => {
    asked.push(ids);
    return new Map(
      ids.filter((id) => id < 30).map((id) => [id, { ownerId: 7, organizationIds: [10, 11, 12] }]),
    );
  });
  const ctx = {} as Context;
  // Nobody has to be asked who they are while it does not matter.
  expect(await claimable(ctx, 12, [10, 11])).toEqual({ atMost: 4, full: [] });
  expect(asked).toEqual([]);
  expect(await claimable(ctx, 12, [10, 10, 10, 11, 11, 11])).toEqual({ atMost: 3, full: [10, 11, 12] });
  expect(await claimable(ctx, 12, [10, 10, 11, 30, 30, 31])).toEqual({ atMost: 2, full: [] });
  expect(asked).toEqual([
    [10, 11],
    [30, 31],
  ]);
});

it('the provider itself may have a whole queue', () => {
  expect(openingsIn(4, [null, null, null])).toEqual({ atMost: 1, full: [] });
});
