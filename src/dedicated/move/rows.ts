import { type Context, newId, type SealedValue, statement, type TxContext } from '../../platform/index.ts';

/** A service that staff moves from one server to another. */
export interface MoveRow {
  id: number;
  service_id: number;
  organization_id: number;
  from_server_id: number;
  to_server_id: number;
  reason: string;
  unplugged: boolean;
  password: Buffer | null;
  asked_at: Date;
  ended_at: Date | null;
  moved: boolean | null;
  /** Why it did not go over, or what it waits for while the service is off, for staff. */
  problem: string | null;
}

const contextOf = (id: number) => `password of move ${id}`;
const columns =
  'id, service_id, organization_id, from_server_id, to_server_id, reason, unplugged, password, asked_at, ended_at, moved, problem';
const insert = statement<
  never,
  {
    id: number;
    serviceId: number;
    organizationId: number;
    fromId: number;
    toId: number;
    reason: string;
    unplugged: boolean;
    password: Buffer | null;
    now: Date;
  }
>(
  'dedicated.insertMove',
  `insert into dedicated_moves (id, service_id, organization_id, from_server_id, to_server_id, reason, unplugged, password, asked_at)
   values (:id, :serviceId, :organizationId, :fromId, :toId, :reason, :unplugged, :password::bytea, :now)`,
);
const byId = statement<MoveRow, { id: number }>(
  'dedicated.move',
  `select ${columns} from dedicated_moves where id = :id`,
);
const lastOfServer = statement<MoveRow, { serverId: number; serviceId: number | null }>(
  'dedicated.lastMoveOfServer',
  `select ${columns} from dedicated_moves where service_id = :serviceId::bigint and (from_server_id = :serverId or to_server_id = :serverId)
   order by id desc limit 1`,
);
const end = statement<never, { id: number; problem: string | null; now: Date }>(
  'dedicated.endMove',
  `update dedicated_moves set ended_at = :now, moved = :problem::text is null, problem = :problem::text, stopped_at = null, password = null
   where id = :id and ended_at is null`,
);
const noteStopped = statement<never, { id: number; problem: string; now: Date }>(
  'dedicated.noteStoppedMove',
  `update dedicated_moves set problem = :problem, stopped_at = coalesce(stopped_at, :now::timestamptz)
   where id = :id and ended_at is null and (stopped_at is null or problem is distinct from :problem)`,
);
const noteGoing = statement<never, { id: number }>(
  'dedicated.noteGoingMove',
  'update dedicated_moves set problem = null, stopped_at = null where id = :id and ended_at is null and stopped_at is not null',
);
const leaveStopped = statement<never, { id: number }>(
  'dedicated.leaveStoppedMove',
  'update dedicated_moves set stopped_at = null where id = :id and stopped_at is not null',
);
const endLeft = statement<never, { serviceId: number; now: Date }>(
  'dedicated.endLeftMoves',
  `update dedicated_moves set ended_at = :now, moved = false, problem = 'its job was dismissed', stopped_at = null, password = null
   where service_id = :serviceId and ended_at is null`,
);

export const sealedMoves = statement<SealedValue, { limit: number }>(
  'dedicated.sealedMoves',
  `select password as sealed, 'password of move ' || id as context from dedicated_moves where password is not null order by id limit :limit`,
);

/** Writes a move down that begins; gives its id. */
export async function beginMove(
  tx: TxContext,
  {
    password,
    ...move
  }: {
    serviceId: number;
    organizationId: number;
    fromId: number;
    toId: number;
    reason: string;
    unplugged: boolean;
    /** In clear; null: none was made. */
    password: string | null;
  },
): Promise<number> {
  const id = newId();
  // Nothing is at work for one before that did not come to its end.
  await tx.db.run(endLeft, { serviceId: move.serviceId, now: tx.clock.now() });
  const sealed = password === null ? null : tx.seal.close(password, contextOf(id));
  await tx.db.run(insert, { ...move, id, password: sealed, now: tx.clock.now() });
  return id;
}

export async function readMove(ctx: Context, id: number): Promise<MoveRow> {
  return ctx.db.one(byId, { id });
}

/** What was made for the system on the new server, in clear; null: nothing was, or nobody needs it any more. */
export function passwordOf({ seal }: Context, { id, password }: MoveRow): string | null {
  return password === null ? null : seal.open(password, contextOf(id));
}

/** The last move of a service from or to that server; null: none. */
export function findMoveOf(
  ctx: Context,
  serverId: number,
  serviceId: number | null,
): Promise<MoveRow | null> {
  return ctx.db.maybe(lastOfServer, { serverId, serviceId });
}

/** The service is off, and what the move waits for does not come by itself, in words for staff; null: it goes on. Whether that is new. */
export async function noteStop(ctx: Context, id: number, problem: string | null): Promise<boolean> {
  if (problem === null) return (await ctx.db.run(noteGoing, { id })) > 0;
  return (await ctx.db.run(noteStopped, { id, problem, now: ctx.clock.now() })) > 0;
}

/** Nothing is at work for it until staff retries its job, and others may switch its server. */
export async function leaveStop(tx: TxContext, id: number): Promise<void> {
  await tx.db.run(leaveStopped, { id });
}

/** It is over, with a problem or well, and what was made for it is known no more; one that has ended stays as it ended. */
export async function endMove(tx: TxContext, id: number, problem: string | null): Promise<void> {
  await tx.db.run(end, { id, problem, now: tx.clock.now() });
}
