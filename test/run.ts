/**
 * `npm test`: makes sure of the programs that tests need, checks types and style, and runs the tests in a
 * network of their own. `--long` adds the files named `*.long.test.ts`; other arguments go to vitest. In CI, files that failed
 * beside others are run once more, one after another.
 */
import { spawn } from 'node:child_process';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { ensurePackages } from '../src/platform/host/packages.ts';
import { ProgramError, runProgram } from '../src/platform/host/program.ts';
import { openProgress } from '../src/platform/host/terminal.ts';
import { ensureTestImages, ensureTestInstaller } from './images.ts';
import { ensureIncusTree } from './incus/tree.ts';
import { type Namespace, openNamespace, runMark } from './namespace.ts';
import { packagesForTests } from './packages.ts';
import { ensurePatroniTree } from './patroni/tree.ts';
import { ensureRackTree } from './rack/tree.ts';
import { failedFilesVariable } from './setup/failedFiles.ts';

const root = path.join(import.meta.dirname, '..');
process.chdir(root);
// Programs of our packages, also where npm did not put them there.
process.env.PATH = `${path.join(root, 'node_modules/.bin')}:${process.env.PATH ?? ''}:/usr/sbin:/sbin`;

const vitestArgs = process.argv.slice(2).filter((argument) => argument !== '--long');
const env: NodeJS.ProcessEnv = { ...process.env };
const long = process.argv.includes('--long');
if (long) env.INNKEEPER_TEST_LONG = 'on';
// Many tests start the product in a process of its own, and most of such a start is compiling.
env.NODE_COMPILE_CACHE = path.join(root, 'node_modules/.cache/innkeeper');

/** More files that failed have a cause in common, which is no accident. */
const mostRunApart = 12;
/** Where a run of everything in CI leaves which files failed. */
const failedFiles =
  process.env.CI && vitestArgs.length === 0
    ? path.join(await fs.mkdtemp(path.join(os.tmpdir(), 'innkeeper-tests-')), 'failed')
    : null;
if (failedFiles !== null) env[failedFilesVariable] = failedFiles;

const progress = openProgress();
const checksPass = await check();
await compile();
const namespace = await prepareMachines();
progress.done();
const testsPass = (await runVitest(namespace, vitestArgs)) || (await passApart());
if (failedFiles !== null) await fs.rm(path.dirname(failedFiles), { recursive: true });
if (!checksPass) console.error('Types or style do not pass; see the top of this output.');
process.exit(checksPass && testsPass ? 0 : 1);

/** Types and style side by side. A failure is shown and remembered: the tests run all the same. */
async function check(): Promise<boolean> {
  progress.stage('types and style');
  // By its path: another package, which generators want, brings an older `tsc` under the same name.
  const tsc = path.join(root, 'node_modules/typescript/bin/tsc');
  const client = await failureOf([process.execPath, 'client/generate.ts']);
  const failures = [
    client,
    ...(await Promise.all([
      failureOf([tsc, '--noEmit']),
      failureOf([tsc, '--noEmit', '--project', 'web']),
      failureOf(['biome', 'check', '.']),
    ])),
  ].filter((each) => each !== null);
  if (failures.length > 0) progress.fail();
  for (const failure of failures) console.error(failure);
  return failures.length === 0;
}

async function failureOf(argv: readonly string[]): Promise<string | null> {
  let printed = '';
  const onLine = (line: string) => {
    printed += `${line}\n`;
  };
  return runProgram(argv, { onLine, timeoutMs: 300_000 }).then(
    () => null,
    (error: unknown) => (error instanceof ProgramError ? printed : String(error)),
  );
}

/** Fills the cache: a product that is killed, as tests do, leaves nothing in it. */
async function compile(): Promise<void> {
  progress.stage('compiling the product');
  const variable = `NODE_COMPILE_CACHE=${env.NODE_COMPILE_CACHE}`;
  // One that does not start is for the tests to tell.
  await failureOf(['env', variable, process.execPath, 'src/main.ts', 'version']);
}

/** Null when machines and their networks cannot be had here; then it says what stays untested. */
async function prepareMachines(): Promise<Namespace | null> {
  try {
    progress.stage('programs that tests run');
    await ensurePackages(packagesForTests(long), progress.say);
    progress.stage('a network of its own');
    const namespace = await openNamespace();
    await buildImages();
    await unpackIncus();
    progress.stage('BMCs and what else stands for a rack');
    // Tests that need them say why there are none.
    await ensureRackTree().catch(() => undefined);
    if (long) await ensurePatroniTree().catch(() => undefined);
    return namespace;
  } catch (error) {
    progress.fail();
    const reason = error instanceof Error ? error.message : String(error);
    console.error(`Virtual machines, their networks and packet rules are NOT tested here: ${reason}`);
    env.INNKEEPER_TEST_MACHINES = 'off';
    return null;
  }
}

/** Tests whose image is missing fail and say so; the others need not wait for it. */
async function buildImages(): Promise<void> {
  progress.stage('images for test machines');
  try {
    const systems = long ? (['tiny', 'debian-12'] as const) : (['tiny'] as const);
    env.INNKEEPER_TEST_IMAGES = await ensureTestImages(systems, progress.say);
    env.INNKEEPER_TEST_INSTALLER = await ensureTestInstaller(systems, progress.say);
  } catch (error) {
    progress.fail();
    console.error(`No image for test machines: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Tests of clusters are left out where it cannot be had, and say so by name. */
async function unpackIncus(): Promise<void> {
  progress.stage('Incus for test clusters');
  try {
    env.INNKEEPER_TEST_INCUS = await ensureIncusTree(progress.say);
  } catch (error) {
    progress.fail();
    console.error(`No Incus for test clusters: ${error instanceof Error ? error.message : String(error)}`);
  }
}

async function runVitest(namespace: Namespace | null, args: readonly string[]): Promise<boolean> {
  const vitest = [process.execPath, path.join(root, 'node_modules/vitest/vitest.mjs'), 'run', ...args];
  if (namespace) env[runMark] = namespace.name;
  try {
    return (await runInForeground(namespace ? namespace.enter(vitest, env) : vitest)) === 0;
  } finally {
    await namespace?.close();
  }
}

/**
 * Whether each file that failed passes by itself, in a network made anew: most failures of a whole run in CI were deadlines that a
 * busy machine missed, and one in the same process sees what the first try left. What passes only then stands at the end of the
 * output, to be mended.
 */
async function passApart(): Promise<boolean> {
  if (failedFiles === null) return false;
  const failed = (await fs.readFile(failedFiles, 'utf8').catch(() => '')).split('\n').filter(Boolean);
  if (failed.length === 0 || failed.length > mostRunApart) return false;
  console.error(`\nFailed beside others, and run once more by themselves:\n${failed.join('\n')}\n`);
  delete env[failedFilesVariable];
  const namespace = await prepareMachines();
  progress.done();
  const passed = await runVitest(namespace, ['--maxWorkers=1', ...failed]);
  if (passed)
    console.error(`\nFLAKY: passed by themselves only, and have a cause to be found:\n${failed.join('\n')}`);
  return passed;
}

/** Gives the program our terminal, and passes on what asks us to end, so that we outlive it and tidy up. */
function runInForeground(argv: readonly string[]): Promise<number> {
  const [program = '', ...args] = argv;
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: 'inherit', env });
    let asked = 0;
    const pass = (signal: NodeJS.Signals) => {
      // A terminal's Ctrl-C reaches both of us by itself; from the second one on it is meant seriously.
      if (signal === 'SIGTERM' || ++asked > 1) child.kill(signal === 'SIGTERM' ? signal : 'SIGKILL');
    };
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, pass);
    child.on('error', reject);
    child.on('close', (code, signal) =>
      resolve(code ?? 128 + (os.constants.signals[signal ?? 'SIGTERM'] ?? 0)),
    );
  });
}
