import { setTimeout as delay } from 'node:timers/promises';
import { HypervisorError, type MachineId } from '../contract.ts';
import type { Parameters, ProxmoxClient } from './client.ts';
import type { ClusterFacts, Place } from './cluster.ts';
import { ProxmoxRefusal } from './failure.ts';

/** Nodes may tell one another a moment later than one of them knows. */
const mostLooks = 4;
const lookAgainMs = 250;

/** What stands below the path of a machine that was listed; `machine_absent` when it went away since. */
export type ReadListed = (place: Place, path: string, query?: Parameters) => Promise<unknown>;

/**
 * A machine that is not there is in no pool, so what it is asked is refused as if we had no right to it. Only the list tells the two
 * apart: gone from it, it is not there; still on it, the refusal is meant.
 */
export function readerOfListed(client: ProxmoxClient, cluster: ClusterFacts): ReadListed {
  return async (place, path, query) => {
    for (let looks = 1; ; looks += 1) {
      try {
        return await client.read(`${machinePath(place)}/${path}`, query);
      } catch (error) {
        if (!(error instanceof ProxmoxRefusal) || !error.mayBeOfNoMachine) throw error;
        const { ours } = await cluster.overview();
        if (!ours.some(({ id, vmid }) => id === place.id && vmid === place.vmid)) throw absent(place.id);
        if (looks === mostLooks) throw error;
        await delay(lookAgainMs);
      }
    }
  };
}

export function machinePath({ node, vmid }: { node: string; vmid: number }): string {
  return `/nodes/${node}/qemu/${vmid}`;
}

export function absent(id: MachineId): HypervisorError {
  return new HypervisorError('machine_absent', `no machine ${id} in this cluster, or not all of it`, {
    permanent: true,
  });
}

export function isAbsence(error: unknown): boolean {
  return error instanceof HypervisorError && error.code === 'machine_absent';
}
