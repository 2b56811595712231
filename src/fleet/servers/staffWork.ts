import { record } from '../../events/index.ts';
import {
  type Context,
  enqueue,
  fail,
  findHeldRestore,
  statement,
  type TxContext,
} from '../../platform/index.ts';
import { serverRescueAsked, serverRescueEnded } from '../events.ts';
import { askingBmc } from './life.ts';
import { about, readServer, requireServer } from './staff.ts';
import { requireAction, type ServerState } from './states.ts';

const write = statement<never, { id: number; work: 'rescue' | 'rescue_off' | null }>(
  'fleet.writeStaffWork',
  'update servers set customer_work = :work where id = :id',
);

const stateOf = statement<{ state: ServerState }, { id: number }>(
  'fleet.stateOfServer',
  'select state from servers where id = :id',
);

export { readServer as readStaffServer };

/** Whether a server is nobody's, and nobody can buy it. */
export async function isNobodys(ctx: Context, id: number): Promise<boolean> {
  const state = (await ctx.db.maybe(stateOf, { id }))?.state;
  return state === 'waiting' || state === 'quarantined' || state === 'broken';
}

/**
 * Staff has a server that is nobody's taken into the rescue system, or out of it: nobody else switches it until {@link endStaffRescue}. Gives its name. `not_found`,
 * `conflict`, `locked`.
 */
export async function beginStaffRescue(
  tx: TxContext,
  id: number,
  work: 'rescue' | 'rescue_off',
  reason: string | null,
): Promise<string> {
  const server = await requireServer(tx, id);
  requireAction(work, server);
  if ((await findHeldRestore(tx)) !== null)
    throw fail('conflict', {
      message: `The database was restored, and ${server.name} may be somebody’s since: release the restore first`,
    });
  await tx.db.run(write, { id, work });
  const data = { name: server.name, on: work === 'rescue', reason };
  await record(tx, serverRescueAsked, { ...about(id), data });
  return server.name;
}

/** The same work is over, well or not: `problem` says why not. One that was over before stays so. */
export async function endStaffRescue(
  tx: TxContext,
  id: number,
  work: 'rescue' | 'rescue_off',
  problem: string | null,
): Promise<void> {
  const { name, customer_work: underWay } = await requireServer(tx, id);
  if (underWay !== work) return;
  await tx.db.run(write, { id, work: null });
  await enqueue(tx, askingBmc, { serverId: id }, { organizationId: null });
  await record(tx, serverRescueEnded, { ...about(id), data: { name, on: work === 'rescue', problem } });
}

/** Whether that work is wanted still: nobody has ended it. */
export async function isStaffRescueOpen(
  tx: TxContext,
  id: number,
  work: 'rescue' | 'rescue_off',
): Promise<boolean> {
  return (await requireServer(tx, id)).customer_work === work;
}
