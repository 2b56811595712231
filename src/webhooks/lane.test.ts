import { expect, it } from 'vitest';
import { createLane } from './lane.ts';

it('leaves a place for whoever comes next, however many take what they can', () => {
  const lane = createLane(() => 0);
  let id = 0;
  const takes = (organization: number, endpoints = 20) => {
    let taken = 0;
    for (let nth = 0; nth < 400; nth += 1) {
      id += 1;
      if (lane.begin(id, organization, organization * 100 + (nth % endpoints), false)) taken += 1;
    }
    return taken;
  };
  expect([1, 2, 3, 4, 5, 6, 7].map((organization) => takes(organization))).toEqual([64, 32, 16, 8, 4, 2, 1]);
  expect(lane.room()).toMatchObject({ limit: 1, fullOrganizations: expect.arrayContaining([1, 2, 7]) });
  expect(takes(8)).toBe(1);
});

it('gives the places of tries that last to others, and an endpoint that is slow has few', () => {
  let now = 0;
  const lane = createLane(() => now);
  for (let id = 1; id <= 200; id += 1) lane.begin(id, 1, 11 + (id % 2), false);
  for (let id = 201; id <= 400; id += 1) lane.begin(id, 2, 21 + (id % 2), false);
  expect(lane.room().limit).toBe(32);
  now = 1_000;
  expect(lane.room()).toMatchObject({ limit: 128, fullOrganizations: [1] });
  expect(lane.room().fullEndpoints.toSorted()).toEqual([11, 12, 21, 22]);
  expect(lane.begin(401, 1, 13, false)).toBe(false);
  expect(lane.begin(402, 3, 31, false)).toBe(true);
  for (let id = 1; id <= 400; id += 1) lane.end(id);
  const again = [1, 2, 3, 4, 5, 6].map((id) => lane.begin(id, 1, 11, false));
  expect(again).toEqual([true, true, true, true, false, false]);
  lane.end(1);
  expect(lane.begin(7, 1, 11, false)).toBe(true); // it was quick: it is well again
  expect(lane.begin(8, 1, 11, false)).toBe(true);
});

it('has one try at a time for an endpoint that fails', () => {
  const lane = createLane(() => 0);
  expect([1, 2].map((id) => lane.begin(id, 1, 11, true))).toEqual([true, false]);
});
