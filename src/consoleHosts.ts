import { again } from './again.ts';
import { type ConsoleRoom, findConsoleHosts, type OpenForOthers, type ownAddress } from './consoles/index.ts';
import { rentedConsoles } from './dedicated/index.ts';
import { type Hypervisor, HypervisorError, type HypervisorOf } from './drivers/hypervisor/index.ts';
import { openServerLine, serverConsoles, serverLineElsewhere, serversToOthers } from './fleet/index.ts';
import type { Context, Drivers } from './platform/index.ts';
import { hypervisorElsewhere, machineConsoles, machinesToOthers } from './vps/index.ts';

const followEveryMs = 5_000;

/**
 * Has a process without machines of its own reach consoles and screens of those of our hosts, through the processes that run them. Its
 * drivers have a hypervisor for as long as there is such a host, or a cluster.
 */
export function followConsoleHosts(ctx: Context, drivers: Partial<Drivers>): { stop(): Promise<void> } {
  let hosts = new Map<number, Hypervisor>();
  const before = Object.getOwnPropertyDescriptor(drivers, 'hypervisor');
  const ofClusters = () => (before?.get?.() ?? before?.value) as HypervisorOf | undefined;
  const get = (): HypervisorOf | undefined => {
    const others = ofClusters();
    if (hosts.size === 0) return others;
    return (nodeId) => hosts.get(nodeId) ?? (others ?? noHypervisor)(nodeId);
  };
  Object.defineProperty(drivers, 'hypervisor', { get, enumerable: true });
  return again(ctx, 'processes that show machines could not be read', followEveryMs, async () => {
    hosts = new Map(
      (await findConsoleHosts(ctx)).map((host) => [host.node_id, hypervisorElsewhere(ctx, host)]),
    );
  });
}

/** Of a process that runs no machines and reaches none. */
export function noHypervisor(nodeId: number): never {
  throw new HypervisorError('host_not_ready', `node ${nodeId} is not run by this process`);
}

/** Every room that has consoles, as this process reaches what they show; and what of it other processes are shown. */
export function consolesOf(
  ctx: Context,
  server: Parameters<typeof ownAddress>[1],
  hypervisorOf: HypervisorOf,
  { bmc }: Partial<Drivers>,
): { rooms: ConsoleRoom[]; forOthers: OpenForOthers } {
  const machines = machineConsoles(ctx, server, hypervisorOf);
  // BMCs are on a network of their own, which those processes reach that do the jobs.
  const isNear = ctx.config.role !== 'api' && bmc !== undefined;
  const openServer = isNear ? openServerLine(ctx, bmc) : serverLineElsewhere(ctx);
  const toOthers = isNear ? serversToOthers(openServer) : () => null;
  return {
    rooms: [machines.room, rentedConsoles(ctx, openServer), serverConsoles(ctx, openServer)],
    forOthers: (wanted) => machines.forOthers(wanted) ?? toOthers(wanted),
  };
}

/** The same of a worker without an API. */
export function shownToOthers(
  ctx: Context,
  { bmc, hypervisor }: Pick<Drivers, 'bmc' | 'hypervisor'>,
): OpenForOthers {
  const machines = machinesToOthers(hypervisor);
  const servers = serversToOthers(openServerLine(ctx, bmc));
  return (wanted) => machines(wanted) ?? servers(wanted);
}
