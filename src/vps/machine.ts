import type { MachineSpec } from '../drivers/hypervisor/index.ts';
import { type Address, listAddresses } from '../fleet/index.ts';
import { type Context, statement } from '../platform/index.ts';
import type { MachineState } from './states.ts';

export interface MachineRow {
  service_id: number;
  organization_id: number;
  node_id: number;
  image: string;
  hostname: string;
  cpu_cores: number;
  memory_mib: number;
  disk_gib: number;
  port_mbps: number;
  mac: string;
  wanted: 'running' | 'stopped';
  state: MachineState;
  repairs: number;
  repaired_at: Date | null;
  boot: 'disk' | 'network';
  rescue: boolean;
  in_rescue: boolean;
  nameservers: string[];
  /** How often it was made anew on another node, from one on. */
  incarnation: number;
}

/** What a {@link MachineRow} has, of the table `machines m`. */
export const machineColumns = `m.service_id, m.organization_id, m.node_id, m.image, m.hostname, m.cpu_cores, m.memory_mib,
  m.disk_gib, m.port_mbps, m.mac::text as mac, m.wanted, m.state, m.repairs, m.repaired_at, m.boot, m.rescue, m.in_rescue, m.incarnation,
  array(select host(n) from unnest(m.nameservers) n) as nameservers`;

const machineById = statement<MachineRow, { serviceId: number }>(
  'vps.machine',
  `select ${machineColumns} from machines m where m.service_id = :serviceId`,
);
const insertMachine = statement<
  never,
  {
    serviceId: number;
    organizationId: number;
    nodeId: number;
    image: string;
    hostname: string;
    cpuCores: number;
    memoryMib: number;
    diskGib: number;
    portMbps: number;
    mac: string;
    nameservers: string[];
    now: Date;
  }
>(
  'vps.insertMachine',
  `insert into machines (service_id, organization_id, node_id, image, hostname, cpu_cores, memory_mib, disk_gib,
     port_mbps, mac, nameservers, wanted, state, created_at)
   values (:serviceId, :organizationId, :nodeId, :image, :hostname, :cpuCores, :memoryMib, :diskGib, :portMbps,
     :mac, :nameservers, 'running', 'creating', :now) on conflict (service_id) do nothing`,
);
const deleteMachine = statement<never, { serviceId: number }>(
  'vps.deleteMachine',
  'delete from machines where service_id = :serviceId',
);
const setState = statement<
  never,
  { serviceId: number; state: MachineState; wanted: 'running' | 'stopped' | null; startedAt: Date | null }
>(
  'vps.setState',
  `update machines set state = :state, wanted = coalesce(:wanted, wanted), button = null, pressed_at = null,
     host_failures = case when :state in ('stopped', 'suspended') or :startedAt::timestamptz is not null then 0
       else host_failures end,
     retry_at = case when :state in ('stopped', 'suspended') or :startedAt::timestamptz is not null then null
       else retry_at end,
     started_at = case when :state = 'running' then coalesce(:startedAt, started_at)
       when :state in ('stopped', 'suspended') then null
                       else started_at end
   where service_id = :serviceId`,
);

const setStartedFrom = statement<never, { serviceId: number; inRescue: boolean }>(
  'vps.setStartedFrom',
  'update machines set in_rescue = :inRescue where service_id = :serviceId',
);
const setButton = statement<never, { serviceId: number; button: Button; now: Date }>(
  'vps.setButton',
  'update machines set button = :button, pressed_at = :now where service_id = :serviceId',
);

/** What a guest was asked for when its power button was pressed. */
export type Button = 'stop' | 'restart';

/** A guest that ignored its button may still go down for it. For so long it is held to be that, and not its own wish. */
export const buttonCountsMs = 10 * 60_000;

/**
 * Name of a service's machine towards the hypervisor. One that was made anew elsewhere has another, so that what a lost node has of it is never
 * taken for it.
 */
export function machineIdOf(serviceId: number, incarnation = 1): string {
  return incarnation === 1 ? `vps-${serviceId}` : `vps-${serviceId}-${incarnation}`;
}

/** The service behind a machine's name, and which incarnation of its machine that is; null when it is none of ours. */
export function machineNamed(machineId: string): { serviceId: number; incarnation: number } | null {
  const match = /^vps-(\d+)(?:-([1-9]\d{0,5}))?$/.exec(machineId);
  return match ? { serviceId: Number(match[1]), incarnation: Number(match[2] ?? 1) } : null;
}

/** In SQL: the incarnation in what engines call a machine of ours. */
export function incarnationOf(machine: string): string {
  return `coalesce(substring(${machine} from '^vps-[0-9]+-([1-9][0-9]{0,5})$')::int, 1)`;
}

/** The service behind a machine's name; null when it is none of ours. */
export function serviceIdOf(machineId: string): number | null {
  return machineNamed(machineId)?.serviceId ?? null;
}

export function findMachine(ctx: Context, serviceId: number): Promise<MachineRow | null> {
  return ctx.db.maybe(machineById, { serviceId });
}

export async function writeMachine(
  ctx: Context,
  machine: Omit<
    MachineRow,
    | 'wanted'
    | 'state'
    | 'repairs'
    | 'repaired_at'
    | 'boot'
    | 'rescue'
    | 'in_rescue'
    | 'nameservers'
    | 'incarnation'
  >,
) {
  await ctx.db.run(insertMachine, {
    serviceId: machine.service_id,
    organizationId: machine.organization_id,
    nodeId: machine.node_id,
    image: machine.image,
    hostname: machine.hostname,
    cpuCores: machine.cpu_cores,
    memoryMib: machine.memory_mib,
    diskGib: machine.disk_gib,
    portMbps: machine.port_mbps,
    mac: machine.mac,
    nameservers: ctx.config.nameservers,
    now: ctx.clock.now(),
  });
}

export async function removeMachine(ctx: Context, serviceId: number): Promise<void> {
  await ctx.db.run(deleteMachine, { serviceId });
}

/** Writes what a machine is, and what it is to be when `wanted` is given. */
export async function setMachineState(
  ctx: Context,
  serviceId: number,
  state: MachineState,
  options: { wanted?: 'running' | 'stopped'; startedAt?: Date | null } = {},
): Promise<void> {
  await ctx.db.run(setState, {
    serviceId,
    state,
    wanted: options.wanted ?? null,
    startedAt: options.startedAt ?? null,
  });
}

/** Writes down which system a start brings up: the machine's own, or the rescue system. */
export async function writeStartedFrom(ctx: Context, serviceId: number, inRescue: boolean): Promise<void> {
  await ctx.db.run(setStartedFrom, { serviceId, inRescue });
}

/** Remembers what a guest was asked for that has not gone down in time; see {@link buttonCountsMs}. */
export async function rememberButton(ctx: Context, serviceId: number, button: Button): Promise<void> {
  await ctx.db.run(setButton, { serviceId, button, now: ctx.clock.now() });
}

/** What the hypervisor is told of a machine, each time anew. */
export async function specOf(ctx: Context, machine: MachineRow): Promise<MachineSpec> {
  const addresses = await listAddresses(ctx, machine.service_id);
  return {
    id: machineIdOf(machine.service_id, machine.incarnation),
    cpuCores: machine.cpu_cores,
    memoryMib: machine.memory_mib,
    diskGib: machine.disk_gib,
    image: machine.image,
    boot: machine.rescue ? 'rescue' : machine.boot,
    nic: { mac: machine.mac, portMbps: machine.port_mbps, addresses: addresses.map(asNicAddress) },
  };
}

function asNicAddress({ family, address, prefix, gateway }: Address) {
  return { family, address, prefix, gateway };
}
