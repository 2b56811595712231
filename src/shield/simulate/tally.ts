import type { Flow } from '../flows/flow.ts';

/** What flows add up to. */
export interface Tally {
  packets: number;
  bytes: number;
  samples: number;
  /** Of the packets, as chance has chosen the samples. */
  variance: number;
}

export function noTally(): Tally {
  return { packets: 0, bytes: 0, samples: 0, variance: 0 };
}

/**
 * In place. Of n samples that stand for p packets, each was chosen with a chance of n/p, so that the variance of p is
 * p(p/n − 1) (Horvitz and Thompson). `times` is for how many such flows it stands.
 */
export function addFlow(tally: Tally, { head, packets, samples }: Flow, times: number): void {
  const all = packets * times;
  tally.packets += all;
  tally.bytes += all * head.length;
  tally.samples += samples;
  tally.variance += all * Math.max(0, all / samples - 1);
}

const sureness = 1.96;
/** Of what was not seen once among samples, no more than three times what one stands for is there, 95 times in 100. */
const unseen = 3;

/** What is said of it: whole numbers, and how far from them the true one is at most, 95 times in 100. */
export function viewTally({ packets, bytes, samples, variance }: Tally, all: Tally) {
  const each = all.samples === 0 ? 1 : all.packets / all.samples;
  const margin = samples === 0 ? (each > 1 ? unseen * each : 0) : sureness * Math.sqrt(variance);
  return { packets: Math.round(packets), bytes: Math.round(bytes), samples, margin: Math.ceil(margin) };
}
