import { record } from '../../events/index.ts';
import {
  type Context,
  enqueue,
  fail,
  newId,
  requireRow,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { recoveryBegan } from '../events.ts';
import { machineIdOf } from '../machine.ts';
import { reasonAgainst } from './reasons.ts';
import {
  insertRecovery,
  type LostMachine,
  type LostNode,
  lockLostNode,
  lostMachines,
  nodeOfRecovery,
  type RecoveredRow,
  recoveriesOf,
} from './rows.ts';
import { recoverJob } from './saga.ts';

/**
 * Has machines of a member of a cluster that does not answer made anew on others, each from its newest backup that can be read. `confirm`: the
 * node's name, since what was written after the backup stays behind. Without `service_ids` all that have such a backup. `not_found`;
 * `invalid_request` for another name; `conflict` for a host of our own, one that answers, and a machine that cannot be made anew, in words.
 */
export async function recoverMachines(
  ctx: Context,
  id: number,
  { confirm, service_ids: only }: { confirm: string; service_ids?: number[] },
) {
  return transaction(ctx, 'vps.recoverMachines', async (tx) => {
    const node = await requireRow(tx, lockLostNode, { id });
    if (confirm !== node.name) {
      const message = `must be the name of the node, ${node.name}`;
      throw fail('invalid_request', { details: [{ field: 'confirm', message }] });
    }
    const refusal = whyNot(node);
    if (refusal !== null) throw fail('conflict', { message: refusal });
    const begun = await begin(tx, node, chosen(node, await tx.db.many(lostMachines, { nodeId: id }), only));
    await record(tx, recoveryBegan, {
      ...{ subject: { type: 'node', id }, organizationId: null },
      data: { name: node.name, machines: begun },
    });
    return readRecovery(tx, id);
  });
}

/** What can be made anew of a node's machines, from when, and what has become of those that were. `not_found`. */
export async function readRecovery(ctx: Context, id: number) {
  const node = await requireRow(ctx, nodeOfRecovery, { id });
  const [machines, recoveries] = await Promise.all([
    ctx.db.many(lostMachines, { nodeId: id }),
    ctx.db.many(recoveriesOf, { nodeId: id }),
  ]);
  const known = new Map(recoveries.map((each) => [each.service_id, each]));
  const waiting = machines.filter((each) => known.get(each.service_id)?.state !== 'running');
  const here = new Set(waiting.map((each) => each.service_id));
  const reason = whyNot(node);
  return {
    recovery: {
      ...{ node_id: node.id, name: node.name, possible: reason === null, reason },
      machines: [
        ...waiting.map((each) => viewLost(each, known.get(each.service_id)?.reason ?? null)),
        ...recoveries.filter((each) => !here.has(each.service_id)).map(viewRecovery),
      ].sort((one, other) => one.service_id - other.service_id),
    },
  };
}

/** Why nothing of a node is made anew; null: it may be. */
function whyNot({ name, cluster_id, answers }: LostNode): string | null {
  if (cluster_id === null)
    return `${name} is a host of our own: the backups of its machines are on its own disk, and on no other`;
  return answers ? `${name} answers, so its machines are there; evacuate it to take them away` : null;
}

function chosen(node: LostNode, machines: readonly LostMachine[], only: number[] | undefined): LostMachine[] {
  const may = machines.filter((each) => reasonAgainst(each) === null);
  if (only === undefined) {
    if (may.length > 0) return may;
    throw fail('conflict', { message: `No machine of ${node.name} has a backup that can be read now` });
  }
  const problems = only.flatMap((id) => {
    const found = machines.find((each) => each.service_id === id);
    const reason = found === undefined ? `It is not on ${node.name}` : reasonAgainst(found);
    return reason === null ? [] : [`${id}: ${reason}`];
  });
  if (problems.length > 0) throw fail('conflict', { message: problems.join('; ') });
  return may.filter((each) => only.includes(each.service_id));
}

/** How many have begun: one that is at it already is not begun again. */
async function begin(tx: TxContext, node: LostNode, machines: readonly LostMachine[]): Promise<number> {
  let begun = 0;
  for (const machine of machines) {
    const { service_id: serviceId, organization_id: organizationId, backup, backup_at: backupAt } = machine;
    if (backup === null || backupAt === null) continue;
    const actionId = newId();
    const row = {
      ...{ id: actionId, nodeId: node.id, serviceId, organizationId, backup, backupAt },
      ...{ machine: machineIdOf(serviceId, machine.incarnation), now: tx.clock.now() },
    };
    if ((await tx.db.run(insertRecovery, row)) === 0) continue;
    await enqueue(tx, recoverJob, { serviceId, organizationId, actionId }, { organizationId });
    begun += 1;
  }
  return begun;
}

function viewLost(machine: LostMachine, before: string | null) {
  const reason = reasonAgainst(machine);
  return {
    ...{
      service_id: machine.service_id,
      organization_id: machine.organization_id,
      hostname: machine.hostname,
    },
    state: reason === null ? ('possible' as const) : ('impossible' as const),
    // What came of the last try says more than that it may be tried again.
    reason: reason ?? before,
    ...{ backup: machine.backup, backup_at: machine.backup_at, kept_on: machine.kept_on },
    ...{ node: null, left_over: null, ended_at: null },
  };
}

function viewRecovery(row: RecoveredRow) {
  const { service_id, organization_id, hostname, state, reason, backup, backup_at, ended_at } = row;
  return {
    ...{ service_id, organization_id, hostname, state, reason, backup, backup_at, kept_on: null },
    ...{ node: row.node, left_over: row.left_over ? row.machine : null, ended_at },
  };
}
