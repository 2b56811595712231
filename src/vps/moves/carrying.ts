import type { Cluster, Hypervisor, MachineSpec } from '../../drivers/hypervisor/index.ts';
import type { Run } from '../../platform/index.ts';
import { findMachine, specOf } from '../machine.ts';
import type { MovePayload } from './next.ts';
import { never, notWanted, stated } from './turn.ts';

/** What the steps of a move into a cluster find out, each for those after it. */
export interface IntoClusterState {
  /** The host of ours that it is on, and the member that it goes to. */
  from: number;
  to: number;
  member: string;
  clusterId: number;
  /** What engines call it here and there. */
  old: string;
  anew: string;
  incarnation: number;
  wasRunning: boolean;
  /** Whether its guest answered on SSH before: then it has to answer there as well. */
  answered: boolean;
  /** It was started there and has not answered, although it did before. */
  isLate: boolean;
  /** It was started there and went down, or could not be started once more. */
  hasDied: boolean;
  /** Since when it is off for it, as ISO 8601. */
  offAt: string;
}

export type IntoClusterRun = Run<MovePayload, IntoClusterState>;

export function ownDriver(run: IntoClusterRun): Hypervisor {
  return run.drivers.hypervisor(stated(run.state.from));
}

export function clusterOf(run: IntoClusterRun, clusterId: number): Cluster {
  return run.drivers.clusters.of(clusterId);
}

/** What carries a machine over. */
export interface Parts {
  driver: Hypervisor;
  cluster: Cluster;
  member: string;
}

export function parts(run: IntoClusterRun): Parts {
  const { clusterId, member } = run.state;
  return { driver: ownDriver(run), cluster: clusterOf(run, stated(clusterId)), member: stated(member) };
}

export async function specHere({ ctx, payload }: IntoClusterRun): Promise<MachineSpec> {
  const machine = await findMachine(ctx, payload.serviceId);
  if (machine === null) throw never(notWanted, 'The machine is gone');
  return specOf(ctx, machine);
}

export async function specThere(run: IntoClusterRun): Promise<MachineSpec> {
  return { ...(await specHere(run)), id: stated(run.state.anew) };
}
