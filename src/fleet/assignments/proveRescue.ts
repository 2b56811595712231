import { type Context, enqueue, isJobOpenAbout, saga, statement, transaction } from '../../platform/index.ts';
import { provingSince } from '../consoles/proving.ts';
import { type AtHand, atWork, proveClaimed, ServerFailure } from './carryOut.ts';
import { doubtUnproved } from './doubts.ts';
import { findAssignment } from './open.ts';
import { isUnfinished } from './rows.ts';

interface Payload {
  assignmentId: number;
}

// While it is being taken there its job looks by itself.
const isRescue = statement<{ id: number }, { id: number }>(
  'fleet.rescueAtRest',
  `select g.id from server_assignments g join servers s on s.id = g.server_id
   where g.id = :id and g.kind = 'rescue' and g.state = 'working' and s.customer_work is null`,
);
const unproved = statement<{ id: number }, { id: number }>(
  'fleet.unprovedStarts',
  'select id from server_starts where assignment_id = :id and secret_hash is not null and not proved limit 1',
);

const told = statement<{ id: number }, { id: number }>(
  'fleet.unprovedStartsThatSaid',
  'select id from server_starts where assignment_id = :id and secret_hash is not null and not proved and disks is not null',
);

// What holds it is told to start anew, and is looked for again then.
const endUnproved = statement<never, { id: number; before: Date }>(
  'fleet.endUnprovedStarts',
  `delete from server_starts where assignment_id = :id and secret_hash is not null and not proved and coalesce(claimed_at, opened_at) <= :before`,
);

/**
 * Looks which of the claimed starts of a server in the rescue system is its own, and says whether its line was listened to. Of a BMC that is out of order:
 * returns, it may answer the next time.
 */
export async function proveAnew(at: AtHand, assignmentId: number): Promise<boolean> {
  const assignment = await findAssignment(at.ctx, assignmentId);
  if (at.isHeld || assignment === null || !isUnfinished(assignment)) return false;
  return proveClaimed(at, assignment).catch((error: unknown) => {
    if (!(error instanceof ServerFailure)) throw error;
    return false;
  });
}

/**
 * A server that was in the rescue system starts again, which nobody here has asked for: it has to be proved anew before it is given the keys. Its power stays as
 * it is, whatever comes of it.
 */
export const provingRescue = saga<Payload>({
  name: 'fleet.proveRescue',
  queue: 'racks',
  steps: [
    {
      name: 'prove',
      do: async (run) => {
        const { ctx, payload, isHeld } = run;
        const { assignmentId: id } = payload;
        const assignment = await findAssignment(ctx, id);
        if (isHeld || assignment === null || !isUnfinished(assignment)) return;
        const said = (await ctx.db.many(told, { id })).map((start) => start.id);
        if (await proveAnew(run, id)) await doubtUnproved(ctx, id, said);
        await ctx.db.run(endUnproved, { id, before: provingSince(ctx) });
        if ((await ctx.db.maybe(unproved, { id })) === null) return;
        throw atWork('the rescue system starts again, and is not proved yet');
      },
    },
  ],
  failed: async () => 'unwanted', // it is off, or asks again
});

/** Somebody has claimed a start of a server: where that was in the rescue system it is looked for whether it is the server's own. */
export async function lookForRescue(ctx: Context, assignmentId: number): Promise<void> {
  if ((await ctx.db.maybe(isRescue, { id: assignmentId })) === null) return;
  if ((await ctx.db.maybe(unproved, { id: assignmentId })) === null) return;
  await transaction(ctx, 'fleet.lookForRescue', async (tx) => {
    if (await isJobOpenAbout(tx, provingRescue, { assignmentId })) return;
    await enqueue(tx, provingRescue, { assignmentId }, { organizationId: null });
  });
}
