import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runProgram } from '../../../platform/host/program.ts';
import type { Log } from '../log.ts';
import { controlGroups } from './controlGroups.ts';
import { type Groups, limitsOf } from './limits.ts';
import { runningSize } from './resize.ts';
import { systemdScopes } from './systemdScopes.ts';

/** What machines get of their host at most, and how they share when there is not enough: control groups of the kernel. */
export interface MachineShares {
  /** Finds out how groups are made here, and makes what all machines are in; a host without is told of once. */
  prepare(installation: string): Promise<void>;
  /** Puts a machine's process under its limits. Again: they are set anew. */
  take(id: string, pid: number): Promise<void>;
  /** Takes away what is left of a machine that has no process any more. */
  giveBack(id: string): Promise<void>;
}

/** What a host tells of its control groups; tests have their own. */
export interface ShareHost {
  mounts: string;
  /** There where systemd runs the host (sd_booted(3)). */
  systemd: string;
  isRoot: boolean;
  run: typeof runProgram;
}

const thisHost: ShareHost = {
  mounts: '/proc/self/mountinfo',
  systemd: '/run/systemd/system',
  isRoot: process.getuid?.() === 0,
  run: runProgram,
};

/**
 * Groups for the machines of one installation. Under systemd each is a scope, which outlives the product's unit as the
 * machine does; elsewhere root makes folders in the kernel's tree. Only version 2, which Debian 12 has. A host without
 * runs its machines all the same.
 */
export function machineShares(log: Log, host: ShareHost = thisHost): MachineShares {
  let groups: Groups | null = null;

  return {
    async prepare(installation) {
      try {
        const found = await findGroups(`innkeeper-${installation.slice(0, 8)}`, host);
        await found.prepare();
        groups = found;
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        log.warn({ reason }, 'Machines do not share their host fairly: it has no control groups for them');
      }
    },
    async take(id, pid) {
      const size = groups && (await runningSize(pid));
      if (!groups || !size) return;
      await groups.take(id, pid, limitsOf(size)).catch(async (error) => {
        if ((await runningSize(pid)) === null) return; // it has ended meanwhile
        log.warn({ machine: id, error }, 'The machine runs without limits: its control group cannot be made');
      });
    },
    giveBack: async (id) => groups?.giveBack(id),
  };
}

async function findGroups(name: string, { mounts, systemd, isRoot, run }: ShareHost): Promise<Groups> {
  if (!isRoot) throw new Error('the product was not started as root');
  const root = rootOf(await readFile(mounts, 'utf8'));
  const offered = root && (await readFile(join(root, 'cgroup.controllers'), 'utf8').catch(() => null));
  const controllers = (offered ?? '').trim().split(/\s+/);
  if (!root || !controllers.includes('cpu') || !controllers.includes('memory'))
    throw new Error('its kernel has no processors and memory in control groups of version 2 (cgroup2)');
  const isSystemd = await access(systemd).then(
    () => true,
    () => false,
  );
  return isSystemd ? systemdScopes(name, run) : controlGroups(root, name, controllers);
}

/** proc(5): `… <mount point> <options> [fields] - <type> <source> <super options>`. */
function rootOf(mounts: string): string | undefined {
  const line = mounts.split('\n').find((each) => each.split(' - ')[1]?.startsWith('cgroup2 '));
  return line?.split(' ')[4];
}
