import { reflectors } from '../../drivers/edge/index.ts';
import { carriers } from '../watch/detect.ts';
import type { Kind } from '../watch/limits.ts';

/** What is done against an attack. */
export const measures = [
  'drop_reflection',
  'drop_answers',
  'drop_fragments',
  'drop_malformed',
  'limit_sources',
  'synproxy',
  'flowspec',
  'blackhole',
] as const;
export type MeasureName = (typeof measures)[number];
/** What routers in front do; the others are for what filters before the machine. */
export type RouterMeasure = Extract<MeasureName, 'flowspec' | 'blackhole'>;

export function isOfRouters(measure: MeasureName): measure is RouterMeasure {
  return measure === 'flowspec' || measure === 'blackhole';
}

/**
 * What the edge of a machine tries against each kind, the least harmful first. Never a limit of SYNs by destination: during a flood
 * from false senders it keeps nearly all good ones out, where the guest's own SYN cookies keep none.
 */
export const ladders: Readonly<Record<Kind, readonly MeasureName[]>> = {
  fragments: ['drop_fragments'],
  reflection: ['drop_reflection', 'drop_answers'],
  syn: ['drop_malformed', 'limit_sources', 'synproxy'],
  ack: ['drop_malformed', 'limit_sources'],
  udp: ['limit_sources'],
  icmp: ['limit_sources'],
  other: ['limit_sources'],
  total: ['drop_malformed', 'limit_sources'],
};

/**
 * Bytes of an IP packet up to which an answer is a usual one, of services that a guest asks itself: names (512 bytes and headers), the time (48
 * bytes, with a code 68). From all other ports that reflect nobody answers a guest.
 */
export const usualAnswers: Readonly<Record<number, number>> = { 53: 540, 123: 96 };

/** Ports whose packets count as reflected. */
export const reflecting: readonly number[] = Object.keys(reflectors)
  .map(Number)
  .filter((port) => !carriers.includes(port));

/** One sender may send a twentieth of what all together may. */
export const shareOfSource = 20;
