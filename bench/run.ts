/**
 * `npm run bench`: measures how fast the product is, each figure as a ratio against what the same work costs
 * without us, in interleaved rounds on one machine. `--quick` takes fewer rounds and rows, and leaves out the warm
 * start, which is not offered. `--only=get,list` takes some of the figures, `--rounds=7` fewer
 * rounds of signing in and activity; `--json=FILE` writes
 * the results there as well.
 */
import { spawn } from 'node:child_process';
import path from 'node:path';
import { hostPackages } from '../src/drivers/hypervisor/index.ts';
import { ensurePackages, type WantedPackage } from '../src/platform/host/packages.ts';
import { openProgress } from '../src/platform/host/terminal.ts';
import { ensureTestImages } from '../test/images.ts';
import { type Namespace, openNamespace, runMark } from '../test/namespace.ts';
import { ensurePatroniTree } from '../test/patroni/tree.ts';

const root = path.join(import.meta.dirname, '..');
process.chdir(root);
process.env.PATH = `${path.join(root, 'node_modules/.bin')}:${process.env.PATH ?? ''}:/usr/sbin:/sbin`;

const benchPackages: WantedPackage[] = [
  { package: 'wrk', why: 'load over HTTP' },
  { package: 'postgresql-contrib', why: 'pgbench, the same SQL without us' },
  { package: 'iproute2', why: 'a network of its own for the bench' },
  { package: 'nftables', why: 'the packet filter of Shield' },
  { package: 'gobgpd', why: 'tells routers in front by BGP' },
  { package: 'bird2', why: 'a router that is told' },
  { package: 'openssh-client', why: 'signing in to machines' },
  { package: 'chromium-headless-shell', why: 'the dashboard in a real browser' },
  ...hostPackages.filter((each) => each.use !== 'debian-12'),
];

const progress = openProgress();
const namespace = await prepare();
progress.done();
process.exit(await measure());

/** Null when machines and their networks cannot be had here; their figures are then left out, and say so. */
async function prepare(): Promise<Namespace | null> {
  try {
    progress.stage('programs');
    await ensurePackages(benchPackages, progress.say);
    progress.stage('image for machines');
    process.env.INNKEEPER_BENCH_IMAGES = await ensureTestImages(['tiny'], progress.say);
    progress.stage('a PostgreSQL that fails over');
    await ensurePatroniTree();
    progress.stage('a network of its own');
    return await openNamespace();
  } catch (error) {
    progress.fail();
    console.error(`Without machines: ${error instanceof Error ? error.message : String(error)}`);
    return null;
  }
}

async function measure(): Promise<number> {
  const argv = [process.execPath, path.join(root, 'bench/figures.ts'), ...process.argv.slice(2)];
  const env = {
    ...process.env,
    [runMark]: namespace?.name,
    INNKEEPER_BENCH_NETWORK: namespace ? 'own' : 'none',
  };
  const [program = '', ...args] = namespace ? namespace.enter(argv, env) : argv;
  try {
    return await new Promise((resolve, reject) => {
      const child = spawn(program, args, { stdio: 'inherit', env });
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
      child.on('error', reject);
      child.on('close', (code) => resolve(code ?? 1));
    });
  } finally {
    await namespace?.close();
  }
}
