import { setTimeout as delay } from 'node:timers/promises';
import { findConsoleHosts } from '../../consoles/index.ts';
import type { HypervisorOf, PowerState } from '../../drivers/hypervisor/index.ts';
import { type Context, causesOf, statement } from '../../platform/index.ts';
import { hypervisorElsewhere } from '../console/lines/elsewhere.ts';
import { machineIdOf, machineNamed } from '../machine.ts';

/** Another copy of a machine than the one that is to be adopted. */
export interface Copy {
  /** What its engine calls it. */
  machine: string;
  node_id: number;
  node: string;
}

/** The same with what its engine says of it just now; `unknown`: nobody can say. */
export interface SeenCopy extends Copy {
  power: PowerState;
}

/** What staff waits for, of each engine. */
const answerWithinMs = 5_000;

const copies = statement<
  { incarnation: number | null; machine: string | null; node_id: number; node: string },
  { serviceId: number; id: number }
>(
  'vps.copiesBesideAdopted',
  `select m.incarnation, null::text as machine, n.id as node_id, n.name as node
   from machines m join nodes n on n.id = m.node_id where m.service_id = :serviceId
   union all
   select null::int, u.machine, n.id, n.name from vps_unknown_machines u join nodes n on n.id = u.node_id
   where u.service_id = :serviceId and u.id <> :id
   order by node_id, machine nulls first`,
);

/** All that may be running of the service of an unknown machine beside it: what the database takes for its machine, and what else nodes were found to have. */
export async function copiesBeside(
  ctx: Context,
  { id, machine }: { id: number; machine: string },
): Promise<Copy[]> {
  const serviceId = machineNamed(machine)?.serviceId;
  if (serviceId === undefined) return [];
  return (await ctx.db.many(copies, { serviceId, id })).map(({ incarnation, ...row }) => ({
    ...{ node_id: row.node_id, node: row.node },
    machine: row.machine ?? machineIdOf(serviceId, incarnation ?? 1),
  }));
}

/**
 * Asks the engines how these are: the database may be older than what it says of them. In seconds, and holding nothing. A host of ours that another
 * process runs is asked through that one.
 */
export async function lookAt(
  ctx: Context,
  wanted: readonly Copy[],
  hypervisorOf: HypervisorOf,
): Promise<SeenCopy[]> {
  const hosts = new Map((await findConsoleHosts(ctx)).map((host) => [host.node_id, host]));
  const at: HypervisorOf = (nodeId) => {
    try {
      return hypervisorOf(nodeId);
    } catch (error) {
      const host = hosts.get(nodeId);
      if (host === undefined) throw error;
      return hypervisorElsewhere(ctx, host);
    }
  };
  return Promise.all(wanted.map(async (copy) => ({ ...copy, power: await powerOf(ctx, copy, at) })));
}

async function powerOf(ctx: Context, copy: Copy, at: HypervisorOf): Promise<PowerState> {
  const over = new AbortController();
  const said = (async () => (await at(copy.node_id).inspect(copy.machine)).power)().catch((error: Error) => {
    const { node, machine } = copy;
    ctx.log.info({ node, machine, err: causesOf(error) }, 'an engine does not say how a machine is');
    return 'unknown' as const;
  });
  const late = delay(answerWithinMs, 'unknown' as const, { signal: over.signal }).catch(
    () => 'unknown' as const,
  );
  return Promise.race([said, late]).finally(() => over.abort());
}

/** What has to be typed before something is adopted beside these: the names of the nodes that cannot say; null: nothing. */
export function toConfirm(seen: readonly SeenCopy[]): string | null {
  const silent = new Set(seen.filter(({ power }) => power === 'unknown').map(({ node }) => node));
  return silent.size === 0 ? null : [...silent].join(', ');
}

export function isSame(one: Copy, other: Copy): boolean {
  return one.machine === other.machine && one.node_id === other.node_id;
}
