/** What there is, and how it is written: out of the description. */
import type { Field } from './fields.ts';
import { general } from './parse.ts';
import { argumentsOf, type Command } from './table.ts';

/** A command of the program's own. */
export interface OwnCommand {
  words: string[];
  usage: string;
  summary: string;
}

const width = () => Math.min(process.stdout.columns ?? 100, 110);

export function usageOf(program: string, command: Command): string {
  const places = argumentsOf(command).map(nameOfPlace);
  const flags = (command.body ?? [])
    .filter(({ isRequired, isAsked }) => isRequired && !isAsked)
    .map((field) => `--${field.flag} ${takenBy(field)}`.trim());
  const upload = command.upload === null ? [] : ['--file FILE'];
  return folded(['Usage:', program, ...command.words, ...places, ...flags, ...upload, '[flags]']);
}

/** Side by side, and further below what a line has no room for. */
function folded(parts: readonly string[]): string {
  const lines: string[] = [];
  for (const part of parts) {
    const line = lines.at(-1);
    if (line === undefined || line.length + 1 + part.length > width())
      lines.push(line === undefined ? part : `  ${part}`);
    else lines[lines.length - 1] = `${line} ${part}`;
  }
  return lines.join('\n');
}

export function helpOf(program: string, command: Command): string {
  const { list, body, query } = command;
  const own = [
    ...(body ?? []),
    ...query.filter(({ flag, isRequired }) => !isRequired && !(list?.hasPages && flag === 'limit')),
  ];
  const also = general
    .filter(({ of }) => of(command))
    .map(({ flag, takes, about }) => [`--${flag}${takes ? ` ${takes}` : ''}`, about]);
  if (list?.hasPages) also.unshift(['--limit N', 'How many entries, in all']);
  return [
    command.summary,
    ...(command.about === ''
      ? []
      : ['', ...command.about.split('\n').flatMap((line) => wrapped(line, width()))]),
    '',
    usageOf(program, command),
    ...section(
      'Arguments',
      argumentsOf(command).map((field) => [nameOfPlace(field), aboutPlace(field)]),
    ),
    ...section(
      'Flags',
      own.map((field) => [flagText(field), aboutField(field)]),
    ),
    ...section('Also', also),
  ].join('\n');
}

/** Groups and commands below the words. */
export function listOf(
  program: string,
  words: string[],
  commands: readonly Command[],
  own: readonly OwnCommand[],
): string {
  const within = commands.filter((each) => words.every((word, at) => each.words[at] === word));
  const rows = new Map<string, string>();
  for (const each of within) {
    const next = each.words[words.length] ?? '';
    const isLast = each.words.length === words.length + 1;
    const below = within.filter(
      (other) => other.words[words.length] === next && other.words.length > words.length + 1,
    );
    rows.set(
      next,
      isLast ? each.summary : below.map((other) => other.words.slice(words.length + 1).join(' ')).join(', '),
    );
  }
  const about =
    words.length === 0 ? 'Orders servers, pays for them, and runs them.' : `What ${words.join(' ')} can do.`;
  return [
    ...[about, '', `Usage: ${[program, ...words].join(' ')} COMMAND [arguments] [flags]`],
    ...(words.length === 0
      ? section(
          'Commands',
          own.map(({ usage, summary }) => [usage, summary]),
        )
      : []),
    ...section(
      words.length === 0 ? 'By the API' : 'Commands',
      [...rows].filter(([name]) => name !== 'staff' || words.length > 0),
    ),
    ...(words.length === 0 ? ['', `For those who work here: ${program} staff`] : []),
    ...['', `${[program, ...words].join(' ')} COMMAND --help says more of each.`],
  ].join('\n');
}

function section(title: string, rows: (readonly string[])[]): string[] {
  if (rows.length === 0) return [];
  const widest = Math.min(34, Math.max(...rows.map(([name = '']) => name.length)));
  return [
    '',
    `${title}:`,
    ...rows.flatMap(([name = '', about = '']) => {
      const lines = wrapped(about, Math.max(30, width() - widest - 4));
      const head = name.length > widest ? [`  ${name}`] : [];
      const start = head.length > 0 ? ' '.repeat(widest) : name.padEnd(widest);
      return [
        ...head,
        ...lines.map((line, at) => `  ${at === 0 ? start : ' '.repeat(widest)}  ${line}`.trimEnd()),
      ];
    }),
  ];
}

function wrapped(text: string, most: number): string[] {
  const lines = [''];
  for (const word of text.split(/\s+/)) {
    const line = lines.at(-1) ?? '';
    if (line !== '' && line.length + word.length + 1 > most) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines;
}

function nameOfPlace({ flag }: Field): string {
  return flag.toUpperCase();
}

function flagText(field: Field): string {
  if (field.kind === 'boolean') return `--[no-]${field.flag}`;
  return `--${field.flag} ${takenBy(field)}`.trim();
}

function takenBy(field: Field): string {
  if (field.isAsked || field.kind === 'boolean') return '';
  if (field.isFile) return 'FILE';
  if (field.kind === 'json') return 'JSON';
  return field.kind === 'text' ? (field.choices ? 'CHOICE' : 'TEXT') : 'N';
}

function aboutPlace(field: Field): string {
  const about = aboutField(field);
  return about !== ''
    ? about
    : field.kind === 'integer'
      ? 'Its number, or what it is called'
      : 'As the list shows it';
}

function aboutField(field: Field): string {
  const { about, choices, minimum, maximum, preset } = field;
  const bounds = [
    minimum === undefined ? '' : `from ${minimum}`,
    maximum === undefined ? '' : `to ${maximum}`,
  ];
  return [
    ...(about === undefined ? [] : [about]),
    ...(choices ? [`One of ${choices.join(', ')}`] : []),
    ...(bounds.join('') === '' ? [] : [bounds.join(' ').trim()]),
    ...(preset === undefined ? [] : [`Otherwise ${preset}`]),
    ...(field.isAsked ? ['Asked for, without showing it'] : []),
    ...(field.isMany ? ['May be given several times'] : []),
    ...(field.isNullable && field.kind !== 'boolean' ? [`--no-${field.flag} takes it away`] : []),
  ].join('. ');
}
