import {
  ProgramError,
  type RunningProgram,
  runProgram,
  startProgram,
} from '../../../platform/host/program.ts';
import { type BmcConnection, defaultPorts } from '../connection.ts';
import { BmcError } from '../failure.ts';
import { failureOf, isOtherSuite } from './said.ts';

export interface IpmiProgram {
  /** Default: `ipmitool`, wherever it is found. */
  program?: string;
  /** What it needs in its environment where it is not installed. */
  env?: Record<string, string>;
}

export interface Ipmi {
  /** Runs one command, signed in, and returns what it prints. */
  run(command: readonly string[], leftMs: number, more?: Partial<Login>): Promise<string>;
  /** The same where `-v` would have it print something else: what went wrong is then asked for apart. */
  runQuietly(command: readonly string[], leftMs: number): Promise<string>;
  /** A command in IPMI's own bytes, and the bytes of its answer. */
  raw(bytes: readonly number[], leftMs: number, more?: Partial<Login>): Promise<number[]>;
  /** Starts a command that goes on, signed in. */
  start(command: readonly string[]): RunningProgram;
  becomes(password: string): void;
}

export interface Login {
  user: string;
  password: string;
  /** A session for less than an administrator, as whoever is tried may be less. */
  level: 'USER' | 'ADMINISTRATOR';
  suite: number;
  /** Without `-v`, which tells what went wrong and has some commands print something else. */
  isQuiet: boolean;
  /** Not sent again when no answer comes: a button that is pressed twice is pressed twice. */
  once: boolean;
  /** Typed into it where it asks. */
  input: string;
}

/** The newest that is worth something, and the one that every BMC knows. None lets in without a password. */
const suites = [17, 3];
/** Which of them a BMC knew last: to find out costs a session, or all of the time when it says nothing to what it does not know. */
const known = new Map<string, number>();
const plain = { level: 'ADMINISTRATOR' as const, isQuiet: false, once: false, input: '' };
/** Has it print commas between the columns of a table. */
export const withCommas = '-c';
/** More than the longest event log. */
const longestOutput = 2 ** 20;

/** Debian's `ipmitool`, a process a command. The password is in its environment: arguments are everybody's to read. */
export function ipmiProgram(
  connection: BmcConnection,
  { program = 'ipmitool', env = {} }: IpmiProgram,
): Ipmi {
  const { address, port = defaultPorts.ipmi } = connection;
  const key = `${address} port ${port}`;
  let own = { user: connection.user, password: connection.password };

  function argvOf(
    command: readonly string[],
    { user, level, suite, isQuiet, once }: Pick<Login, 'user' | 'level' | 'suite' | 'isQuiet' | 'once'>,
    leftMs: number,
  ) {
    const seconds = Math.floor(leftMs / 1_000);
    // How long an answer is waited for, and how often that.
    const [wait, tries] = once
      ? [Math.max(1, seconds - 2), 1]
      : [2, Math.max(1, Math.min(8, Math.floor(seconds / 2)))];
    return [
      // Without a terminal: what it asks for, it would otherwise ask whoever started us.
      ...['setsid', program, '-I', 'lanplus', '-H', address, '-p', String(port), '-U', user, '-E'],
      ...['-C', String(suite), '-L', level, '-N', String(wait), '-R', String(tries)],
      ...[...(isQuiet ? [] : ['-v']), ...command],
    ];
  }

  async function runOnce(command: readonly string[], leftMs: number, login: Login): Promise<string> {
    const { password, input } = login;
    const options = {
      env: { ...env, IPMI_PASSWORD: password },
      timeoutMs: Math.max(1, Math.round(leftMs)),
      longestOutput,
      input,
    };
    try {
      return (await runProgram(argvOf(command, login, leftMs), options)).stdout;
    } catch (error) {
      if (!(error instanceof ProgramError)) throw error;
      throw isAbsent(error) ? absent(program) : failureOf(error, [own.password, password]);
    }
  }

  async function run(command: readonly string[], leftMs: number, more: Partial<Login> = {}): Promise<string> {
    const endsMs = performance.now() + leftMs;
    const login = { ...own, ...plain, ...more };
    const suite = more.suite ?? known.get(key);
    if (suite !== undefined) return runOnce(command, leftMs, { ...login, suite });
    for (const [nth, each] of suites.entries()) {
      const left = (endsMs - performance.now()) / (suites.length - nth);
      try {
        const output = await runOnce(command, left, { ...login, suite: each });
        known.set(key, each);
        return output;
      } catch (error) {
        const isLast = nth === suites.length - 1;
        if (isLast || !(isOtherSuite(error) || (error instanceof BmcError && error.waits))) throw error;
      }
    }
    throw new Error('there is at least one cipher suite');
  }

  return {
    async run(command, leftMs, more) {
      try {
        return await run(command, leftMs, more);
      } catch (error) {
        // Another BMC may stand there by now, which knows others.
        if (more?.suite === undefined && isOtherSuite(error)) known.delete(key);
        throw error;
      }
    },
    async raw(bytes, leftMs, more) {
      return bytesOf(await this.run(['raw', ...bytes.map((byte) => `0x${byte.toString(16)}`)], leftMs, more));
    },
    async runQuietly(command, leftMs) {
      const beganMs = performance.now();
      return this.run(command, leftMs, { isQuiet: true }).catch(async (error: unknown) => {
        // Why it does not let us in is told by what speaks up.
        await this.raw([0x06, 0x01], leftMs - (performance.now() - beganMs));
        throw error;
      });
    },
    start: (command) => {
      const login = { ...own, ...plain, suite: known.get(key) ?? 3 };
      // Into a pipe it would say nothing until it had much to say.
      return startProgram(['stdbuf', '-o0', ...argvOf(command, login, 5_000)], {
        env: { ...env, IPMI_PASSWORD: own.password },
      });
    },
    becomes(password) {
      own = { ...own, password };
    },
  };
}

function bytesOf(output: string): number[] {
  const words = output.split(/\s+/).filter(Boolean);
  if (words.every((word) => /^[0-9a-f]{2}$/.test(word)))
    return words.map((word) => Number.parseInt(word, 16));
  throw new BmcError('answer_invalid', 'the BMC’s answer is none of IPMI');
}

/** Said by what starts it. */
function isAbsent({ exitCode, stderr }: ProgramError): boolean {
  return exitCode !== null && exitCode >= 126 && stderr.startsWith('setsid:');
}

function absent(program: string): BmcError {
  return new BmcError(
    'program_absent',
    `${program} does not start here, by which BMCs are spoken to: install the Debian package ipmitool`,
  );
}
