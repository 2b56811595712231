import type { Found } from '../flows/find.ts';
import { type Tally, viewTally } from './tally.ts';

export const certainties = ['none', 'low', 'fair', 'good', 'exact'] as const;
const fairFrom = 100;
const goodFrom = 10_000;

const count = (value: number) => Math.round(value).toLocaleString('en');

/** How sure a simulation is, in numbers and in words. `isLimited`: whether one of the rules has a rate. */
export function certaintyOf(all: Tally, found: Found, isLimited: boolean) {
  const { samples } = all;
  const { margin } = viewTally(all, all);
  const one_in = samples === 0 ? null : Math.round((10 * all.packets) / samples) / 10;
  const level = levelOf(all);
  const sentences = samples === 0 ? nothingKnown(found) : whatIsKnown(all, found, margin);
  if (isLimited && samples > 0)
    sentences.push('Rates are not applied: what comes above the rate of a rule is dropped besides.');
  return { level, samples, one_in, margin, message: sentences.join(' ') };
}

function levelOf({ samples, variance }: Tally): (typeof certainties)[number] {
  if (samples === 0) return 'none';
  if (variance === 0) return 'exact';
  return samples < fairFrom ? 'low' : samples < goodFrom ? 'fair' : 'good';
}

function nothingKnown({ counted }: Found): string[] {
  const unknown = 'So nobody can say what these rules would do.';
  if (counted.packets === 0) return ['No packets came to these addresses in the last hour.', unknown];
  return [
    `${count(counted.packets)} packets came to these addresses in the last hour, and none of them was looked at: they came a moment ago, or the edge of the machine takes no samples.`,
    unknown,
  ];
}

function whatIsKnown(all: Tally, { minutes, oneIn, counted }: Found, margin: number): string[] {
  const sentences: string[] = [];
  if (all.variance === 0) {
    sentences.push(`All ${count(all.samples)} packets that were sampled were looked at one by one.`);
  } else {
    sentences.push(
      `${count(all.samples)} packets were looked at, about one in ${count(all.packets / all.samples)} of those that came.`,
      `The numbers are estimates: of the ${count(all.packets)} in all, the true number is at most ${count(margin)} away, 95 times in 100, and each has its own margin.`,
      'Who sent few packets may be missing.',
    );
  }
  if (oneIn > 1)
    sentences.push(`As there are so many, one minute of an address in ${oneIn} stands for all of them.`);
  sentences.push(
    `There are flows of ${minutes} of the last 60 minutes, in which ${count(counted.packets)} packets were counted.`,
  );
  return sentences;
}
