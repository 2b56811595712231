import { expect, it } from 'vitest';
import { openingsIn } from './queues.ts';

it('a queue takes no more at once than any organization may still get', () => {
  expect(openingsIn(12, [])).toEqual({ atMost: 6, full: [] });
  expect(openingsIn(12, [1, 1, 2])).toEqual({ atMost: 4, full: [] });
  expect(openingsIn(4, [1, 1])).toEqual({ atMost: 2, full: [1] });
  expect(openingsIn(4, [1, 1, 2])).toEqual({ atMost: 1, full: [1] });
  expect(openingsIn(4, [1, 1, 2, 2])).toMatchObject({ atMost: 0 });
  expect(openingsIn(1, [])).toEqual({ atMost: 1, full: [] });
});

it('the provider itself may have a whole queue', () => {
  expect(openingsIn(4, [null, null, null])).toEqual({ atMost: 1, full: [] });
});
