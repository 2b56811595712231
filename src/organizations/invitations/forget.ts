import { type Context, statement, type TxContext } from '../../platform/index.ts';

const expireAll = statement<never, { now: Date }>(
  'organizations.expireInvitations',
  'update invitations set expires_at = :now where expires_at > :now',
);
const purge = statement<never, { before: Date; limit: number }>(
  'organizations.purgeInvitations',
  'delete from invitations where id in (select id from invitations where expires_at <= :before limit :limit)',
);

/** After a restore: one that was withdrawn or accepted since the backup is there again, and opens nothing until it is sent anew. */
export async function expireInvitations(tx: TxContext): Promise<void> {
  await tx.db.run(expireAll, { now: tx.clock.now() });
}

const batch = 1_000;
const keptMs = 30 * 86_400_000;

/** Forgets invitations that expired a month ago, a batch at a time. */
export async function purgeInvitations(ctx: Context): Promise<'more' | 'done'> {
  const before = new Date(ctx.clock.now().getTime() - keptMs);
  return (await ctx.db.run(purge, { before, limit: batch })) >= batch ? 'more' : 'done';
}
