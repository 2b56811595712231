import type { HypervisorCapability } from '../../drivers/hypervisor/index.ts';
import { type Destination, findDestination, withRoomIn } from '../../fleet/index.ts';
import { type Context, fail, requireRow, statement } from '../../platform/index.ts';
import { isFiltered } from '../../shield/index.ts';
import type { MachineState } from '../states.ts';
import { movable } from './turn.ts';

/** A machine of a host of our own that may go into a cluster. */
export interface Departing {
  service_id: number;
  organization_id: number;
  user_id: number;
  service_status: string;
  node_id: number;
  hostname: string;
  state: MachineState;
  wanted: 'running' | 'stopped';
  image: string;
  boot: 'disk' | 'network';
  is_rescued: boolean;
  incarnation: number;
  /** Of its service's disk, and ready backups of it. */
  snapshots: number;
  backups: number;
}

const departing = `
  select m.service_id, m.organization_id, s.user_id, s.status as service_status, m.node_id, m.hostname, m.state, m.wanted, m.image,
    m.boot, m.rescue or m.in_rescue as is_rescued, m.incarnation,
    (select count(*)::int from vps_snapshots c where c.service_id = m.service_id and c.kind = 'snapshot') as snapshots,
    (select count(*)::int from vps_snapshots c where c.service_id = m.service_id and c.kind = 'backup' and c.state = 'ready') as backups
  from machines m join services s on s.id = m.service_id`;
export const departingFrom = statement<Departing, { nodeId: number }>(
  'vps.departingFrom',
  `${departing} where m.node_id = :nodeId order by m.service_id`,
);
export const departingMachine = statement<Departing, { serviceId: number }>(
  'vps.departingMachine',
  `${departing} where m.service_id = :serviceId`,
);

export interface OwnHost {
  id: number;
  name: string;
  location: string;
  cluster_id: number | null;
  answers: boolean;
  capabilities: HypervisorCapability[] | null;
}
export const ownHost = statement<OwnHost, { id: number }>(
  'vps.hostToDepartFrom',
  `select id, name, location, cluster_id, reachable and left_at is null as answers, to_jsonb(capabilities) as capabilities
   from nodes where id = :id`,
);

/** Why nothing of a host goes into a cluster, a whole sentence without the full stop; null: it may. */
export function whyNot(host: OwnHost, to: Destination): string | null {
  if (host.cluster_id !== null)
    return `${host.name} is a member of a cluster, whose machines go to its other members: leave cluster_id out`;
  if (!host.answers) return `${host.name} does not answer, so its machines cannot move`;
  if (host.location !== to.location)
    return `${to.name} is in ${to.location}, and the addresses of machines of ${host.name} are reached in ${host.location}`;
  return to.takes ? null : `No member of ${to.name} that answers takes new machines now`;
}

/** Why a machine does not go into a cluster, a sentence without the full stop; null: it goes. */
export function reasonAgainst(machine: Departing, to: Destination): string | null {
  const { service_status: status, state, boot, image } = machine;
  if (status !== 'active' && status !== 'suspended') return `Its service is ${status}`;
  if (!movable.includes(state)) return `The machine is ${state}`;
  if (machine.is_rescued && !to.capabilities.includes('rescue'))
    return `It starts from the rescue system, which ${to.name} does not have`;
  if (boot === 'network' && !to.capabilities.includes('netboot'))
    return `It starts from the network, which ${to.name} has no machine do`;
  if (!to.images.includes(image)) return `${to.name} does not have its operating system ${image}`;
  return null;
}

export const noRoomIn = (to: Destination) => `No member of ${to.name} that takes machines has room for it`;

export interface Copies {
  snapshots: number;
  backups: number;
}

/** Copies of a machine that are lost on its way: snapshots are layers of a disk that stays behind, and not every cluster keeps backups. */
export function copiesLost({ snapshots, backups }: Departing, to: Destination): Copies {
  return { snapshots, backups: to.capabilities.includes('backups') ? 0 : backups };
}

/** Of a machine that would lose copies that staff has not said may go; null: it loses none. */
export function ofCopies(lost: Copies): string | null {
  const count = lost.snapshots + lost.backups;
  if (count === 0) return null;
  return `It has ${inWords(lost)}, which ${count === 1 ? 'is' : 'are'} lost with the disk that stays behind; say drop_copies where it may go without`;
}

function inWords({ snapshots, backups }: Copies): string {
  const counted = (count: number, word: string) =>
    count === 0 ? [] : [`${count} ${count === 1 ? word : `${word}s`}`];
  return [...counted(snapshots, 'snapshot'), ...counted(backups, 'backup')].join(' and ');
}

const missed: Record<HypervisorCapability, string> = {
  snapshots: 'New snapshots',
  backups: 'New backups',
  rescue: 'The rescue system',
  netboot: 'Starting from the network',
  vnc: 'The screen in the browser',
  serial: 'The serial console in the browser',
  guest_agent: 'Changing its password, its keys and its name while it runs',
  live_resize: 'Growing without being switched off',
};

/** What a machine has where it is and will not have in the cluster, in words for staff. */
function losesOf(machine: Departing, host: OwnHost, to: Destination, unfiltered: string[]): string[] {
  const copies = copiesLost(machine, to);
  const lost = (host.capabilities ?? []).filter((each) => !to.capabilities.includes(each));
  const kept = copies.snapshots + copies.backups === 0 ? [] : [`Its ${inWords(copies)}`];
  return [...kept, ...lost.map((each) => missed[each]), ...unfiltered];
}

/** Where Shield filters before the host, and before a member of the cluster does not. */
async function unfilteredIn(ctx: Context, nodeId: number, { id, name }: Destination): Promise<string[]> {
  const isLost = (await isFiltered(ctx, { nodeId })) && !(await isFiltered(ctx, { clusterId: id }));
  return isLost ? [`What Shield filters: no edge stands before all members of ${name}`] : [];
}

/** Says what would become of each machine of a host of ours, were it to go into a cluster; nothing is changed. `not_found`. */
export async function readPlan(ctx: Context, nodeId: number, clusterId: number) {
  const host = await requireRow(ctx, ownHost, { id: nodeId });
  const to = await requireDestination(ctx, clusterId);
  const machines = await ctx.db.many(departingFrom, { nodeId });
  const roomy = await withRoomIn(
    ctx,
    clusterId,
    machines.map((each) => each.service_id),
  );
  const reason = whyNot(host, to);
  const unfiltered = await unfilteredIn(ctx, nodeId, to);
  return {
    plan: {
      ...{ node_id: host.id, name: host.name, cluster_id: to.id, cluster: to.name },
      ...{ possible: reason === null, reason },
      machines: machines.map((machine) => {
        const against = reasonAgainst(machine, to) ?? (roomy.has(machine.service_id) ? null : noRoomIn(to));
        return {
          ...{ service_id: machine.service_id, organization_id: machine.organization_id },
          ...{ hostname: machine.hostname, runs: machine.state === 'running' },
          ...{ possible: reason === null && against === null, reason: against },
          ...{
            snapshots: machine.snapshots,
            backups: machine.backups,
            loses_copies: copiesLost(machine, to),
            loses: losesOf(machine, host, to, unfiltered),
          },
        };
      }),
    },
  };
}

/** `invalid_request`, naming the field, where there is no such cluster. */
export async function requireDestination(ctx: Context, clusterId: number): Promise<Destination> {
  const found = await findDestination(ctx, clusterId);
  if (found !== null) return found;
  throw fail('invalid_request', { details: [{ field: 'cluster_id', message: 'there is no such cluster' }] });
}
