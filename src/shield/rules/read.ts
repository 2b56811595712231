import { type ErrorDetail, fail } from '../../platform/index.ts';
import { readPrefix } from '../prefix.ts';
import {
  type FlagName,
  flagNames,
  largestPort,
  type MatchType,
  matchTypes,
  type NumberField,
  numberFields,
  type OtherMatch,
  type PortMatch,
  type Protocol,
  type Rate,
  type RuleWords,
  rangesOf,
  type Span,
} from './match.ts';

/** A rule as it was sent: its own fields have their types, what is inside of them may be anything. */
export interface SentRule {
  destination: string;
  source?: string | null | undefined;
  action: 'permit' | 'deny';
  protocol: Protocol;
  order: number;
  note?: string | null | undefined;
  source_port?: unknown;
  destination_port?: unknown;
  matches?: unknown;
  rate_limiter_id?: number | null | undefined;
  rate?: SentRate | null | undefined;
  expires_at?: string | null | undefined;
}

/** Checked field by field when it comes here. */
type SentRate = Partial<Record<'packets_per_second' | 'bits_per_second', number | null | undefined>> &
  Pick<Rate, 'per' | 'burst'>;

const mostPorts = 64;
const mostMatches = 16;

/**
 * Reads a rule as public clients write it: absent, null or empty are the same, what is inside may be a text that holds
 * JSON. `invalid_request` with everything that is wrong. `under` is what the fields stand in, such as `rules[0]`.
 */
export function readRule(sent: SentRule, now: Date, under = ''): RuleWords {
  const problems: ErrorDetail[] = [];
  const words = wordsOf(sent, now, (field, message) =>
    problems.push({ field: under === '' ? field : `${under}.${field}`, message }),
  );
  if (problems.length > 0) throw fail('invalid_request', { details: problems });
  return words;
}

type Complain = (field: string, message: string) => unknown;

function wordsOf(sent: SentRule, now: Date, complain: Complain): RuleWords {
  const source = sent.source == null || sent.source === '' ? null : readPrefix(sent.source.trim());
  const destination = readPrefix(sent.destination.trim());
  if (typeof source === 'string') complain('source', source);
  if (typeof destination === 'string') complain('destination', destination);
  const families =
    typeof source === 'object' && source !== null && typeof destination === 'object'
      ? [source.family, destination.family]
      : [4, 4];
  if (families[0] !== families[1])
    complain('source', 'must be of the same family as destination: both IPv4, or both IPv6');
  const words: RuleWords = {
    destination: typeof destination === 'string' ? '' : destination.text,
    source: typeof source === 'string' || source === null ? null : source.text,
    action: sent.action,
    protocol: sent.protocol,
    order: sent.order,
    note: readNote(sent.note ?? null, complain),
    source_port: readPort(sent.source_port, 'source_port', complain),
    destination_port: readPort(sent.destination_port, 'destination_port', complain),
    matches: readMatches(sent.matches, complain),
    rate_limiter_id: sent.rate_limiter_id || null,
    rate: readRate(sent.rate ?? null, complain),
    expires_at: readMoment(sent.expires_at ?? null, now, complain),
  };
  checkTogether(words, complain);
  return words;
}

function checkTogether(words: RuleWords, complain: Complain): void {
  const { protocol } = words;
  for (const field of ['source_port', 'destination_port'] as const) {
    if (words[field] !== null && protocol !== 6 && protocol !== 17)
      complain(field, 'is for TCP and UDP (protocol 6 and 17) alone');
  }
  for (const [nth, { match }] of words.matches.entries()) {
    if (flagNames.some((name) => name === match) && protocol !== 6)
      complain(`matches[${nth}]`, 'is a flag of TCP (protocol 6)');
  }
  if (words.rate_limiter_id !== null && words.action !== 'permit')
    complain('rate_limiter_id', 'is for rules that permit: what comes above its rate is dropped');
  if (words.rate !== null && words.action !== 'permit')
    complain('rate', 'is for rules that permit: what comes above it is dropped');
  if (words.rate !== null && words.rate_limiter_id !== null)
    complain('rate', 'is given beside rate_limiter_id');
  const seen = new Map<string, OtherMatch>();
  for (const [nth, match] of words.matches.entries()) {
    if (seen.has(match.match)) complain(`matches[${nth}]`, `says something of ${match.match} a second time`);
    seen.set(match.match, match);
  }
  // Here ICMP is 1 in both families, as it is in `protocol`.
  const proto = words.matches.find(({ match }) => match === 'proto');
  if (proto !== undefined && !isProto(proto, protocol))
    complain('matches', `leaves nothing of protocol ${protocol}: the rule could never match`);
}

function isProto(match: OtherMatch, protocol: number): boolean {
  const ranges = rangesOf(match as Extract<OtherMatch, { match: NumberField }>, numberFields.proto);
  return ranges.some(([from, to]) => from <= protocol && protocol <= to);
}

/** Notes are for people: one line, and nothing that a filter could take for its own language. */
const refusedInNotes = /[\p{Cc}\p{Zl}\p{Zp}"'`;{}\\$]/u;
const wordsOfFilters =
  /\b(?:nft|flush|ruleset)\b|\b(?:add|create|delete|destroy|insert|replace|list|reset|rename)\s+(?:table|chain|rule|set|map|element|counter|flowtable)s?\b/i;

function readNote(note: string | null, complain: Complain): string | null {
  if (note === null || note.trim() === '') return null;
  if (refusedInNotes.test(note))
    complain('note', 'must be one line without quotes, semicolons, braces, backslashes and dollar signs');
  else if (wordsOfFilters.test(note)) complain('note', 'reads like a command of a packet filter');
  return note.trim();
}

/** A note that belongs to no rule of its own; `invalid_request`. */
export function readNoteAlone(note: string | null): string | null {
  const problems: ErrorDetail[] = [];
  const read = readNote(note, (field, message) => problems.push({ field, message }));
  if (problems.length > 0) throw fail('invalid_request', { details: problems });
  return read;
}

function readMoment(text: string | null, now: Date, complain: Complain): Date | null {
  if (text === null || text === '') return null;
  const moment = new Date(text);
  if (Number.isNaN(moment.getTime())) complain('expires_at', 'is no moment that there is');
  else if (moment <= now) complain('expires_at', 'must be in the future');
  return moment;
}

function readRate(sent: SentRate | null, complain: Complain): Rate | null {
  if (sent === null) return null;
  const { packets_per_second = null, bits_per_second = null, per, burst } = sent;
  if (packets_per_second === null && bits_per_second === null)
    complain('rate.packets_per_second', 'is needed, or bits_per_second, or both');
  return { packets_per_second, bits_per_second, per, burst };
}

/** What a text holds as JSON; anything else as it is. */
function opened(value: unknown, field: string, complain: Complain): unknown {
  if (typeof value !== 'string' || value.trim() === '') return value;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    complain(field, 'must be an object, or a text that holds one as JSON');
    return null;
  }
}

type Fields = Record<string, unknown>;

function fieldsOf(
  value: unknown,
  field: string,
  known: readonly string[],
  complain: Complain,
): Fields | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    complain(field, 'must be an object');
    return null;
  }
  const strange = Object.keys(value).filter((name) => !known.includes(name));
  for (const name of strange) complain(`${field}.${name}`, 'is not a field of this request');
  return strange.length === 0 ? (value as Fields) : null;
}

function readPort(sent: unknown, field: string, complain: Complain): PortMatch | null {
  const value = opened(sent, field, complain);
  if (isAbsent(value)) return null;
  const fields = fieldsOf(value, field, ['match_type', 'match_value', 'range', 'MatchRange'], complain);
  if (fields === null) return null;
  const type = readType(fields.match_type, field, complain);
  if (type === null) return null;
  if (!isAbsent(fields.range) && !isAbsent(fields.MatchRange)) {
    complain(`${field}.MatchRange`, 'is given beside range');
    return null;
  }
  const range = isAbsent(fields.range) ? fields.MatchRange : fields.range;
  if (type === 'range') {
    if (!isAbsent(fields.match_value)) complain(`${field}.match_value`, 'is not for match_type range');
    const span = readSpan(range, `${field}.range`, largestPort, complain);
    return span === null ? null : { match_type: type, range: span };
  }
  if (!isAbsent(range)) complain(`${field}.range`, 'is for match_type range');
  const values = readPorts(fields.match_value, type, `${field}.match_value`, complain);
  if (values === null) return null;
  const port: PortMatch = { match_type: type, match_value: values };
  if (rangesOf(port, largestPort).length > 0) return port;
  complain(field, 'leaves no port: the rule could never match');
  return null;
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'string' && value.trim() === '');
}

function readType(value: unknown, field: string, complain: Complain): MatchType | null {
  const type = matchTypes.find((each) => each === value);
  if (type === undefined) complain(`${field}.match_type`, `must be one of ${matchTypes.join(', ')}`);
  return type ?? null;
}

function readSpan(value: unknown, field: string, largest: number, complain: Complain): Span | null {
  const fields = fieldsOf(value ?? null, field, ['start', 'end'], complain);
  if (fields === null) return null;
  const { start, end } = fields;
  if (!isWithin(start, largest) || !isWithin(end, largest)) {
    complain(field, `must have start and end, integers from 0 to ${largest}`);
    return null;
  }
  if (start <= end) return { start, end };
  complain(field, 'runs backwards: start must not be larger than end');
  return null;
}

function isWithin(value: unknown, largest: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= largest;
}

function readPorts(value: unknown, type: MatchType, field: string, complain: Complain): number[] | null {
  const isList = Array.isArray(value) && value.length > 0 && value.length <= mostPorts;
  if (!isList || !value.every((each) => isWithin(each, largestPort))) {
    complain(field, `must be a list of 1 to ${mostPorts} ports, each from 0 to ${largestPort}`);
    return null;
  }
  if ((type === 'gt' || type === 'lt') && value.length > 1) {
    complain(field, `must have one port with match_type ${type}`);
    return null;
  }
  return value;
}

function readMatches(sent: unknown, complain: Complain): OtherMatch[] {
  if (isAbsent(sent)) return [];
  if (!Array.isArray(sent) || sent.length > mostMatches) {
    complain('matches', `must be a list of at most ${mostMatches}`);
    return [];
  }
  return sent.flatMap((each, nth) => readMatch(each, `matches[${nth}]`, complain) ?? []);
}

function readMatch(sent: unknown, field: string, complain: Complain): OtherMatch | null {
  const value = opened(sent, field, complain);
  const fields = fieldsOf(value, field, ['match', 'match_type', 'match_value', 'range'], complain);
  if (fields === null) return null;
  const type = readType(fields.match_type, field, complain);
  if (type === null) return null;
  const name = fields.match;
  const isFlag = (each: unknown): each is FlagName => flagNames.some((flag) => flag === each);
  if (isFlag(name) || name === 'fragments') return readFlag(name, type, fields, field, complain);
  const known = Object.keys(numberFields) as NumberField[];
  const number = known.find((each) => each === name);
  if (number !== undefined) return readNumber(number, type, fields, field, complain);
  complain(`${field}.match`, `must be one of ${[...flagNames, 'fragments', ...known].join(', ')}`);
  return null;
}

function readFlag(
  match: FlagName | 'fragments',
  type: MatchType,
  fields: Fields,
  field: string,
  complain: Complain,
): OtherMatch | null {
  if (type !== 'eq' && type !== 'neq') {
    complain(`${field}.match_type`, `must be eq or neq for ${match}`);
    return null;
  }
  if (!isAbsent(fields.range)) complain(`${field}.range`, 'is for match_type range');
  const text = String(fields.match_value).trim().toLowerCase();
  const isSet = ['true', '1'].includes(text) ? true : ['false', '0'].includes(text) ? false : null;
  if (isSet === null) {
    complain(`${field}.match_value`, 'must be true or false');
    return null;
  }
  return { match, match_type: 'eq', match_value: type === 'eq' ? isSet : !isSet };
}

function readNumber(
  match: NumberField,
  type: MatchType,
  fields: Fields,
  field: string,
  complain: Complain,
): OtherMatch | null {
  const largest = numberFields[match];
  if (type === 'range') {
    if (!isAbsent(fields.match_value)) complain(`${field}.match_value`, 'is not for match_type range');
    const range = readSpan(fields.range, `${field}.range`, largest, complain);
    return range === null ? null : { match, match_type: type, range };
  }
  if (!isAbsent(fields.range)) complain(`${field}.range`, 'is for match_type range');
  const given = fields.match_value;
  const value = typeof given === 'string' && /^(0|[1-9]\d{0,4})$/.test(given.trim()) ? Number(given) : given;
  if (!isWithin(value, largest)) {
    complain(`${field}.match_value`, `must be an integer from 0 to ${largest}`);
    return null;
  }
  const read: OtherMatch = { match, match_type: type, match_value: value };
  if (rangesOf(read, largest).length > 0) return read;
  complain(field, `leaves no value of ${match}: the rule could never match`);
  return null;
}
