/** Every journey with nothing but a keyboard, and on a phone. */
import { afterAll, afterEach, beforeAll, describe, it } from 'vitest';
import { keyboard, touch } from './hands.ts';
import { type JourneysBed, journeys, openJourneysBed } from './journeys.ts';

let bed: JourneysBed;
beforeAll(async () => {
  bed = await openJourneysBed();
});
afterEach(() => bed.closeWindows());
afterAll(() => bed?.close());

describe.each([keyboard, touch])('$name', (hands) => {
  it.each(Object.values(journeys))('$name', { timeout: 300_000 }, ({ go }) => go(bed, hands));
});
