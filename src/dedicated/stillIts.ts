import { isServerOf, lockServerOf } from '../fleet/index.ts';
import { type Context, findHeldRestore, type TxContext } from '../platform/index.ts';

/**
 * Whether a service still has this server, is to go there, or has left it: staff may have taken it away while its job stood still, and it may be somebody else's
 * since.
 */
export function isStillIts(ctx: Context, serviceId: number, serverId: number): Promise<boolean> {
  return isServerOf(ctx, serverId, serviceId);
}

/** Nothing is done to a server that is not the service's any more; `permanent`, and `unwanted`: also a job that a restore holds ends with it. */
export async function requireStillIts(ctx: Context, serviceId: number, serverId: number): Promise<void> {
  if (!(await isStillIts(ctx, serviceId, serverId))) throw takenAway(serviceId, serverId);
}

/** The same, and nobody takes it away until the transaction ends. */
export async function holdStillIts(tx: TxContext, serviceId: number, serverId: number): Promise<void> {
  if (!(await lockServerOf(tx, serverId, serviceId))) throw takenAway(serviceId, serverId);
}

/** A job that is about a server goes on with it no more, and has nothing to see to. */
export function takenAway(serviceId: number, serverId: number): Error {
  const message = `the server ${serverId} is not that of the service ${serviceId} any more`;
  return Object.assign(new Error(message), { code: 'server_taken_away', permanent: true, unwanted: true });
}

/**
 * Whose a server is that a service has as of a backup nobody can say before staff has compared: it may have come back and be somebody else's since, who has it
 * off. What begins after the restore waits until that is released; `waits`.
 */
export async function requireCompared(ctx: Context, { stateSince }: { stateSince: Date }): Promise<void> {
  const restore = await findHeldRestore(ctx);
  if (restore === null || stateSince > restore.restored_at) return;
  const message =
    'whose the server is since the backup that was restored is not known: this goes on once the restore is released, and ends when the server is put into quarantine';
  throw Object.assign(new Error(message), { code: 'restore_held', waits: true });
}
