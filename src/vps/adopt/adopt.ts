import { record } from '../../events/index.ts';
import { endAddressesAside, listAddresses, moveRoom } from '../../fleet/index.ts';
import {
  type Context,
  fail,
  requireRow,
  sendJobsAlong,
  statement,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { locked } from '../actions/history.ts';
import { vpsAdopted } from '../events.ts';
import { laterKnown } from '../incarnations.ts';
import { findMachine, type MachineRow, machineIdOf, machineNamed } from '../machine.ts';
import { findVps, lockVps } from '../queries.ts';
import { forgetLayers, holdCopies } from '../snapshots/rows.ts';
import { noteOfUnknown } from '../unknown.ts';

interface Found {
  id: number;
  machine: string;
  addresses: string[];
  node_id: number;
  node: string;
  answers: boolean;
}

const unknownMachine = statement<Found, { id: number }>(
  'vps.unknownToAdopt',
  `select u.id, u.machine, array(select host(a) from unnest(u.addresses) a) as addresses, n.id as node_id, n.name as node,
     n.reachable and n.left_at is null as answers
   from vps_unknown_machines u join nodes n on n.id = u.node_id where u.id = :id`,
);
// It is wanted as it was; the next comparison finds how it is. One that is suspended stays so.
const writeAdopted = statement<never, { serviceId: number; nodeId: number; incarnation: number }>(
  'vps.writeAdopted',
  `update machines set node_id = :nodeId, incarnation = :incarnation, state = case when state = 'suspended' then state else wanted end,
     started_at = null, button = null, pressed_at = null, retry_at = null, repairs = 0, host_failures = 0, in_rescue = false
   where service_id = :serviceId`,
);
const forget = statement<never, { id: number }>(
  'vps.forgetAdopted',
  'delete from vps_unknown_machines where id = :id',
);
const nodeNamed = statement<{ name: string }, { id: number }>(
  'vps.nodeOfOldCopy',
  'select name from nodes where id = :id',
);

/**
 * Has the database follow a later incarnation of a machine that it knows, as after the restore of a backup: from now on that is the machine, with
 * the same service, addresses and access, and what was taken for it is an old copy, which nobody starts. `id`: of the unknown machine. `not_found`;
 * `locked` while something is done with the machine; `conflict` where it is no later one of a machine, its node does not answer, a still later one
 * is there, it has addresses that its service has not, or an attempt of ours has made it and it never ran.
 */
export async function adoptMachine(ctx: Context, id: number) {
  return transaction(ctx, 'vps.adopt', async (tx) => {
    const { machine: name } = await requireRow(tx, unknownMachine, { id });
    const named = machineNamed(name);
    if (named === null) throw refusal(`${name} is no machine of ours`);
    const { serviceId, incarnation } = named;
    await lockVps(tx, serviceId);
    // Again: a comparison may have found since that it is gone.
    const found = await requireRow(tx, unknownMachine, { id });
    const machine = await requireOlder(tx, found, named);
    await requireAdoptable(tx, found, machine);
    const { node_id: from } = machine;
    const old = machineIdOf(serviceId, machine.incarnation);
    const to = found.node_id;
    await tx.db.run(writeAdopted, { serviceId, nodeId: to, incarnation });
    await sendJobsAlong(tx, { about: { serviceId }, from, to });
    await moveRoom(tx, serviceId, to, { of: name, leaves: old });
    // Snapshots are layers of the old copy's disk.
    await tx.db.run(forgetLayers, { serviceId });
    await holdCopies(tx, serviceId);
    await tx.db.run(forget, { id });
    await endAddressesAside(tx, noteOfUnknown(name));
    const { name: before } = await tx.db.one(nodeNamed, { id: from });
    await record(tx, vpsAdopted, {
      ...{ subject: { type: 'service', id: serviceId }, organizationId: machine.organization_id },
      data: { machine: name, instead_of: old, name: found.node, before },
    });
    return { adopted: { service_id: serviceId, machine: name, node: found.node, old_copy: old } };
  });
}

async function requireOlder(
  tx: TxContext,
  { machine: name }: Found,
  { serviceId, incarnation }: { serviceId: number; incarnation: number },
): Promise<MachineRow> {
  const machine = await findMachine(tx, serviceId);
  if (machine === null)
    throw refusal(`The database knows no machine of service ${serviceId}: it was ordered after the backup`);
  if (incarnation <= machine.incarnation)
    throw refusal(
      `${name} is no later one of ${machineIdOf(serviceId, machine.incarnation)}, but an old copy`,
    );
  const latest = await laterKnown(tx, { serviceId, incarnation: machine.incarnation });
  if (latest === null)
    throw refusal(`${name} is what an attempt of ours has left, and never ran: remove it instead`);
  if (latest.machine !== name)
    throw refusal(`${latest.at} has ${latest.machine}, which is a still later one`);
  return machine;
}

async function requireAdoptable(tx: TxContext, found: Found, machine: MachineRow): Promise<void> {
  const { service_id: serviceId } = machine;
  const vps = await findVps(tx, serviceId);
  if (vps?.action != null && !vps.action.waits) throw locked(vps.action.command);
  if (!found.answers) throw refusal(`${found.node} does not answer, so nobody knows how ${found.machine} is`);
  const own = new Set((await listAddresses(tx, serviceId)).map(({ address }) => address));
  const others = found.addresses.filter((address) => !own.has(address));
  if (others.length === 0) return;
  throw refusal(
    `${found.machine} answers on ${others.join(', ')}, which service ${serviceId} does not have by what the database knows`,
  );
}

function refusal(message: string) {
  return fail('conflict', { message });
}
