import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { runProgram } from '../src/platform/host/program.ts';
import { type House, openHouse, root } from './house.ts';
import { cpuMs, familyOf, type Memory, memoryOf, nowMs, spreadOf } from './measure.ts';
import type { Figure } from './table.ts';

export interface StartOptions {
  rounds: number;
  restMs: number;
}

/** `npm start` to ready once the data is there, and what the whole product holds when it has nothing to do. */
export async function measureStart(
  dataDir: string,
  env: Record<string, string>,
  options: StartOptions,
): Promise<{ figures: Figure[]; house: House }> {
  const npm = () => openHouse(dataDir, env, ['npm', 'start', '--silent']);
  const first = await npm();
  const seconds: number[] = [];
  const emptyMs: number[] = [];
  let house = first;
  for (let round = 0; round < options.rounds; round += 1) {
    await house.stop();
    emptyMs.push(await emptyStart());
    house = await npm();
    seconds.push(house.startMs / 1000);
  }
  await sleep(options.restMs);
  return {
    house,
    figures: [startFigure(seconds, first.startMs, spreadOf(emptyMs).median), restFigure(house, options)],
  };
}

/** What npm and Node take by themselves, to run nothing. */
async function emptyStart(): Promise<number> {
  const began = nowMs();
  await runProgram(['npm', 'exec', '--silent', '--', 'node', '-e', '0'], { cwd: root });
  return nowMs() - began;
}

function startFigure(seconds: number[], firstMs: number, emptyMs: number): Figure {
  return {
    name: '`npm start` to ready, second start',
    against: '–',
    value: spreadOf(seconds),
    unit: 's',
    target: null,
    amounts: `the first start, which makes the database, ${(firstMs / 1000).toFixed(1)} s`,
    limit: `npm and Node with nothing to run take ${(emptyMs / 1000).toFixed(2)} s of it`,
  };
}

function restFigure(house: House, options: StartOptions): Figure {
  const family = familyOf(house.pid);
  const parts = new Map<string, Memory & { count: number }>();
  for (const pid of family) {
    const name = nameOf(pid);
    const memory = memoryOf(pid);
    const sum = parts.get(name) ?? { rssMib: 0, pssMib: 0, count: 0 };
    parts.set(name, {
      rssMib: sum.rssMib + memory.rssMib,
      pssMib: sum.pssMib + memory.pssMib,
      count: sum.count + 1,
    });
  }
  const pssMib = [...parts.values()].reduce((sum, part) => sum + part.pssMib, 0);
  const listed = [...parts].map(
    ([name, part]) =>
      `${name}${part.count > 1 ? ` (${part.count} processes)` : ''} ${Math.round(part.pssMib)} (RSS ${Math.round(part.rssMib)})`,
  );
  const seconds = options.restMs / 1000;
  return {
    name: 'Memory of the whole product at rest',
    against: '–',
    value: spreadOf([pssMib]),
    unit: 'MiB',
    target: null,
    amounts: `PSS: ${listed.join(', ')}`,
    limit: `${seconds} s after ready; Node's heap and compiled code`,
  };
}

function nameOf(pid: number): string {
  const program = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')[0]?.split('/').at(-1) ?? '';
  return program.startsWith('postgres') ? 'PostgreSQL' : program.split(' ')[0] || 'other';
}

/** Share of one core that a product and its database take over some time, per cent. */
export async function shareOfCore(house: House, ms: number): Promise<{ node: number; database: number }> {
  const read = () => {
    const [node = 0, ...others] = familyOf(house.pid);
    // The server's own count holds what its ended children took.
    return { node: cpuMs(node), database: others.reduce((sum, pid) => sum + cpuMs(pid, true), 0) };
  };
  const before = read();
  const began = nowMs();
  await sleep(ms);
  const after = read();
  const took = nowMs() - began;
  return {
    node: (100 * (after.node - before.node)) / took,
    database: (100 * (after.database - before.database)) / took,
  };
}
