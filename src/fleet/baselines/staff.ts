import { record } from '../../events/index.ts';
import {
  type Context,
  fail,
  findLastRestore,
  refuse,
  statement,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { areDisksMeasured } from '../assignments/disksOf.ts';
import { baselineTaken, differencesAccepted } from '../events.ts';
import { about as aboutProfile, lockProfiles, readProfile } from '../profiles/staff.ts';
import { disksChanged } from '../servers/rent.ts';
import { type ServerRow, serverById } from '../servers/rows.ts';
import { about, lockServer, readServer, requireServer } from '../servers/staff.ts';
import { requireAction } from '../servers/states.ts';
import { writeBaseline } from './keep.ts';

const accept = statement<never, { id: number; state: 'ready' | 'waiting'; reason: string | null; now: Date }>(
  'fleet.acceptDifferences',
  'update servers set state = :state, reason = :reason::text, state_since = :now, differences = null where id = :id',
);

/**
 * Servers of a profile have to be from now on as one of them is that is in stock, by what was read when it was enrolled or came back last. `conflict` says why that
 * one cannot be it.
 */
export async function takeBaseline(
  ctx: Context,
  profileId: number,
  { server_id: serverId }: { server_id: number },
) {
  return transaction(ctx, 'fleet.takeBaseline', async (tx) => {
    await lockProfiles(tx);
    const { profile } = await readProfile(tx, profileId);
    await lockServer(tx, serverId);
    const server = await tx.db.maybe(serverById, { id: serverId });
    if (server === null) throw refuse('server_id', 'is no server');
    if (server.profile_id !== profileId)
      throw fail('conflict', {
        message: `${server.name} is ${server.profile ?? 'sold as nothing'}, not ${profile.name}`,
      });
    if (server.state !== 'ready')
      throw fail('conflict', {
        message: `${server.name} is ${server.state}: a baseline is taken from a server in stock`,
      });
    await take(tx, profileId, profile.name, server);
    return readProfile(tx, profileId);
  });
}

async function take(tx: TxContext, profileId: number, profile: string, server: ServerRow): Promise<void> {
  if (server.observed === null)
    throw fail('conflict', {
      message: `Nobody has looked how ${server.name} is beside what it has: enrol it anew, or write the baseline by hand`,
    });
  await writeBaseline(tx, profileId, server.observed, server.name);
  await record(tx, baselineTaken, {
    ...aboutProfile(profileId),
    data: { name: profile, server: server.name },
  });
}

/**
 * A server that differs from the baseline of its profile is in stock all the same; with `as_baseline` others have to be as it is from now on. One whose disks were
 * changed meanwhile waits to be measured. `conflict` where it does not differ, or was kept out before a restore.
 */
export async function acceptDifferences(
  ctx: Context,
  id: number,
  { as_baseline: asBaseline = false }: { as_baseline?: boolean | undefined },
) {
  return transaction(ctx, 'fleet.acceptDifferences', async (tx) => {
    // Before the server, as whoever changes a profile.
    if (asBaseline) await lockProfiles(tx);
    const server = await requireServer(tx, id);
    requireAction('accept_differences', server);
    const restore = await findLastRestore(tx);
    if (restore !== null && server.state_since <= restore.restored_at)
      throw fail('conflict', {
        message: `${server.name} was kept out of stock before the backup that was restored, and may be somebody’s since: compare it with what customers have, release it, and enrol it anew`,
      });
    if (asBaseline) {
      if (server.profile_id === null || server.profile === null)
        throw fail('conflict', { message: `${server.name} fits no profile any more` });
      await take(tx, server.profile_id, server.profile, server);
    }
    const isMeasured = await areDisksMeasured(tx, id);
    await tx.db.run(accept, {
      id,
      state: isMeasured ? 'ready' : 'waiting',
      reason: isMeasured ? null : disksChanged,
      now: tx.clock.now(),
    });
    await record(tx, differencesAccepted, {
      ...about(id),
      data: { name: server.name, differences: server.differences ?? [], as_baseline: asBaseline },
    });
    return readServer(tx, id);
  });
}
