/** What was typed, understood: which command, with what. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { type Attached, Body, merge } from './body.ts';
import { UsageError } from './failures.ts';
import type { Field } from './fields.ts';
import { flagOf } from './flags.ts';
import { argumentsOf, type Command } from './table.ts';

/** Flags of every command; those of a kind of command alone say of which. */
export interface General {
  flag: string;
  takes: string | null;
  about: string;
  of: (command: Command) => boolean;
}

const always = () => true;
export const general: readonly General[] = [
  {
    ...{
      flag: 'body',
      takes: 'FILE',
      about: 'The whole body as JSON, from a file or from - ; flags go on top',
    },
    of: ({ body }) => body !== null,
  },
  {
    ...{ flag: 'file', takes: 'FILE', about: 'What is sent' },
    of: ({ upload }) => upload !== null,
  },
  {
    ...{ flag: 'all', takes: null, about: 'Every entry, page after page' },
    of: ({ list }) => list?.hasPages === true,
  },
  {
    ...{ flag: 'columns', takes: 'NAMES', about: 'Which columns, with commas between' },
    of: ({ list }) => list !== null,
  },
  {
    ...{ flag: 'wait', takes: null, about: 'Waits until it is done, and says how it goes' },
    of: ({ waitsFor }) => waitsFor !== null,
  },
  {
    ...{ flag: 'output', takes: 'FILE', about: 'Where to write it' },
    of: ({ answer }) => answer === 'bytes' || answer === 'text',
  },
  {
    ...{ flag: 'if-match', takes: 'TAG', about: 'Refused when it was changed since this ETag' },
    of: ({ takesTag }) => takesTag,
  },
  {
    ...{ flag: 'idempotency-key', takes: 'KEY', about: 'The same key gets the same answer, for 24 hours' },
    of: ({ takesKey }) => takesKey,
  },
  {
    ...{ flag: 'organization', takes: 'ID', about: 'Whose things are meant' },
    of: ({ takesOrganization }) => takesOrganization,
  },
  { flag: 'json', takes: null, about: 'Prints what the API answered, as it came', of: always },
  { flag: 'profile', takes: 'NAME', about: 'Another sign-in than the one in use', of: always },
  { flag: 'help', takes: null, about: 'Says this', of: always },
];

export interface Typed {
  places: Record<string, string>;
  query: Record<string, string | number | boolean>;
  /** Undefined when none is sent. */
  body: Record<string, unknown> | undefined;
  /** What stands in the body for what is asked for: never typed where others see it. */
  asked: symbol[];
  flags: Record<string, string | true>;
}

/** The words before the first flag that name a command or a group. */
export function commandIn(argv: readonly string[], commands: readonly { words: string[] }[]) {
  const takesValue = new Set(general.filter(({ takes }) => takes !== null).map(({ flag }) => `--${flag}`));
  const rest = [...argv];
  const words: string[] = [];
  for (let at = 0; at < rest.length; ) {
    const word = rest[at] ?? '';
    if (word === '--') break;
    if (word.startsWith('-')) {
      at += takesValue.has(word) ? 2 : 1;
      continue;
    }
    const longer = [...words, word];
    if (!commands.some((each) => longer.every((part, index) => each.words[index] === part))) break;
    words.push(word);
    rest.splice(at, 1);
  }
  return { words, rest };
}

/** Throws {@link UsageError} for what the command does not take. */
export function understand(command: Command, argv: readonly string[], usage: string): Typed {
  const fields = [...command.query, ...(command.body ?? [])];
  const options: Record<string, { type: 'string' | 'boolean'; multiple: true }> = {};
  for (const { flag, takes, of } of general)
    if (of(command)) options[flag] = { type: takes === null ? 'boolean' : 'string', multiple: true };
  for (const field of fields) {
    const isBare = field.kind === 'boolean' || field.isAsked;
    options[field.flag] = { type: isBare ? 'boolean' : 'string', multiple: true };
    if (field.kind === 'boolean' || field.isNullable)
      options[`no-${field.flag}`] = { type: 'boolean', multiple: true };
  }
  const { tokens, positionals } = parsed(argv, options, usage);
  const flagged = new Set(tokens.flatMap((token) => (token.kind === 'option' ? [token.name] : [])));
  const given = argumentsOf(command).filter(
    (field) => command.places.includes(field) || !flagged.has(field.flag),
  );
  if (positionals.length !== given.length) throw new UsageError(usage);
  const typed: Typed = { places: {}, query: {}, body: undefined, asked: [], flags: {} };
  given.forEach((field, at) => {
    const [name = ''] = field.path;
    const value = positionals[at] ?? '';
    if (command.places.includes(field)) typed.places[name] = value;
    else typed.query[name] = value;
  });
  const body = new Body();
  for (const token of tokens) {
    if (token.kind !== 'option') continue;
    const field = fields.find(({ flag }) => flag === token.name || `no-${flag}` === token.name);
    if (field === undefined || (token.name === 'limit' && command.list?.hasPages)) {
      typed.flags[token.name] = token.value ?? true;
      continue;
    }
    const isNo = field.flag !== token.name;
    if (field.isAsked && !isNo) body.put(field, markIn(typed, field));
    else if (command.query.includes(field))
      typed.query[field.path[0] ?? ''] = readAs(field, token.value, isNo) as string;
    else
      body.put(
        field,
        field.isFile && !isNo ? fileOf(field, token.value ?? '') : readAs(field, token.value, isNo),
      );
  }
  if (typed.flags.limit !== undefined) atLeastOne(typed.flags.limit);
  const whole = typeof typed.flags.body === 'string' ? readBody(typed.flags.body) : undefined;
  if (command.body === null || typed.flags.help === true) return typed;
  const missing = command.body.filter(
    ({ path: [name = '', ...more], isRequired }) =>
      isRequired && more.length === 0 && !(name in body.value) && !(whole !== undefined && name in whole),
  );
  for (const field of missing) if (field.isAsked) body.put(field, markIn(typed, field));
  const absent = missing.filter(({ isAsked }) => !isAsked);
  if (absent.length > 0)
    throw new UsageError(`Missing: ${absent.map(({ flag }) => `--${flag}`).join(', ')}\n\n${usage}`);
  typed.body = merge(whole ?? {}, body.value);
  return typed;
}

function markIn({ asked }: Typed, { flag }: Field): symbol {
  const mark = Symbol(flag);
  asked.push(mark);
  return mark;
}

/** Asks for each in the order of the flags, and puts the answer where its flag stood. */
export async function fillAsked(typed: Typed, ask: (question: string) => Promise<string>): Promise<void> {
  for (const mark of typed.asked) {
    const found = findMark(typed.body, mark);
    if (found !== null)
      Object.assign(found.at, { [found.steps.at(-1) ?? '']: await ask(nameOf(found.steps)) });
  }
}

interface Marked {
  at: object;
  steps: (string | number)[];
}

/** Null of one that a later flag replaced. */
function findMark(value: unknown, mark: symbol): Marked | null {
  if (typeof value !== 'object' || value === null) return null;
  for (const [name, inner] of Object.entries(value)) {
    const step = Array.isArray(value) ? Number(name) : name;
    if (inner === mark) return { at: value, steps: [step] };
    const found = findMark(inner, mark);
    if (found !== null) return { at: found.at, steps: [step, ...found.steps] };
  }
  return null;
}

/** `products 2 options.password`: of which entry it is asked, counted from 1. */
function nameOf(steps: readonly (string | number)[]): string {
  const words: string[] = [];
  let names: string[] = [];
  for (const step of steps)
    if (typeof step === 'string') names.push(step);
    else {
      words.push(flagOf(names), String(step + 1));
      names = [];
    }
  return [...words, flagOf(names)].filter((word) => word !== '').join(' ');
}

function parsed(
  argv: readonly string[],
  options: Record<string, { type: 'string' | 'boolean'; multiple: true }>,
  usage: string,
) {
  try {
    return parseArgs({ args: [...argv], options, allowPositionals: true, strict: true, tokens: true });
  } catch (error) {
    const said = error instanceof Error ? error.message : String(error);
    throw new UsageError(`${said.replace(/\. To specify a positional argument.*$/s, '.')}\n\n${usage}`);
  }
}

function readAs(field: Field, text: string | undefined, isNo: boolean): unknown {
  if (isNo) return field.kind === 'boolean' ? false : null;
  if (field.kind === 'boolean') return true;
  const value = text ?? '';
  const wrong = (must: string) => new UsageError(`--${field.flag} must be ${must}, not "${value}".`);
  if (field.isMany && value === '') return undefined;
  if (field.kind === 'json') return json(value, () => wrong('JSON'));
  if (field.choices && !field.choices.includes(value)) throw wrong(`one of ${field.choices.join(', ')}`);
  if (field.kind === 'text') return value;
  const number = Number(value);
  if (!/^-?\d+(\.\d+)?$/.test(value) || (field.kind === 'integer' && !Number.isSafeInteger(number)))
    throw wrong(field.kind === 'integer' ? 'a whole number' : 'a number');
  if (field.minimum !== undefined && number < field.minimum) throw wrong(`at least ${field.minimum}`);
  if (field.maximum !== undefined && number > field.maximum) throw wrong(`at most ${field.maximum}`);
  return number;
}

function atLeastOne(value: string | true): void {
  if (!/^[1-9]\d{0,8}$/.test(String(value)))
    throw new UsageError(`--limit must be a whole number above 0, not "${value}".`);
}

function json(text: string, wrong: () => Error): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw wrong();
  }
}

function readBody(file: string): Record<string, unknown> {
  const found = json(read(file).toString('utf8'), () => new UsageError(`--body: ${file} is not JSON.`));
  if (typeof found !== 'object' || found === null || Array.isArray(found))
    throw new UsageError(`--body: ${file} is not a JSON object.`);
  return found as Record<string, unknown>;
}

/** A file, or what comes in when it is called `-`. */
export function read(file: string): Buffer {
  try {
    return readFileSync(file === '-' ? 0 : file);
  } catch (error) {
    throw new UsageError(`${file} cannot be read: ${(error as NodeJS.ErrnoException).code}`);
  }
}

function fileOf(field: Field, file: string): Attached | string {
  const content = read(file).toString('base64');
  return field.path.length > 1 ? { content, name: path.basename(file) } : content;
}
