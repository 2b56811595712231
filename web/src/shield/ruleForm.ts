/** Between what people type into the form of a rule and what the API calls it. */
import type { Schema } from '../../../client/index.ts';
import { rowsIn, type Values } from '../ui/index.ts';
import type { Words } from './draft.ts';

type Port = Schema<'ShieldPort'>;
type Match = Schema<'ShieldMatch'>;
export type How = Schema<'ShieldMatchType'>;
/** How many of a field are meant; `any` where it does not matter. */
export const hows = ['eq', 'neq', 'gt', 'lt', 'range'] as const;

/** For how long a rule is made: for ever, for so many hours, or until a moment. */
export const lasts = ['ever', '1', '24', '168', 'until'] as const;
const hourMs = 3_600_000;

/** A number as it was typed; what is none is left to the API, which says so at its field. */
export const numberIn = (text = '') =>
  /^\s*\d{1,15}\s*$/.test(text) ? Number(text) : (text.trim() as unknown as number);
const numbersIn = (text = '') =>
  text
    .split(/[\s,;]+/)
    .filter((part) => part !== '')
    .map(numberIn);

function portIn(values: Values, name: 'source_port' | 'destination_port'): Port | null {
  const how = values[`${name}.match_type`] as How | 'any' | undefined;
  if (how === undefined || how === 'any') return null;
  const range = { start: numberIn(values[`${name}.range`]), end: numberIn(values[`${name}.to`]) };
  if (how === 'range') return { match_type: how, range };
  return { match_type: how, match_value: numbersIn(values[`${name}.match_value`]) };
}

function matchIn(row: Readonly<Record<string, string>>): Match {
  const { match, match_type: how = 'eq' } = row as { match: Match['match']; match_type?: string };
  if (how === 'set' || how === 'unset') return { match, match_type: 'eq', match_value: how === 'set' };
  if (how === 'range')
    return { match, match_type: how, range: { start: numberIn(row.range), end: numberIn(row.to) } };
  return { match, match_type: how as How, match_value: numberIn(row.match_value) };
}

/** What stands for a rate of the rule's own among the rate limits. */
export const ownRate = 'own';

/** Of rules that let packets in: the rate limit that was chosen, or a rate of their own. */
function rateIn(values: Values, action: Words['action']): Pick<Words, 'rate_limiter_id' | 'rate'> {
  const { limit: chosen = '0' } = values;
  if (action !== 'permit') return { rate_limiter_id: 0, rate: null };
  if (chosen !== ownRate) return { rate_limiter_id: Number(chosen), rate: null };
  return { rate_limiter_id: 0, rate: rateOf(values, 'rate.') };
}

/** A rate as it was typed into fields whose names begin with `at`. */
export function rateOf(values: Values, at = ''): NonNullable<Words['rate']> {
  const typed = (name: string) => values[`${at}${name}`];
  const orNone = (name: string) => (typed(name) === undefined ? null : numberIn(typed(name)));
  return {
    packets_per_second: orNone('packets_per_second'),
    bits_per_second: orNone('bits_per_second'),
    per: (typed('per') ?? 'source') as NonNullable<Words['rate']>['per'],
    burst: numberIn(typed('burst')),
  };
}

/** What a rule is to say, in the words of the API. `now` is this browser's clock, as whoever typed a moment has it. */
export function wordsIn(values: Values, now: number): Omit<Words, 'disabled'> {
  const { lasts: time = 'ever', expires_at: until } = values;
  const ends = time === 'until' ? Date.parse(until ?? '') : now + Number(time) * hourMs;
  const protocol = Number(values.protocol) as Words['protocol'];
  const hasPorts = protocol === 6 || protocol === 17;
  const action = (values.action ?? 'deny') as Words['action'];
  return {
    ...{ action, protocol },
    source: values.source?.trim() || null,
    note: values.note?.trim() || null,
    source_port: hasPorts ? portIn(values, 'source_port') : null,
    destination_port: hasPorts ? portIn(values, 'destination_port') : null,
    matches: rowsIn(values, 'matches').map(matchIn),
    ...rateIn(values, action),
    expires_at:
      time === 'ever' || Number.isNaN(ends) ? null : `${new Date(ends).toISOString().slice(0, 19)}Z`,
  };
}

/** A moment as fields take it, by this browser's zone: `2026-01-31T12:00`. */
export function localMoment(moment: string): string {
  const date = new Date(moment);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
