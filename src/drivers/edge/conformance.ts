import { afterAll, beforeAll, describe } from 'vitest';
import { type EdgeUnderTest, givenBy } from './suite/hands.testbed.ts';
import { describeLimits } from './suite/limits.testbed.ts';
import { describeMatches } from './suite/matches.testbed.ts';
import { describeMeasures } from './suite/measures.testbed.ts';
import { describePolicies } from './suite/policies.testbed.ts';
import { describeSamples } from './suite/samples.testbed.ts';
import { describeTrace } from './suite/trace.testbed.ts';
import { describeTraffic } from './suite/traffic.testbed.ts';
import { describeTrials } from './suite/trials.testbed.ts';

/** What every engine must do; `skip` is the reason why this host cannot run the suite, or null. */
export function describeEdge(
  name: string,
  make: () => Promise<EdgeUnderTest>,
  { skip = null, randomPackets = 2_000 }: { skip?: string | null; randomPackets?: number } = {},
): void {
  // Each call is a dozen programs, on cores that others may be using too.
  describe.skipIf(skip !== null)(`${name} keeps the contract of an edge`, { timeout: 180_000 }, () => {
    let test: EdgeUnderTest | undefined;
    beforeAll(async () => {
      test = await make();
    });
    afterAll(() => test?.close());
    const given = givenBy(() => {
      if (test === undefined) throw new Error('there is no engine yet');
      return test;
    });
    describeMatches(given, randomPackets);
    describePolicies(given);
    describeTrials(given);
    describeMeasures(given);
    describeLimits(given);
    describeTraffic(given);
    describeSamples(given);
    describeTrace(given);
  });
}
