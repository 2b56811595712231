/**
 * What an operator does at the console, beside the product or while it is stopped: `npm run innkeeper -- <command>`.
 * A command opens the database for as long as it takes, says what it did, and ends.
 */
import { parseArgs } from 'node:util';
import type { Config } from '../config.ts';
import { addKey } from './addKey.ts';
import { addStaff } from './addStaff.ts';
import { backup } from './backup.ts';
import { type Command, UsageError } from './command.ts';
import { dropReplaced } from './dropReplaced.ts';
import { forgetKey } from './forgetKey.ts';
import { noteRecoveryCommand } from './noteRecovery.ts';
import { replaceNodeCommand } from './replaceNode.ts';
import { restore } from './restore.ts';
import { sendTestMail } from './sendTestMail.ts';
import { showVersion } from './showVersion.ts';
import { verify } from './verify.ts';

const commands: Record<string, Command> = {
  'add-staff': addStaff,
  'add-key': addKey,
  'send-test-mail': sendTestMail,
  backup,
  verify,
  restore,
  'drop-replaced': dropReplaced,
  'note-recovery': noteRecoveryCommand,
  'forget-key': forgetKey,
  'replace-node': replaceNodeCommand,
  version: showVersion,
};
/** What people type out of habit. */
const aliases: Record<string, string> = {
  '--version': 'version',
  '-v': 'version',
  '--help': 'help',
  '-h': 'help',
};

/** Runs the command that `argv` begins with. Throws {@link UsageError}, or whatever the command fails with. */
export async function runCommand(config: Config, argv: readonly string[]): Promise<string> {
  const [typed = '', ...rest] = argv;
  const name = aliases[typed] ?? typed;
  if (name === 'help' && rest.length === 0) return help();
  if (name === 'help') return runCommand(config, [...rest, '--help']);
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined) throw new UsageError(`There is no command "${name}".\n\n${help()}`);
  if (rest.includes('--help') || rest.includes('-h')) return helpOf(command);
  return command.run(config, readOptions(command, rest));
}

function readOptions(command: Command, args: string[]): Record<string, string | boolean | undefined> {
  try {
    const { options, takesFile = false } = command;
    const { values, positionals } = parseArgs({ args, options, allowPositionals: takesFile });
    if (!takesFile) return values;
    const [file, ...more] = positionals;
    if (file === undefined || more.length > 0) throw new Error('It takes one FILE.');
    return { ...values, file };
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : error}\n\n  innkeeper ${command.usage}`);
  }
}

function help(): string {
  return ['Without a command the product starts. Commands:', ...Object.values(commands).map(helpOf)].join(
    '\n',
  );
}

function helpOf({ usage, does }: Command): string {
  return `  innkeeper ${usage}\n      ${does}`;
}

export { UsageError };
