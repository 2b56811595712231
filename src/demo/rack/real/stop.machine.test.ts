/**
 * DEMO_RACK with real machines, ended while it fetches its programs for the first time: that is over at once, and what one that was killed leaves the
 * next start takes away, with a rack or without. No package is really fetched: `apt-get` is one that never comes to its end.
 */
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Child, startChild } from '../../../../test/child.ts';
import { type TestDatabase, testDatabase } from '../../../../test/database.ts';
import { removeDataDir } from '../../../../test/dataDir.ts';
import { until } from '../../../../test/product.ts';
import { runAsRoot } from '../../../platform/host/program.ts';
import { planLeft } from './left.ts';
import { processesIn } from './network.ts';

let database: TestDatabase;
let dir: string;
let child: Child | null = null;
beforeAll(async () => {
  database = await testDatabase();
  dir = await mkdtemp(join(tmpdir(), 'innkeeper-demo-stop-'));
  await mkdir(join(dir, 'bin'));
  await writeFile(
    join(dir, 'bin/apt-get'),
    `#!/bin/sh\ncase "$*" in *download*) echo $$ >> ${dir}/fetching; exec sleep 86400 ;; esac\nexec /usr/bin/apt-get "$@"\n`,
    { mode: 0o755 },
  );
});
afterAll(async () => {
  await child?.end('SIGKILL');
  await startOne({ DEMO_RACK: '0', HYPERVISOR: 'simulator' });
  await child?.end('SIGTERM');
  await database?.drop();
  await removeDataDir(dir);
});

async function startOne(env: Record<string, string>): Promise<Child> {
  child = await startChild(join(dir, 'data'), {
    ...{ DATABASE_URL: database.url, PATH: `${dir}/bin:${process.env.PATH}`, LOG_LEVEL: 'warn' },
    ...{ BRIDGE: 'ikdstop', NETWORK4: '10.93.0.0/24', NETWORK6: 'fd93::/64', ...env },
  });
  return child;
}
const withRack = { HYPERVISOR: 'qemu', DEMO_RACK: '1' };
const plan = () => {
  const found = planLeft(join(dir, 'data/rack-qemu'));
  if (found === null) throw new Error('there was no rack');
  return found;
};
const isThere = () => existsSync(`/run/netns/${plan().namespace}`);
const links = async () =>
  (await readdir('/sys/class/net')).filter((name) => [plan().cable, plan().management].includes(name));
const fetching = async () =>
  (await readFile(join(dir, 'fetching'), 'utf8').catch(() => ''))
    .split('\n')
    .filter((pid) => pid !== '' && existsSync(`/proc/${pid}`));

describe('the demonstration’s rack of QEMU that is still being fetched', () => {
  it('is over within seconds once the product is asked to end, and leaves nothing', async () => {
    const product = await startOne(withRack);
    await until(fetching, (pids) => pids.length > 0, 60_000);
    expect([isThere(), (await links()).length]).toEqual([true, 2]);
    const began = performance.now();
    await product.end('SIGTERM');
    expect(performance.now() - began).toBeLessThan(10_000);
    expect(await fetching()).toEqual([]);
    expect([isThere(), await links()]).toEqual([false, []]);
  });

  it('goes, of a product that was killed, when the next one starts, and nothing else does', async () => {
    const other = `${plan().namespace}-other`;
    await runAsRoot(['ip', 'netns', 'add', other]);
    try {
      const killed = await startOne(withRack);
      await killed.end('SIGKILL');
      expect(isThere()).toBe(true);
      // As servers and BMCs would go on in it.
      void runAsRoot(['ip', 'netns', 'exec', plan().namespace, 'sleep', '86400']).catch(() => undefined);
      await until(
        () => processesIn(plan().namespace),
        (pids) => pids.length > 0,
        10_000,
      );
      const next = await startOne({ HYPERVISOR: 'simulator' });
      expect([isThere(), await links()]).toEqual([false, []]);
      expect(existsSync(`/run/netns/${other}`)).toBe(true);
      await next.end('SIGTERM');
    } finally {
      await runAsRoot(['ip', 'netns', 'delete', other]);
    }
  });
});
