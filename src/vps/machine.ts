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
  nameservers: string[];
}

const columns = `service_id, organization_id, node_id, image, hostname, cpu_cores, memory_mib, disk_gib, port_mbps,
  mac::text as mac, wanted, state, repairs, repaired_at, boot, rescue,
  array(select host(n) from unnest(nameservers) n) as nameservers`;

const machineById = statement<MachineRow>(
  'vps.machine',
  `select ${columns} from machines where service_id = $1`,
);
const insertMachine = statement(
  'vps.insertMachine',
  `insert into machines (service_id, organization_id, node_id, image, hostname, cpu_cores, memory_mib, disk_gib,
     port_mbps, mac, wanted, state, created_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 'running', 'creating', $11) on conflict (service_id) do nothing`,
);
const deleteMachine = statement('vps.deleteMachine', 'delete from machines where service_id = $1');
const setState = statement(
  'vps.setState',
  `update machines set state = $2, wanted = coalesce($3, wanted),
     started_at = case when $2 = 'running' then coalesce($4, started_at) when $2 = 'stopped' then null
                       else started_at end
   where service_id = $1`,
);

/** Name of a service's machine towards the hypervisor. */
export function machineIdOf(serviceId: number): string {
  return `vps-${serviceId}`;
}

/** The service behind a machine's name; null when it is none of ours. */
export function serviceIdOf(machineId: string): number | null {
  const match = /^vps-(\d+)$/.exec(machineId);
  return match ? Number(match[1]) : null;
}

export function findMachine(ctx: Context, serviceId: number): Promise<MachineRow | null> {
  return ctx.db.maybe(machineById, serviceId);
}

export async function writeMachine(
  ctx: Context,
  machine: Omit<
    MachineRow,
    'wanted' | 'state' | 'repairs' | 'repaired_at' | 'boot' | 'rescue' | 'nameservers'
  >,
) {
  await ctx.db.run(
    insertMachine,
    machine.service_id,
    machine.organization_id,
    machine.node_id,
    machine.image,
    machine.hostname,
    machine.cpu_cores,
    machine.memory_mib,
    machine.disk_gib,
    machine.port_mbps,
    machine.mac,
    ctx.clock.now(),
  );
}

export async function removeMachine(ctx: Context, serviceId: number): Promise<void> {
  await ctx.db.run(deleteMachine, serviceId);
}

/** Writes what a machine is, and what it is to be when `wanted` is given. */
export async function setMachineState(
  ctx: Context,
  serviceId: number,
  state: MachineState,
  options: { wanted?: 'running' | 'stopped'; startedAt?: Date | null } = {},
): Promise<void> {
  await ctx.db.run(setState, serviceId, state, options.wanted ?? null, options.startedAt ?? null);
}

/** What the hypervisor is told of a machine, each time anew. */
export async function specOf(ctx: Context, machine: MachineRow): Promise<MachineSpec> {
  const addresses = await listAddresses(ctx, machine.service_id);
  return {
    id: machineIdOf(machine.service_id),
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
