import fs from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ProgramError, runAsRoot, runProgram } from './program.ts';

/** A Debian package and what we need it for, as a person is told it. */
export interface WantedPackage {
  package: string;
  why: string;
}

/** Packages could not be installed; `message` says what to do. */
export class PackagesError extends Error {}

const aptListsDir = '/var/lib/apt/lists';
const listsAgeLimitMs = 7 * 24 * 3600 * 1000;
const lockPatienceSeconds = 300;

/** Which of these packages are not installed, in the order given and without doubles. */
export async function missingPackages(wanted: readonly WantedPackage[]): Promise<WantedPackage[]> {
  const unique = [...new Map(wanted.map((each) => [each.package, each])).values()];
  if (unique.length === 0) return [];
  // biome-ignore lint/suspicious/noTemplateCurlyInString: dpkg's own placeholders
  const format = '${Package} ${db:Status-Status}\n';
  // All of them: asked for one it does not know, dpkg-query fails.
  const { stdout } = await runProgram(['dpkg-query', '--show', `--showformat=${format}`]).catch(
    (error: unknown) => {
      throw new PackagesError(noApt(unique), { cause: error });
    },
  );
  const installed = new Set(
    stdout
      .split('\n')
      .filter((line) => line.endsWith(' installed'))
      .map((line) => line.split(' ')[0]),
  );
  return unique.filter((each) => !installed.has(each.package));
}

/**
 * Installs those of these packages that are missing, as root or through sudo, telling `say` what and why and
 * how far it is. Does nothing, in milliseconds, when all are there. Fails with a {@link PackagesError}.
 */
export async function ensurePackages(
  wanted: readonly WantedPackage[],
  say: (line: string) => void,
): Promise<void> {
  const missing = await missingPackages(wanted);
  if (missing.length === 0) return;
  const names = missing.map((each) => each.package);
  await runProgram(['apt-get', '--version']).catch((error: unknown) => {
    throw new PackagesError(noApt(missing), { cause: error });
  });
  await runAsRoot(['true']).catch((error: unknown) => {
    throw new PackagesError(
      `Some Debian packages are missing, and installing them needs root or sudo without a password. Run:\n` +
        `  sudo apt-get install --no-install-recommends ${names.join(' ')}\nand start again.`,
      { cause: error },
    );
  });
  say(`installing ${names.length} Debian packages:`);
  for (const each of missing) say(`  ${each.package}: ${each.why}`);

  const install = () =>
    apt('installing packages', ['install', '-y', '--no-install-recommends', ...names], say);
  const update = () => apt('reading package lists', ['update'], say);
  let warnings = '';
  try {
    const updateFirst = await listsAreStale();
    if (updateFirst) warnings = await update();
    try {
      await install();
    } catch (error) {
      if (!(error instanceof ProgramError)) throw error;
      await repair(error, say);
      // Lists that are a few days old name versions that the servers no longer have.
      if (!updateFirst) warnings = await update();
      await install();
    }
  } catch (error) {
    throw explain(error, names, warnings);
  }
  const left = await missingPackages(missing);
  if (left.length > 0)
    throw new PackagesError(`apt-get ended well, yet ${left[0]?.package} is not installed.`);
}

/** An earlier installation that was cut off must be ended before dpkg does anything else. */
async function repair(error: ProgramError, say: (line: string) => void): Promise<void> {
  if (!error.stderr.includes('dpkg --configure -a')) return;
  await spoken(
    'finishing an interrupted installation',
    ['dpkg', '--configure', '-a', '--force-confold'],
    say,
  );
}

/** Runs apt-get, waiting while another program holds its locks. Returns what it warned of. */
async function apt(stage: string, args: readonly string[], say: (line: string) => void): Promise<string> {
  const options = [`DPkg::Lock::Timeout=${lockPatienceSeconds}`, 'Dpkg::Use-Pty=0', 'Acquire::Retries=2'];
  const argv = ['apt-get', ...options.flatMap((each) => ['-o', each]), ...args];
  const deadline = Date.now() + lockPatienceSeconds * 1000;
  for (;;) {
    try {
      return await spoken(stage, argv, say);
    } catch (error) {
      // The option covers dpkg's lock; that of the lists is tried once only, so the waiting is ours.
      const locked = error instanceof ProgramError && error.stderr.includes('Could not get lock');
      if (!locked || Date.now() > deadline) throw error;
      say('waiting for another program that installs packages');
      await sleep(3_000);
    }
  }
}

/** Runs a program as root and says every three seconds what it is at. */
async function spoken(stage: string, argv: readonly string[], say: (line: string) => void): Promise<string> {
  const beganMs = Date.now();
  let last = '';
  const timer = setInterval(() => {
    say(`${stage}, ${Math.round((Date.now() - beganMs) / 1000)} s${last ? `: ${last.slice(0, 90)}` : ''}`);
  }, 3_000);
  try {
    // Through `env`, as sudo passes no environment on.
    const env = ['env', 'DEBIAN_FRONTEND=noninteractive', 'NEEDRESTART_SUSPEND=1', 'LC_ALL=C.UTF-8'];
    const { stderr } = await runAsRoot([...env, ...argv], {
      timeoutMs: 1_800_000,
      onLine: (line) => {
        const plain = line.trim();
        // Addresses of mirrors tell a person nothing; the package does.
        if (plain) last = plain.replace(/^(Get|Hit|Ign|Err):\d+ \S+ /, '$1 ');
      },
    });
    return stderr;
  } finally {
    clearInterval(timer);
  }
}

async function listsAreStale(): Promise<boolean> {
  const names = await fs.readdir(aptListsDir).catch(() => []);
  const lists = names.filter((name) => name.includes('_Packages'));
  // Not the time of modification: apt gives a list the time at which the server last changed it.
  const stats = await Promise.all(lists.map((name) => fs.stat(path.join(aptListsDir, name))));
  return Math.max(0, ...stats.map((each) => each.ctimeMs)) < Date.now() - listsAgeLimitMs;
}

function noApt(missing: readonly WantedPackage[]): string {
  return (
    `This machine has no apt-get, so these have to be installed by hand: ${missing.map((m) => m.package).join(' ')} ` +
    '(names of Debian packages).'
  );
}

function explain(error: unknown, names: readonly string[], warnings: string): Error {
  if (!(error instanceof ProgramError)) return error instanceof Error ? error : new Error(String(error));
  const said = `${error.stderr}\n${warnings}`;
  const line = error.stderr.match(/^E: .*$/m)?.[0] ?? error.message;
  // `apt-get update` succeeds without a network, with warnings, and the installation then knows no package.
  if (/Temporary failure resolving|Could not resolve|Could not connect|unreachable|timed out/i.test(said)) {
    return new PackagesError(
      "Debian's package servers cannot be reached. Check this machine's network and /etc/apt/sources.list, " +
        `or install by hand: ${names.join(' ')}\n${line}`,
      { cause: error },
    );
  }
  return new PackagesError(`apt-get failed: ${line}`, { cause: error });
}
