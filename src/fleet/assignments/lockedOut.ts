import { BmcError } from '../../drivers/bmc/index.ts';
import type { Plan } from '../../drivers/installer/index.ts';
import { type Context, statement, transaction } from '../../platform/index.ts';
import { placeOf, sealBmcPassword } from '../servers/bmc.ts';
import { bmcConnection, placeNow } from '../servers/life.ts';
import { derivedPassword } from '../servers/password.ts';
import { type AtHand, ServerFailure } from './atHand.ts';
import { type Assignment, isUnfinished, lockAssignment } from './rows.ts';

/**
 * Whoever was root on a server can have shut us out of its BMC. When it comes back it is let start as a stranger is that enrols: whichever start says that it is this
 * server is told to give its own BMC our account, over the machine's own bus, with a password that was made for that start alone. The one by whose password the BMC
 * lets us in is behind it. Nothing more is believed of it: then the server's power goes, it starts from the network and is proved as any other, since until then it
 * may be its customer's system that plays the installer.
 */

/** So long a person has to start it anew: nobody else can, for its power cannot be switched. */
const startedWithinMs = 72 * 3_600_000;
/** Who we are there where we had a name that the installer cannot give. */
const usualUser = 'innkeeper';
const givable = /^[a-z][a-z0-9]{0,15}$/;

const note = statement<never, { id: number; now: Date }>(
  'fleet.noteLockedOut',
  `update server_assignments set locked_out_at = coalesce(locked_out_at, :now) where id = :id and state = 'open'`,
);
const forget = statement<never, { id: number }>(
  'fleet.forgetLockedOut',
  'update server_assignments set locked_out_at = null where id = :id',
);
const told = statement<
  { id: number; token_hash: string; inside_at: Date | null; problem: string | null },
  { id: number }
>(
  'fleet.startsInside',
  `select id, token_hash, inside_at, inside_problem as problem from server_starts
   where assignment_id = :id and secret_hash is not null and not proved and (inside_at is not null or inside_problem is not null) order by id desc`,
);
const toTell = statement<{ server_id: number; token_hash: string }, { startId: number }>(
  'fleet.startToTellInside',
  `select g.server_id, s.token_hash from server_starts s join server_assignments g on g.id = s.assignment_id
   where s.id = :startId and g.locked_out_at is not null and g.state = 'open' and s.inside_at is null and s.inside_problem is null`,
);
const hearStart = statement<never, { startId: number; at: Date | null; problem: string | null }>(
  'fleet.hearStartInside',
  `update server_starts s set inside_at = :at::timestamptz, inside_problem = :problem::text from server_assignments g
   where s.id = :startId and g.id = s.assignment_id and g.locked_out_at is not null and g.state = 'open' and s.inside_at is null`,
);
const endStart = statement<never, { id: number }>(
  'fleet.endStartInside',
  'delete from server_starts where id = :id',
);
// Somebody said anew how it is reached, or it lets us in again as it is.
const isOpenAgain = statement<{ is: boolean }, { serverId: number; since: Date }>(
  'fleet.isBmcOpenAgain',
  `select problem is null and (asked_at is null or asked_at > :since) as is from server_bmcs where server_id = :serverId`,
);
const writeLogin = statement<never, { serverId: number; at: string; user: string; password: Buffer }>(
  'fleet.writeInsideLogin',
  `update server_bmcs b set username = :user, password = :password where b.server_id = :serverId and ${placeNow} = :at`,
);

function passwordOf(ctx: Context, serverId: number, startHash: string): string {
  return derivedPassword(ctx, `password from inside by ${startHash} for the BMC of server ${serverId}`);
}

function userOf(user: string): string {
  return givable.test(user) ? user : usualUser;
}

/** Whether what went wrong is that a BMC does not let us in, and the server is one that comes back. */
export function isLockedOut({ kind, service_id: serviceId, state }: Assignment, error: unknown): boolean {
  return (
    kind === 'wipe' &&
    serviceId !== null &&
    state === 'open' &&
    error instanceof ServerFailure &&
    error.cause instanceof BmcError &&
    error.cause.code === 'sign_in_refused'
  );
}

export async function noteLockedOut(ctx: Context, id: number): Promise<void> {
  await ctx.db.run(note, { id, now: ctx.clock.now() });
}

/** What a start of a server that is not proved is to do from inside; null: nothing. */
export async function planInside(
  ctx: Context,
  startId: number,
): Promise<Extract<Plan, { task: 'bmc' }> | null> {
  const start = await ctx.db.maybe(toTell, { startId });
  if (start === null) return null;
  const connection = await bmcConnection(ctx, start.server_id);
  if (connection === null) return null;
  const password = passwordOf(ctx, start.server_id, start.token_hash);
  return { task: 'bmc', bmc: { user: userOf(connection.user), password } };
}

/** A start says that its BMC took the password, or why not: a stranger's word, by which nothing but this start is known. */
export async function hearInside(ctx: Context, startId: number, problem: string | null): Promise<void> {
  const at = problem === null ? ctx.clock.now() : null;
  await ctx.db.run(hearStart, { startId, at, problem });
}

const locked =
  'its BMC does not let us in, so its power cannot be switched from here; started anew by hand it gives its BMC our account from inside';

/** What makes a job come again, and uses no attempt up. `said`: more about it. */
export function lockedOut(said = ''): Error {
  return Object.assign(new Error(`${locked}.${said}`), { code: 'bmc_locked_out', waits: true });
}

/**
 * Returns once its BMC lets us in again; until then it throws what makes a job come again (`waits`), and after three days that the server is out of order.
 */
export async function requireLetIn(at: AtHand, assignment: Assignment, since: Date): Promise<void> {
  const { ctx } = at;
  const { id, server_id: serverId, opened_at: openedAt } = assignment;
  if ((await ctx.db.maybe(isOpenAgain, { serverId, since }))?.is === true)
    return void (await ctx.db.run(forget, { id }));
  const starts = await ctx.db.many(told, { id });
  for (const start of starts)
    if (start.inside_at !== null && (await takeLogin(at, assignment, start))) return;
  const problem = starts.find((start) => start.problem !== null)?.problem ?? null;
  const said =
    problem === null ? '' : ` Whoever started as it last could not give it our account: ${problem}.`;
  // From when it came back: whoever is root there can open and shut its BMC as often as they like.
  if (ctx.clock.now().getTime() - openedAt.getTime() > startedWithinMs)
    throw new ServerFailure('server_failed', `${locked}, and nobody had it do so within three days.${said}`);
  throw lockedOut(said);
}

/** Whether a BMC lets us in with the password that this start was given, which is ours from then on. */
async function takeLogin(
  { ctx, drivers }: AtHand,
  { id, server_id: serverId }: Assignment,
  start: { id: number; token_hash: string },
): Promise<boolean> {
  const connection = await bmcConnection(ctx, serverId);
  if (connection === null) return false;
  const user = userOf(connection.user);
  const password = passwordOf(ctx, serverId, start.token_hash);
  const bmc = drivers.bmc({ ...connection, user, password });
  try {
    // A start that says so and does not open it is not tried again: some BMCs let nobody in after a few such tries.
    if (!(await bmc.signsIn(user, password))) {
      await ctx.db.run(endStart, { id: start.id });
      return false;
    }
  } finally {
    await bmc.close();
  }
  return transaction(ctx, 'fleet.takeLoginInside', async (tx) => {
    const now = await tx.db.maybe(lockAssignment, { id });
    if (now === null || !isUnfinished(now)) return false;
    const sealed = sealBmcPassword(tx, serverId, password);
    const at = placeOf(connection);
    if ((await tx.db.run(writeLogin, { serverId, at, user, password: sealed })) === 0) return false;
    await tx.db.run(forget, { id });
    await tx.db.run(endStart, { id: start.id });
    return true;
  });
}
