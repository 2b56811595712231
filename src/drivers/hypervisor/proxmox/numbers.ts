import { createHash } from 'node:crypto';
import { HypervisorError, type MachineId } from '../contract.ts';
import type { ProxmoxClient } from './client.ts';
import type { Overview } from './cluster.ts';
import { ProxmoxRefusal } from './failure.ts';
import type { ProxmoxOptions } from './options.ts';

/** A crowded range is not searched for ever: so many numbers are asked for one by one, and only those that nobody is seen to have. */
const mostAsked = 64;

export interface Found {
  vmid: number;
  /** Numbers on the way that somebody has whom we are not shown: another's machine, or one of ours that is just being made. */
  hidden: number[];
}

/**
 * A number for a new machine: where its id falls in our range, or the next that nobody has. So a process that makes the same machine at
 * the same time takes the same one, and only one of both gets it. Which number a machine has says the machine.
 */
export async function freeNumber(
  { vmids: { first, last } }: ProxmoxOptions,
  client: ProxmoxClient,
  { ours, others }: Overview,
  id: MachineId,
): Promise<Found> {
  const taken = new Set([...ours, ...others].map(({ vmid }) => vmid));
  const size = last - first + 1;
  const begin = createHash('sha256').update(id).digest().readUInt32BE() % size;
  const hidden: number[] = [];
  for (let nth = 0; nth < size && hidden.length < mostAsked; nth += 1) {
    const vmid = first + ((begin + nth) % size);
    if (taken.has(vmid)) continue;
    if (await isFree(client, vmid)) return { vmid, hidden };
    hidden.push(vmid);
  }
  const foreign = others.filter(({ vmid }) => vmid >= first && vmid <= last).length;
  const theirs = foreign > 0 ? `, and ${foreign} of them have machines that are not ours` : '';
  throw new HypervisorError('no_space', `no number from ${first} to ${last} is free${theirs}`);
}

/** Also of machines that we are not shown. */
async function isFree(client: ProxmoxClient, vmid: number): Promise<boolean> {
  return client.read('/cluster/nextid', { vmid }).then(
    () => true,
    (error: unknown) => {
      if (error instanceof ProxmoxRefusal && error.status === 400) return false;
      throw error;
    },
  );
}
