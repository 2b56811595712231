import { record } from '../../events/index.ts';
import { enqueue, findHeldRestore, type NamedJob, type TxContext } from '../../platform/index.ts';
import { evacuationEnded } from '../events.ts';
import {
  beginSome,
  type EvacuationRow,
  endEvacuation,
  lockEvacuation,
  movesOf,
  openMoves,
  runningEvacuations,
} from './rows.ts';

/** What the job of one machine knows. */
export interface MovePayload {
  serviceId: number;
  organizationId: number;
  /** Of the move and of the action in the machine's history alike. */
  actionId: number;
}

export const moveJob: NamedJob<MovePayload> = { name: 'vps.move' };
/** Of a machine of a host of our own. */
export const intoClusterJob: NamedJob<MovePayload> = { name: 'vps.moveIntoCluster' };

/** Disks are copied over one wire, and what moves live is a little slower meanwhile. */
const atOnce = 2;

/** What was wanted before a restore may have been done since its backup, or called off: nothing of it begins by itself before staff releases that. */
async function isHeld(tx: TxContext, { started_at: startedAt }: EvacuationRow): Promise<boolean> {
  const restore = await findHeldRestore(tx);
  return restore !== null && startedAt < restore.restored_at;
}

/** Has machines of all evacuations go on that a restore has held. */
export async function goOnWithAll(tx: TxContext): Promise<void> {
  for (const { id } of await tx.db.many(runningEvacuations)) await goOn(tx, id);
}

/** Has the next machines of an evacuation go, or ends it when there are none. Where staff has stopped it, or it stands, nothing more begins. */
export async function goOn(tx: TxContext, evacuationId: number): Promise<void> {
  const evacuation = await tx.db.maybe(lockEvacuation, { id: evacuationId });
  if (evacuation === null || evacuation.state !== 'running') return;
  const most = evacuation.halted_for !== null || (await isHeld(tx, evacuation)) ? 0 : atOnce;
  for (const move of await tx.db.many(beginSome, { evacuationId, most })) {
    const { id: actionId, service_id: serviceId, organization_id: organizationId, node_id: nodeId } = move;
    const runAt = evacuation.begins_at ?? undefined;
    const options = { organizationId, nodeId: nodeId ?? evacuation.node_id, ...(runAt && { runAt }) };
    const job = evacuation.cluster_id === null ? moveJob : intoClusterJob;
    await enqueue(tx, job, { serviceId, organizationId, actionId }, options);
  }
  if ((await tx.db.one(openMoves, { evacuationId })).count > 0) return;
  await tx.db.run(endEvacuation, { id: evacuationId, state: 'done', now: tx.clock.now() });
  const moves = await tx.db.many(movesOf, { evacuationId });
  const count = (wanted: string) => moves.filter(({ state }) => state === wanted).length;
  await record(tx, evacuationEnded, {
    ...{ subject: { type: 'node', id: evacuation.node_id }, organizationId: null },
    data: { kind: evacuation.kind, moved: count('moved'), stay: count('stays') },
  });
}
