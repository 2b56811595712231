import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { runAsRoot, runProgram } from '../../../platform/host/program.ts';
import type { Elsewhere } from '../elsewhere.ts';
import { processesIn, readPlan, removeNetwork } from './network.ts';
import type { Plan } from './plan.ts';

/** A rack takes the power of its servers in less. */
const endsWithinMs = 15_000;

/** The plan of the rack that was once opened in a folder; null: none ever was. */
export function planLeft(dir: string): Plan | null {
  return existsSync(join(dir, 'network.json')) ? readPlan(dir) : null;
}

/** Whether its namespace is there: it stands in it, whatever else was killed. */
export function hasLeft({ namespace }: Plan): boolean {
  return existsSync(join('/run/netns', namespace));
}

/** Ends what has its power, its servers and BMCs, and takes its network away: of one that runs, and of one of which some was killed. */
export async function endOf(plan: Plan, rack: Elsewhere): Promise<void> {
  // Who cannot be told is asked by signal. Servers are not: theirs takes their power without a word to their systems.
  if (!(await rack.end())) {
    const pids = (await processesIn(plan.namespace)).filter((pid) => !isServer(pid));
    if (pids.length > 0) await runAsRoot(['kill', '-TERM', ...pids.map(String)]).catch(() => undefined); // some have ended meanwhile
    if (pids.length === 0) return removeNetwork(plan);
  }
  await until(async () => (await processesIn(plan.namespace)).length === 0);
  await removeNetwork(plan);
}

/** Waits for one that is ending: its last act is to end all that runs in its namespace. */
export async function untilEnded(plan: Plan, rack: Elsewhere): Promise<void> {
  const pid = rack.place()?.pid;
  if (pid !== undefined) await until(async () => !(await processesIn(plan.namespace)).includes(pid));
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (const end = performance.now() + endsWithinMs; performance.now() < end; await delay(100))
    if (await isSo()) return;
}

/** Whether a process is one of the servers. */
export function isServer(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').startsWith('qemu-system');
  } catch {
    return false; // it has ended
  }
}

/** What gave its servers their addresses is the product's, stands outside, and goes on where that was killed. As root, of the folder of a rack. */
export function endAddresses(dir: string): void {
  try {
    const pid = Number.parseInt(readFileSync(join(dir, '../servers/network/pid'), 'utf8'), 10);
    // Its number may be another's by now.
    if (readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(join(dir, '../servers/network')))
      process.kill(pid);
  } catch {
    // it has ended, or never was
  }
}

/** Of whom stands in it and is the last one there, as root: the cables go with their ends, and the name is free. */
export async function leaveNetwork({ namespace }: Plan): Promise<void> {
  for (const link of ['uplink', 'mgmt']) await runProgram(['ip', 'link', 'delete', link]);
  await runProgram(['ip', 'netns', 'delete', namespace]);
}
