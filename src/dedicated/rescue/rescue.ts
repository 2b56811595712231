import { closeAllOf, openAssignment } from '../../fleet/index.ts';
import { fail, type NamedJob, type OrganizationContext } from '../../platform/index.ts';
import { viewAction } from '../../vps/index.ts';
import { chooseAccess, type WantedAccess } from '../access.ts';
import type { InstallerJob } from '../customerStages.ts';
import { addressesOf } from '../reinstall/reinstall.ts';
import { type CustomerJob, requestWork } from '../work.ts';

export interface RescueBody extends WantedAccess {
  enabled: boolean;
}

export type RescuePayload = InstallerJob;

export const rescueJob: NamedJob<RescuePayload> = { name: 'dedicated.rescue' };
export const rescueOffJob: NamedJob<CustomerJob> = { name: 'dedicated.rescueOff' };

/**
 * Takes a server into our rescue system, in memory and at its own addresses, or has it start its own disks again. Whenever it starts meanwhile it starts the rescue system.
 * Its disks stay as they are. Without a password and without any key one is generated, and shown in this answer alone. Errors as {@link requestWork};
 * `invalid_request`, `weak_password`.
 */
export async function rescueDedicated(ctx: OrganizationContext, id: number, body: RescueBody) {
  if (!body.enabled) return endRescue(ctx, id, body);
  let shown: string | null = null;
  const action = await requestWork(ctx, id, 'rescue', rescueJob, async (tx, { hostname }, server) => {
    const { keys, passwordHash, generated } = await chooseAccess(tx, body);
    shown = generated;
    await closeAllOf(tx, server.id);
    const addresses = await addressesOf(tx, id);
    const work = { task: 'rescue' as const, hostname, keys, passwordHash, addresses };
    return { assignmentId: await openAssignment(tx, server.id, work, null) };
  });
  return { action: viewAction(ctx, action), password: shown };
}

async function endRescue(ctx: OrganizationContext, id: number, body: RescueBody) {
  for (const field of ['password', 'ssh_key_ids'] as const)
    if (body[field] !== undefined)
      throw fail('invalid_request', {
        details: [{ field, message: 'is for the rescue system, which is being turned off' }],
      });
  const action = await requestWork(ctx, id, 'rescue_off', rescueOffJob, async () => ({}));
  return { action: viewAction(ctx, action), password: null };
}
