import type { HypervisorOf } from '../../drivers/hypervisor/index.ts';
import { record } from '../../events/index.ts';
import { endAddressesAside, leaveRoom, listAddresses, moveRoom, unseenAnywhere } from '../../fleet/index.ts';
import { possibleActions, type ReasonAgainst } from '../../platform/http/index.ts';
import {
  type Context,
  fail,
  findHeldRestore,
  refuse,
  requireRow,
  sendJobsAlong,
  statement,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { locked } from '../actions/history.ts';
import { vpsAdopted } from '../events.ts';
import { laterKnown } from '../incarnations.ts';
import { findMachine, machineIdOf, machineNamed } from '../machine.ts';
import { findVps, lockVps } from '../queries.ts';
import { forgetLayers, holdCopies } from '../snapshots/rows.ts';
import { noteOfUnknown } from '../unknown.ts';
import { adoptActions, type refusalCodes } from './actions.ts';
import { copiesBeside, isSame, lookAt, type SeenCopy, toConfirm } from './copies.ts';

interface Found {
  id: number;
  machine: string;
  addresses: string[];
  found_at: Date;
  node_id: number;
  node: string;
  answers: boolean;
}

const unknownMachine = statement<Found, { id: number }>(
  'vps.unknownToAdopt',
  `select u.id, u.machine, array(select host(a) from unnest(u.addresses) a) as addresses, u.found_at, n.id as node_id, n.name as node,
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
const nodeOfOld = statement<{ name: string }, { id: number }>(
  'vps.nodeOfOldCopy',
  'select name from nodes where id = :id',
);

/**
 * Has the database follow a later incarnation of a machine that it knows, as after the restore of a backup: from now on that is the machine, with
 * the same service, addresses and access, and what was taken for it is an old copy, which nobody starts. `id`: of the unknown machine. `confirm`: the
 * names of the nodes whose engines cannot say whether another copy runs there. `not_found`; `locked` while something is done with the machine;
 * `conflict` where it is no later one of a machine, its node does not answer, a still later one is there, another copy runs by what its engine says
 * or cannot say, it has addresses that its service has not, or an attempt of ours has made it and it never ran; `invalid_request` for other names.
 */
export async function adoptMachine(
  ctx: Context,
  id: number,
  { confirm = null, hypervisorOf }: { confirm?: string | null | undefined; hypervisorOf: HypervisorOf },
) {
  const asked = await requireRow(ctx, unknownMachine, { id });
  // Before anything is held: an engine may say nothing for seconds.
  const seen = await lookAt(ctx, await copiesBeside(ctx, asked), hypervisorOf);
  return transaction(ctx, 'vps.adopt', async (tx) => {
    const { machine: name } = await requireRow(tx, unknownMachine, { id });
    const named = machineNamed(name);
    if (named === null) throw fail('conflict', { message: `${name} is no machine of ours` });
    const { serviceId, incarnation } = named;
    await lockVps(tx, serviceId);
    // Again: a comparison may have found since that it is gone.
    const found = await requireRow(tx, unknownMachine, { id });
    const against = await reasonAgainst(tx, found);
    if (against !== null) throw fail(against.code, { message: against.message });
    await requireNoneRuns(tx, found, seen, confirm);
    const machine = await findMachine(tx, serviceId);
    if (machine === null) throw fail('not_found');
    const { node_id: from } = machine;
    const old = machineIdOf(serviceId, machine.incarnation);
    const to = found.node_id;
    await tx.db.run(writeAdopted, { serviceId, nodeId: to, incarnation });
    await sendJobsAlong(tx, { about: { serviceId }, from, to });
    await moveRoom(tx, serviceId, to, { of: name, leaves: old });
    // Somebody may have moved one of them there by hand: then there are two disks.
    if (from === to) await leaveRoom(tx, { serviceId, nodeId: to, machine: old });
    // Snapshots are layers of the old copy's disk.
    await tx.db.run(forgetLayers, { serviceId });
    await holdCopies(tx, serviceId);
    await tx.db.run(forget, { id });
    await endAddressesAside(tx, noteOfUnknown(name));
    const { name: before } = await tx.db.one(nodeOfOld, { id: from });
    await record(tx, vpsAdopted, {
      ...{ subject: { type: 'service', id: serviceId }, organizationId: machine.organization_id },
      data: { machine: name, instead_of: old, name: found.node, before, confirmed: toConfirm(seen) },
    });
    return { adopted: { service_id: serviceId, machine: name, node: found.node, old_copy: old } };
  });
}

/** Two of one service would run with the same addresses, and nobody would stop the other one: its customer writes to it. */
async function requireNoneRuns(
  tx: TxContext,
  found: Found,
  seen: readonly SeenCopy[],
  confirm: string | null,
): Promise<void> {
  const { machine } = found;
  const now = await copiesBeside(tx, found);
  const isAsAsked = now.every((copy) => seen.some((each) => isSame(each, copy)));
  if (!isAsAsked) throw fail('conflict', { message: changed });
  const runs = reasonOf(seen, machine);
  if (runs !== null) throw fail(runs.code, { message: runs.message });
  const wanted = toConfirm(seen);
  if (wanted === null) return;
  // Whoever confirmed more than is asked by now, since a node has answered meanwhile, is not asked again.
  const named = (confirm ?? '').split(', ');
  if (wanted.split(', ').every((node) => named.includes(node))) return;
  if (confirm !== null)
    throw refuse(
      'confirm',
      `must name every node that cannot say whether another copy runs there: ${wanted}`,
    );
  const silent = seen.flatMap(({ node, machine: copy, power }) =>
    power === 'unknown' ? `${node} does not say whether ${copy} runs there` : [],
  );
  const message = `${silent.join(', and ')}: nobody would stop it, and it would run beside ${machine}. Where you know that it does not run, confirm with ${wanted}`;
  throw fail('conflict', { message });
}

const changed = 'Other copies of this machine were found meanwhile; look at it again';

function reasonOf(seen: readonly SeenCopy[], machine: string) {
  const running = seen.find(({ power }) => power === 'running');
  return running === undefined
    ? null
    : conflict(
        `${running.machine} runs on ${running.node}, and may be what its customer uses now: where ${machine} is the one, stop it in the engine of ${running.node} first`,
      );
}

/**
 * An unknown machine with what it may be, and whether it can be adopted. `old_copy`: what the database takes for the machine of its service, with what
 * its engine says of it just now. `not_found`.
 */
export async function readUnknownMachine(ctx: Context, id: number, hypervisorOf: HypervisorOf) {
  const found = await requireRow(ctx, unknownMachine, { id });
  const named = machineNamed(found.machine);
  const known = named === null ? null : await findMachine(ctx, named.serviceId);
  const seen = await lookAt(ctx, await copiesBeside(ctx, found), hypervisorOf);
  const old = known === null ? null : machineIdOf(known.service_id, known.incarnation);
  const refusal = (await reasonAgainst(ctx, found)) ?? reasonOf(seen, found.machine);
  return {
    unknown_machine: {
      ...{ id: found.id, machine: found.machine, addresses: found.addresses, found_at: found.found_at },
      ...{ node_id: found.node_id, node: found.node, answers: found.answers },
      service_id: known?.service_id ?? null,
      hostname: known?.hostname ?? null,
      old_copy:
        known === null || old === null
          ? null
          : {
              ...{ machine: old, node_id: known.node_id, state: known.state },
              node: (await ctx.db.one(nodeOfOld, { id: known.node_id })).name,
              power:
                seen.find((each) => each.machine === old && each.node_id === known.node_id)?.power ??
                'unknown',
            },
      confirm: known === null ? null : toConfirm(seen),
      actions: possibleActions(adoptActions, () => refusal),
    },
  };
}

/** Why an unknown machine is not adopted, in words; null when it may be. */
async function reasonAgainst(
  ctx: Context,
  found: Found,
): Promise<ReasonAgainst<(typeof refusalCodes)[number]> | null> {
  const named = machineNamed(found.machine);
  if (named === null) return conflict(`${found.machine} is no machine of ours`);
  const { serviceId, incarnation } = named;
  const machine = await findMachine(ctx, serviceId);
  if (machine === null)
    return conflict(`The database knows no machine of service ${serviceId}: it was ordered after the backup`);
  const old = machineIdOf(serviceId, machine.incarnation);
  if (incarnation <= machine.incarnation)
    return conflict(`${found.machine} is no later one of ${old}, but an old copy`);
  const latest = await laterKnown(ctx, { serviceId, incarnation: machine.incarnation });
  if (latest === null)
    return conflict(`${found.machine} is what an attempt of ours has left, and never ran: remove it instead`);
  if (latest.machine !== found.machine)
    return conflict(`${latest.at} has ${latest.machine}, which is a still later one`);
  const vps = await findVps(ctx, serviceId);
  if (vps?.action != null && !vps.action.waits)
    return { code: 'locked', message: locked(vps.action.command).message };
  if (!found.answers)
    return conflict(`${found.node} does not answer, so nobody knows how ${found.machine} is`);
  const restore = await findHeldRestore(ctx);
  const [unseen] = restore === null ? [] : await unseenAnywhere(ctx, restore);
  if (unseen !== undefined)
    return conflict(
      `The database was restored, and ${unseen.name} has not said since what machines it has: one of them may be a later one. Adopt once it has, or once the restore is released`,
    );
  const own = new Set((await listAddresses(ctx, serviceId)).map(({ address }) => address));
  const others = found.addresses.filter((address) => !own.has(address));
  if (others.length === 0) return null;
  return conflict(
    `${found.machine} answers on ${others.join(', ')}, which service ${serviceId} does not have by what the database knows`,
  );
}

function conflict(message: string) {
  return { code: 'conflict', message } as const;
}
