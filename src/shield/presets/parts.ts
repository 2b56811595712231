import { reflectors } from '../../drivers/edge/index.ts';
import type { OtherMatch, PortMatch, RuleWords } from '../rules/match.ts';
import type { AddressList } from './lists.ts';

/** A rule of a preset; the destination is whoever's it is made for. */
export type PresetRule = Omit<RuleWords, 'destination' | 'note' | 'rate_limiter_id' | 'expires_at'>;

export interface Preset {
  name: string;
  title: string;
  description: string;
  /** What `ips` of a request are; null where they mean nothing. */
  ips: string | null;
  /** Those that a game profile holds where a request says none, none where it has to; null where ports mean nothing. */
  ports: ((family: 4 | 6) => readonly number[]) | null;
  /** The day of the list of addresses or ports that it is made from; null without a list. */
  dated: string | null;
  /** The addresses that it is made from; absent where there are none. */
  list?: AddressList;
  /** Where its list, or what it says of a protocol, is from. */
  sources: string | null;
  rules(family: 4 | 6, ips: readonly string[], ports: readonly number[]): PresetRule[];
}

/** What presets let in comes before what they drop; both leave room for rules before and between. */
export const permitAt = 500;
export const denyAt = 510;

export const tcp = 6;
export const udp = 17;

export type RuleParts = Partial<
  Pick<RuleWords, 'source' | 'source_port' | 'destination_port' | 'matches' | 'rate'>
>;

export function ports(...values: number[]): PortMatch {
  return { match_type: 'eq', match_value: values };
}

export function flag(match: 'syn' | 'fin' | 'rst' | 'ack' | 'psh' | 'urg', match_value: boolean): OtherMatch {
  return { match, match_type: 'eq', match_value };
}

/** Flags of TCP that no system sends: to open and end at once, to open and reset, none at all. */
export const malformed: readonly OtherMatch[][] = [
  [flag('syn', true), flag('fin', true)],
  [flag('syn', true), flag('rst', true)],
  (['syn', 'fin', 'rst', 'ack', 'psh', 'urg'] as const).map((name) => flag(name, false)),
];

/** Ports that answer large to small questions, and from which nothing else is expected: not DNS, NTP, OpenVPN and RDP. */
export const vectors = Object.keys(reflectors)
  .map(Number)
  .filter((port) => ![53, 123, 1194, 3389].includes(port));
