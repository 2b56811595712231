/**
 * The command line tool of customers and staff: each operation of the API is a command, made from the description of the
 * API (`table.ts`) and named by `names.ts`. Beside them are a few of the program's own.
 */
import { parseArgs } from 'node:util';
import type { Client } from '../client/index.ts';
import { make } from './call.ts';
import { clientAt } from './client.ts';
import { offers, scriptFor } from './completion.ts';
import { exits, tell, UsageError } from './failures.ts';
import { findPlaces } from './find.ts';
import { helpOf, listOf, type OwnCommand, usageOf } from './help.ts';
import { commandIn, fillAsked, type Typed, understand } from './parse.ts';
import { connectionOf } from './profiles.ts';
import { ask } from './prompt.ts';
import { chooseProfile, logIn, logOut } from './session.ts';
import { goTo } from './ssh.ts';
import type { Command, Table } from './table.ts';

export const own: readonly OwnCommand[] = [
  {
    words: ['login'],
    usage: 'login [--url ADDRESS]',
    summary: 'Asks for an API key and keeps it; --profile NAME keeps several',
  },
  { words: ['logout'], usage: 'logout', summary: 'Forgets it' },
  {
    words: ['profiles'],
    usage: 'profiles [NAME]',
    summary: 'The sign-ins that are kept; with a name, uses that one',
  },
  {
    words: ['ssh'],
    usage: 'ssh NAME [-- ARGUMENTS]',
    summary: 'Logs in to a machine; --user NAME instead of root',
  },
  {
    words: ['completion'],
    usage: 'completion bash|zsh',
    summary: 'For your shell: source <(… completion bash)',
  },
  { words: ['version'], usage: 'version', summary: 'Which one this is' },
];

/** Runs what was typed, and returns the code to end with. */
export async function run(table: Table, program: string, argv: readonly string[]): Promise<number> {
  try {
    return await runTyped(table, program, argv);
  } catch (error) {
    const { lines, exit } = tell(error, program);
    process.stderr.write(`${lines.join('\n')}\n`);
    return exit;
  }
}

async function runTyped(table: Table, program: string, argv: readonly string[]): Promise<number> {
  const [word = ''] = argv;
  if (word === 'complete') {
    process.stdout.write(
      offers(argv.slice(2), table.commands, own)
        .map((each) => `${each}\n`)
        .join(''),
    );
    return exits.done;
  }
  const asksHelp = (word === 'help' && argv.slice(1)) || null;
  const typed =
    asksHelp ?? (['-h', '-v', '--version'].includes(word) ? [word === '-h' ? '--help' : 'version'] : argv);
  const { words, rest } = commandIn(typed, [...table.commands, ...own]);
  const isHelp = asksHelp !== null || wantsHelp(rest);
  const mine = own.find((each) => each.words.join(' ') === words.join(' '));
  if (mine !== undefined) return runOwn(mine, table, program, rest, isHelp);
  const command = table.commands.find((each) => each.words.join(' ') === words.join(' '));
  if (command === undefined) return listGroup(table, program, words, rest, isHelp);
  if (isHelp) {
    process.stdout.write(`${helpOf(program, command)}\n`);
    return exits.done;
  }
  await runCommand(table, program, command, rest);
  return exits.done;
}

function wantsHelp(rest: readonly string[]): boolean {
  const end = rest.indexOf('--');
  const before = end === -1 ? rest : rest.slice(0, end);
  return before.includes('--help') || before.includes('-h');
}

function listGroup(
  table: Table,
  program: string,
  words: string[],
  rest: readonly string[],
  isHelp: boolean,
): number {
  const text = listOf(program, words, table.commands, own);
  const unknown = rest.find((each) => !each.startsWith('-'));
  if (unknown !== undefined)
    throw new UsageError(`There is no command "${[...words, unknown].join(' ')}".\n\n${text}`);
  if (isHelp) process.stdout.write(`${text}\n`);
  else process.stderr.write(`${text}\n`);
  return isHelp ? exits.done : exits.usage;
}

async function runCommand(
  table: Table,
  program: string,
  command: Command,
  rest: readonly string[],
): Promise<void> {
  const typed = understand(command, rest, usageOf(program, command));
  const client = clientFor(command, typed.flags);
  await fillAsked(typed, (question) => ask(question, true));
  const places = await findPlaces(client, table.commands, command, typed.places);
  await make(client, command, { ...typed, places });
}

function clientFor(command: Command | null, { profile, organization }: Typed['flags']): Client {
  const connection = connectionOf(process.env, {
    profile: typeof profile === 'string' ? profile : undefined,
    organization: typeof organization === 'string' ? organization : undefined,
  });
  const isAbout = command === null || command.takesOrganization;
  return clientAt(connection.url, connection.key, isAbout ? connection.organization : null);
}

async function runOwn(
  { words: [word], usage, summary }: OwnCommand,
  table: Table,
  program: string,
  rest: readonly string[],
  isHelp: boolean,
): Promise<number> {
  const text = `${summary}\n\nUsage: ${program} ${usage}`;
  if (isHelp) {
    process.stdout.write(`${text}\n`);
    return exits.done;
  }
  const end = rest.indexOf('--');
  const { values, positionals } = ownFlags(end === -1 ? rest : rest.slice(0, end), text);
  const [name, ...more] = positionals;
  if (more.length > 0) throw new UsageError(text);
  switch (word) {
    case 'login':
      await logIn(values, process.env);
      return exits.done;
    case 'logout':
      logOut(values, process.env);
      return exits.done;
    case 'profiles':
      chooseProfile(name, process.env);
      return exits.done;
    case 'ssh': {
      if (name === undefined) throw new UsageError(text);
      const after = end === -1 ? [] : rest.slice(end + 1);
      return goTo(clientFor(null, flagsOf(values)), table.commands, name, { user: values.user, rest: after });
    }
    case 'completion': {
      const script = scriptFor(name ?? '', program);
      if (script === null) throw new UsageError(text);
      process.stdout.write(`${script}\n`);
      return exits.done;
    }
    default:
      process.stdout.write(`${table.version}\n`);
      return exits.done;
  }
}

function flagsOf({ profile, organization }: { profile?: string; organization?: string }): Typed['flags'] {
  return { ...(profile !== undefined && { profile }), ...(organization !== undefined && { organization }) };
}

function ownFlags(rest: readonly string[], usage: string) {
  const text = { type: 'string' } as const;
  const options = { url: text, profile: text, organization: text, user: text };
  try {
    return parseArgs({ args: [...rest], options, allowPositionals: true });
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : error}\n\n${usage}`);
  }
}
