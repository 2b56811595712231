import type { TObject } from 'typebox';
import { problemOfText } from './json.ts';
import { mostProblems, type Problem } from './problem.ts';

type Kind = 'text' | 'number' | 'boolean';

/** Turns the text of a query or of path parameters into values, by the types their schema names. */
export type Kinds = ReadonlyMap<string, Kind>;

/** Which parameters are numbers and which are booleans; everything else stays text. */
export function kindsOf(schema: TObject): Kinds {
  const kinds = new Map<string, Kind>();
  for (const [name, property] of Object.entries(schema.properties)) {
    const types = [(property as { type?: string | string[] }).type].flat();
    if (types.includes('integer') || types.includes('number')) kinds.set(name, 'number');
    else if (types.includes('boolean')) kinds.set(name, 'boolean');
    else kinds.set(name, 'text');
  }
  return kinds;
}

const numberPattern = /^-?(0|[1-9]\d{0,15})(\.\d{1,15})?$/;

/** The value of a parameter. Text that is no number where one is wanted stays text, and fails validation. */
export function valueFrom(text: string, kind: Kind | undefined): unknown {
  if (kind === 'number' && numberPattern.test(text)) return Number(text);
  if (kind === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}

/** Reads path parameters, which arrive decoded. */
export function readParams(
  raw: Record<string, string>,
  kinds: Kinds,
  problems: Problem[],
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const [name, kind] of kinds) {
    const text = raw[name] ?? '';
    const message = problemOfText(text);
    if (message !== null) problems.push({ part: 'params', field: name, message, rule: 'text' });
    else values[name] = valueFrom(text, kind);
  }
  return values;
}

/**
 * Reads the query of a URL. Strict where the web is lenient: a name may come once, percent-encoding has to be
 * right. Names the schema does not know are kept, so that validation can refuse them by name.
 */
export function readQuery(url: string, kinds: Kinds, problems: Problem[]): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  const start = url.indexOf('?');
  if (start < 0 || start === url.length - 1) return values;
  const seen = new Set<string>();
  for (const pair of url.slice(start + 1).split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decode(equals < 0 ? pair : pair.slice(0, equals));
    const text = decode(equals < 0 ? '' : pair.slice(equals + 1));
    const message = problemOfPair(name, text, seen);
    if (message !== null && problems.length >= mostProblems) break;
    if (message !== null || name === null || text === null) {
      problems.push({
        part: 'query',
        field: (name ?? pair).replaceAll('\u0000', '\uFFFD'),
        message: message ?? '',
        rule: 'text',
      });
      continue;
    }
    seen.add(name);
    values[name] = valueFrom(text, kinds.get(name));
  }
  return values;
}

function problemOfPair(name: string | null, text: string | null, seen: Set<string>): string | null {
  if (name === null || text === null) return 'is not valid percent-encoding';
  if (name === '__proto__') return 'is not a parameter of this request';
  if (seen.has(name)) return 'is given twice';
  return problemOfText(name) ?? problemOfText(text);
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return null;
  }
}
