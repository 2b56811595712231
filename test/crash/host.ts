import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { prepareDataDir } from '../../src/platform/host/dataDir.ts';
import { runAsRoot } from '../../src/platform/host/program.ts';
import { signalIfThere } from '../signal.ts';
import { sql } from '../sql.ts';
import type { World } from './world.ts';

/** A bridge of the world's own: everything that belongs to it carries its name. */
export function bridgeOf(seed: string): string {
  return `ik${createHash('sha256').update(seed).digest('hex').slice(0, 6)}`;
}

/**
 * Holds what a real host has of machines against what the database says it should have: one folder with its disk,
 * one QEMU process, one tap and its chains of packet rules for each machine, and nothing else.
 */
export async function auditHost(world: World, bridge: string): Promise<string[]> {
  const wanted = (
    await sql<{ id: string }>(world, `select 'vps-' || service_id as id from machines order by 1`)
  ).map((row) => row.id);
  const place = await prepareDataDir(world.dataDir);
  const folder = path.join(place.dir, 'hypervisor/machines');
  const folders = existsSync(folder) ? readdirSync(folder).sort() : [];
  const taps = await tapsOf(bridge);
  const found: string[] = [];
  const same = (what: string, there: string[]) => {
    if (JSON.stringify(there) !== JSON.stringify(wanted))
      found.push(`${what}: ${there} instead of ${wanted}`);
  };
  same('folders', folders);
  same('processes', processesOf(place.runDir));
  for (const id of folders) {
    if (!existsSync(path.join(folder, id, 'disk.qcow2'))) found.push(`${id} has no disk`);
  }
  if (taps.length !== wanted.length) found.push(`${taps.length} taps for ${wanted.length} machines`);
  // What a tap may say, and how fast: both, for each tap that there is and for no other.
  for (const family of ['bridge', 'netdev'] as const) {
    const chains = await chainsOf(bridge, family);
    if (JSON.stringify(chains) !== JSON.stringify([...taps].sort()))
      found.push(`chains of rules (${family}) for ${chains} instead of ${taps}`);
  }
  return found;
}

/** The QEMU of a machine; null when none runs. */
export async function processId(world: World, id: string): Promise<number | null> {
  const { runDir } = await prepareDataDir(world.dataDir);
  return machinesIn(runDir).find((each) => each.id === id)?.pid ?? null;
}

function processesOf(runDir: string): string[] {
  return machinesIn(runDir)
    .map(({ id }) => id)
    .sort();
}

/** Machines whose QEMU runs, by the folder of sockets that it was told. */
function machinesIn(runDir: string): { id: string; pid: number }[] {
  return readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid) || !existsSync(`/proc/${pid}/cmdline`)) return [];
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0');
      if (!command[0]?.includes('qemu-system')) return [];
      const pidFile = command[command.indexOf('-pidfile') + 1] ?? '';
      return pidFile.startsWith(`${runDir}/`)
        ? [{ id: path.basename(path.dirname(pidFile)), pid: Number(pid) }]
        : [];
    } catch {
      return []; // it ended while we looked
    }
  });
}

async function tapsOf(bridge: string): Promise<string[]> {
  const { stdout } = await runAsRoot(['ip', '-j', 'link', 'show', 'master', bridge]);
  return (JSON.parse(stdout || '[]') as { ifname?: string }[]).flatMap(({ ifname }) => ifname ?? []);
}

/** Chains that are there for all machines together. */
const shared = ['from_guests', 'to_world', 'to_host', 'onward'];

/** The chains of rules for single taps, by the family of the table that they stand in. */
async function chainsOf(bridge: string, family: 'bridge' | 'netdev'): Promise<string[]> {
  const { stdout } = await runAsRoot(['nft', '-j', 'list', 'ruleset']);
  const { nftables } = JSON.parse(stdout) as {
    nftables: { chain?: { name: string; table: string; family: string } }[];
  };
  return nftables
    .flatMap(({ chain }) => (chain?.family === family && chain.table.includes(bridge) ? [chain.name] : []))
    .filter((name) => !shared.includes(name))
    .sort();
}

/** Takes away what the world's product would leave running, as it should. */
export async function endMachines(world: World, bridge: string): Promise<void> {
  const { runDir } = await prepareDataDir(world.dataDir);
  for (const { pid } of machinesIn(runDir)) signalIfThere(pid, 'SIGKILL');
  for (const link of [...(await tapsOf(bridge)), bridge]) await runAsRoot(['ip', 'link', 'delete', link]);
}
