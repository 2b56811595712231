import { type Context, statement, type TxContext } from '../../platform/index.ts';

/** What was installed on a server last, as far as it is known. */
export interface Installed {
  /** OpenSSH public keys that it lets in; null: not known any more. */
  keys: string[] | null;
  /** Whether it lets somebody in by password; null: not known any more. */
  hasPassword: boolean | null;
  layout: 'single' | 'raid1' | null;
}

const last = statement<
  { kind: string; keys: string[] | null; has_password: boolean | null; layout: Installed['layout'] },
  { serverId: number }
>(
  'fleet.lastInstalled',
  `select kind, keys, has_password, layout from server_assignments where server_id = :serverId and state = 'done' and kind in ('install', 'wipe')
   order by id desc limit 1`,
);
const lastGiven = statement<{ isWiped: boolean }, { serverId: number }>(
  'fleet.lastGivenAssignment',
  `select kind = 'wipe' and state = 'done' as "isWiped" from server_assignments
   where server_id = :serverId and kind in ('install', 'wipe') and (given_at is not null or state = 'done') order by id desc limit 1`,
);
const forget = statement<never, { serverId: number; id: number }>(
  'fleet.forgetInstalled',
  `update server_assignments set keys = null, has_password = null, layout = null
   where server_id = :serverId and id < :id and has_password is not null`,
);

/** Whom the system on the disks of a server lets in, and how they are laid out. */
export async function installedOn(ctx: Context, serverId: number): Promise<Installed> {
  const row = await ctx.db.maybe(last, { serverId });
  if (row?.kind !== 'install') return { keys: null, hasPassword: null, layout: null };
  return { keys: row.keys, hasPassword: row.has_password, layout: row.layout };
}

/**
 * Whether something that was written for a customer may be on the disks of a server: an installer was told to, and no later one was seen to wipe all of them. Never
 * true of a server with whose disks nothing was done.
 */
export async function isWritten(ctx: Context, serverId: number): Promise<boolean> {
  return (await ctx.db.maybe(lastGiven, { serverId }))?.isWiped === false;
}

/** What was on the disks before this assignment is there no more, and nobody needs to know whom it let in. */
export async function forgetInstalled(tx: TxContext, serverId: number, id: number): Promise<void> {
  await tx.db.run(forget, { serverId, id });
}
