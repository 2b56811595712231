import { beginStaffRescue, closeAllOf, openAssignment, readStaffServer } from '../../fleet/index.ts';
import { enqueue, fail, type NamedJob, type StaffContext, transaction } from '../../platform/index.ts';
import { generatePassword } from '../../vps/index.ts';
import { chooseAccess, type WantedAccess } from '../access.ts';

export interface StaffRescueJob {
  serverId: number;
}

export interface StaffRescuePayload extends StaffRescueJob {
  assignmentId: number;
}

export const staffRescueJob: NamedJob<StaffRescuePayload> = { name: 'dedicated.staffRescue' };
export const staffRescueOffJob: NamedJob<StaffRescueJob> = { name: 'dedicated.staffRescueOff' };

export interface StaffRescueBody extends WantedAccess {
  enabled: boolean;
  /** For the record, and for whoever looks at the server. */
  reason?: string | undefined;
}

/**
 * Takes a server that is nobody's into our rescue system, with the SSH keys of whoever asks and a password, or switches it off again. It has no address but the one that the
 * network of servers gives it; the password is for its serial line. A password that is generated is in this answer alone. `not_found`, `conflict`, `locked`,
 * `invalid_request`, `weak_password`.
 */
export async function rescueServer(ctx: StaffContext, id: number, body: StaffRescueBody) {
  const { enabled, reason = null, ...wanted } = body;
  if (!enabled) return endRescue(ctx, id, reason, wanted);
  return transaction(ctx, staffRescueJob.name, async (tx) => {
    await beginStaffRescue(tx, id, 'rescue', reason);
    const password = wanted.password ?? generatePassword();
    const { keys, passwordHash } = await chooseAccess(tx, { ...wanted, password });
    await closeAllOf(tx, id);
    const work = { task: 'rescue' as const, hostname: `server-${id}`, keys, passwordHash, addresses: [] };
    const assignmentId = await openAssignment(tx, id, work, null);
    await enqueue(tx, staffRescueJob, { serverId: id, assignmentId }, { organizationId: null });
    const shown = wanted.password === undefined ? password : null;
    return { ...(await readStaffServer(tx, id)), password: shown };
  });
}

async function endRescue(ctx: StaffContext, id: number, reason: string | null, wanted: WantedAccess) {
  for (const field of ['password', 'ssh_key_ids'] as const)
    if (wanted[field] !== undefined)
      throw fail('invalid_request', {
        details: [{ field, message: 'is for the rescue system, which is being turned off' }],
      });
  return transaction(ctx, staffRescueOffJob.name, async (tx) => {
    await beginStaffRescue(tx, id, 'rescue_off', reason);
    await enqueue(tx, staffRescueOffJob, { serverId: id }, { organizationId: null });
    return { ...(await readStaffServer(tx, id)), password: null };
  });
}
