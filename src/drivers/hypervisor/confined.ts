import { relative } from 'node:path';
import { type Output, runProgram } from '../../platform/host/program.ts';
import { asAccount } from './qemu/asAccount.ts';
import type { Owner } from './qemu/files.ts';

/** How a program runs that reads what a stranger has written. */
export interface Confinement {
  /** As whom; null: as who we are, where we are not root. */
  owner: Owner | null;
  cwd: string;
  /** All that it sees of the host besides its programs: whole paths. */
  reads: readonly string[];
  writes: readonly string[];
  /** Open files that it inherits, as its descriptors 3, 4, and so on. */
  descriptors?: readonly number[];
  timeoutMs?: number;
  /** How large a file it may write. Default: any size. */
  fileBytes?: number;
}

const memoryBytes = 2 ** 31;
const defaultTimeoutMs = 120_000;
/** Far above what they have to say. */
const longestOutput = 2 ** 20;

let possible: Promise<string | null> | undefined;

/** Why programs cannot be confined on this host, a container that may make no namespaces, for one; null: they can. */
export function reasonAgainstConfinement(): Promise<string | null> {
  possible ??= runProgram([...walls({ cwd: '/', reads: [], writes: [] }), 'true']).then(
    () => null,
    (error: Error) => error.message,
  );
  return possible;
}

/**
 * Runs a program where it sees the files that it is given, under their own paths, and of the host nothing else but
 * `/usr`: no other file, no process, no network. What a hostile file makes of it can reach nobody. It has so much
 * memory and time, and no right of root.
 */
export async function runConfined(argv: readonly string[], confinement: Confinement): Promise<Output> {
  const { owner, cwd, descriptors = [], timeoutMs = defaultTimeoutMs, fileBytes } = confinement;
  const limits = [`--as=${memoryBytes}`, `--cpu=${Math.ceil(timeoutMs / 1_000)}`, '--core=0'];
  if (fileBytes !== undefined) limits.push(`--fsize=${fileBytes}`);
  const around = (await reasonAgainstConfinement()) === null ? walls(confinement) : [];
  const program = ['prlimit', ...limits, ...around, ...asAccount(owner, argv)];
  return runProgram(program, { cwd, descriptors, timeoutMs, longestOutput });
}

/** Source: bwrap(1). `setpriv` inside drops what it needs to become the account. */
function walls({ cwd, reads, writes }: Pick<Confinement, 'cwd' | 'reads' | 'writes'>): string[] {
  const isRoot = process.getuid?.() === 0;
  const folders = new Set([...reads, ...writes].map((file) => file.slice(0, file.lastIndexOf('/'))));
  const toBecome = ['SETUID', 'SETGID', 'SETPCAP'].flatMap((right) => ['--cap-add', `CAP_${right}`]);
  return [
    'bwrap',
    [
      '--die-with-parent',
      '--new-session',
      '--unshare-ipc',
      '--unshare-pid',
      '--unshare-net',
      '--unshare-uts',
    ],
    isRoot ? ['--cap-drop', 'ALL', ...toBecome] : ['--unshare-user'],
    ['--ro-bind', '/usr', '/usr', '--symlink', 'usr/bin', '/bin', '--symlink', 'usr/lib', '/lib'],
    ['--symlink', 'usr/lib64', '/lib64', '--proc', '/proc', '--dev', '/dev'],
    // Named beforehand: it would close the folders of files that only their owner may read.
    [...folders].filter((folder) => folder !== '').flatMap((folder) => ['--dir', folder]),
    reads.flatMap((file) => ['--ro-bind', file, file]),
    writes.flatMap((file) => ['--bind', file, file]),
    ['--chdir', relative('/', cwd) === '' ? '/' : cwd, '--'],
  ].flat();
}
