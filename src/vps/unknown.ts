import type { Hypervisor, MachineReport } from '../drivers/hypervisor/index.ts';
import { compareLeftRooms, endAddressesAside, keepAddressesAside } from '../fleet/index.ts';
import { type Context, fail, statement, type TxContext, transaction } from '../platform/index.ts';
import { machineNamed, serviceIdOf } from './machine.ts';

interface UnknownRow {
  id: number;
  machine: string;
  addresses: string[];
}

// One that is being made anew elsewhere is known before it is written down there, and for as long as it goes over what its host has of it; what is
// left somewhere is not, afterwards.
const isStrange = `not exists (select 1 from machines m where m.service_id = t.service_id and (m.incarnation = t.incarnation
     or exists (select 1 from vps_recoveries r where r.service_id = m.service_id and r.state = 'running' and r.incarnation = t.incarnation)
     or exists (select 1 from vps_moves v where v.service_id = m.service_id and v.state = 'moving'
       and t.incarnation <= v.incarnation + 1)))`;
const strangers = statement<
  { machine: string },
  { machines: string[]; serviceIds: (number | null)[]; incarnations: (number | null)[] }
>(
  'vps.strangers',
  `select t.machine from unnest(:machines::text[], :serviceIds::bigint[], :incarnations::int[]) as t (machine, service_id, incarnation)
   where ${isStrange}`,
);
// Both at once: it is asked of every node every few seconds.
const strangersAndListed = statement<
  { machine: string; listed: UnknownRow | null },
  { nodeId: number; machines: string[]; serviceIds: (number | null)[]; incarnations: (number | null)[] }
>(
  'vps.strangersAndListed',
  `select t.machine, null::jsonb as listed from unnest(:machines::text[], :serviceIds::bigint[], :incarnations::int[]) as t (machine, service_id, incarnation)
   where ${isStrange}
   union all
   select machine, jsonb_build_object('id', id, 'machine', machine, 'addresses', array(select host(a) from unnest(addresses) a))
   from vps_unknown_machines where node_id = :nodeId`,
);
const insertUnknown = statement<
  never,
  { nodeId: number; machine: string; serviceId: number | null; addresses: string[]; now: Date }
>(
  'vps.insertUnknown',
  `insert into vps_unknown_machines (node_id, machine, service_id, addresses, found_at)
   values (:nodeId, :machine, :serviceId, :addresses, :now) on conflict (node_id, machine) do nothing`,
);
const setWaiting = statement<never, { serviceId: number; retryAt: Date | null }>(
  'vps.waitForUnknown',
  `update machines set state = 'error', retry_at = :retryAt where service_id = :serviceId and state <> 'suspended'`,
);
const deleteUnknown = statement<never, { id: number }>(
  'vps.deleteUnknown',
  'delete from vps_unknown_machines where id = :id',
);
const unknownOfService = statement<{ machine: string; node: string }, { serviceId: number }>(
  'vps.unknownOfService',
  `select u.machine, n.name as node from vps_unknown_machines u join nodes n on n.id = u.node_id
   where u.service_id = :serviceId limit 1`,
);

/**
 * Finds the machines of a node that the database does not know, as after the restore of a backup: made since, or put
 * there by somebody. They are somebody's, so they run on and are never touched; nobody else gets their addresses, and
 * staff finds them in its list until they are gone from the node or known. Says whether there are any.
 */
export async function findUnknownMachines(
  ctx: Context,
  nodeId: number,
  reports: readonly MachineReport[],
  hypervisor: Hypervisor,
): Promise<boolean> {
  const machines = reports.filter(({ power }) => power !== 'absent').map(({ id }) => id);
  const rows = await ctx.db.many(strangersAndListed, {
    ...{ nodeId, machines, ...namesOf(machines) },
  });
  const found = new Set(rows.filter((row) => row.listed === null).map(({ machine }) => machine));
  const off = reports.flatMap(({ id, power }) => (power === 'stopped' && found.has(id) ? [id] : []));
  await compareLeftRooms(ctx, nodeId, new Set(machines), new Set(off));
  const listed = rows.flatMap((row) => row.listed ?? []);
  if (found.size === 0 && listed.length === 0) return false;
  for (const row of listed) {
    await transaction(ctx, 'vps.keepUnknown', async (tx) => {
      // Its service may have lost them meanwhile, as an order that was never paid in what the database remembers.
      if (found.has(row.machine)) return keepAddressesAside(tx, row.addresses, noteOfUnknown(row.machine));
      await tx.db.run(deleteUnknown, { id: row.id });
      await endAddressesAside(tx, noteOfUnknown(row.machine));
    });
  }
  const known = new Set(listed.map(({ machine }) => machine));
  for (const machine of found) if (!known.has(machine)) await write(ctx, nodeId, machine, hypervisor);
  return true;
}

/** Lists a machine as unknown from now on, of which its node has been asked before; if it is not there, the next comparison takes it out. */
async function listUnknown(
  tx: TxContext,
  { nodeId, machine }: { nodeId: number; machine: string },
): Promise<void> {
  const serviceId = serviceIdOf(machine);
  await tx.db.run(insertUnknown, { nodeId, machine, serviceId, addresses: [], now: tx.clock.now() });
}

/**
 * Has a machine wait for what may be it elsewhere: that is listed as unknown, and nothing starts beside it. `goesOn`: once its node has said that
 * nothing is there, the machine is what it was to be; else staff looks. One that is suspended stays so.
 */
export async function waitForUnknown(
  tx: TxContext,
  of: { serviceId: number; nodeId: number; machine: string; goesOn: boolean },
): Promise<void> {
  const { serviceId, goesOn } = of;
  await tx.db.run(setWaiting, { serviceId, retryAt: goesOn ? tx.clock.now() : null });
  await listUnknown(tx, of);
}

async function isUnknown(ctx: Context, machine: string): Promise<boolean> {
  const asked = { machines: [machine], ...namesOf([machine]) };
  return (await ctx.db.maybe(strangers, asked)) !== null;
}

function namesOf(machines: readonly string[]) {
  const named = machines.map(machineNamed);
  return {
    serviceIds: named.map((each) => each?.serviceId ?? null),
    incarnations: named.map((each) => each?.incarnation ?? null),
  };
}

async function write(ctx: Context, nodeId: number, machine: string, hypervisor: Hypervisor): Promise<void> {
  // It may have been taken away, row and all, since the node was asked for all of them.
  const { power, addresses = [] } = await hypervisor.inspect(machine);
  if (power === 'absent' || !(await isUnknown(ctx, machine))) return;
  await transaction(ctx, 'vps.writeUnknown', async (tx) => {
    const row = { nodeId, machine, serviceId: serviceIdOf(machine), addresses, now: tx.clock.now() };
    if ((await tx.db.run(insertUnknown, row)) === 0) return;
    await keepAddressesAside(tx, addresses, noteOfUnknown(machine));
    tx.log.error(
      { node: nodeId, machine, addresses },
      'a node has a machine that the database does not know',
    );
  });
}

/** Why its addresses are nobody else's. */
export function noteOfUnknown(machine: string): string {
  return `of the unknown machine ${machine}`;
}

/** Fails for good where a node has a machine of this service already, which a new one would write over. */
export async function requireNoneUnknown(ctx: TxContext, serviceId: number): Promise<void> {
  const found = await ctx.db.maybe(unknownOfService, { serviceId });
  if (found === null) return;
  const message = `${found.node} has a machine ${found.machine} already, which this database does not know: it was made after the backup that was restored`;
  throw Object.assign(fail('conflict', { message }), { permanent: true });
}
