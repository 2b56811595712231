import { expect, it } from 'vitest';
import { roomIn } from './lanes.ts';

it('a lane takes no more at once than any organization may still get', () => {
  expect(roomIn(12, [])).toEqual({ atMost: 6, full: [] });
  expect(roomIn(12, [1, 1, 2])).toEqual({ atMost: 4, full: [] });
  expect(roomIn(4, [1, 1])).toEqual({ atMost: 2, full: [1] });
  expect(roomIn(4, [1, 1, 2])).toEqual({ atMost: 1, full: [1] });
  expect(roomIn(4, [1, 1, 2, 2])).toMatchObject({ atMost: 0 });
  expect(roomIn(1, [])).toEqual({ atMost: 1, full: [] });
});

it('the provider itself may have a whole lane', () => {
  expect(roomIn(4, [null, null, null])).toEqual({ atMost: 1, full: [] });
});
