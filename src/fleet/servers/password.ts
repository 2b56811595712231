import { type Bmc, type BmcConnection, ownAccount } from '../../drivers/bmc/index.ts';
import { type Context, findLastRestore, statement, type TxContext } from '../../platform/index.ts';
import { placeNow, sealBmcPassword } from './bmc.ts';

/** After a restore so many are tried: one for each time that a server went to a customer or came back since the backup. Some BMCs lock an account after more. */
const mostAhead = 3;
/** Without one: a password was set, and what was to keep it failed before, or has not come to it yet. */
const mostUnkept = 1;
/** All BMCs take so many; some cut longer ones without a word. */
const characters = 16;
/** None that look alike; of both sizes and digits, as some BMCs demand. */
const letters = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789';
const classes = [/[A-Z]/, /[a-z]/, /[2-9]/];

const numberOf = statement<
  { password_no: number; problem: string | null; asked_at: Date | null },
  { serverId: number }
>(
  'fleet.bmcPasswordNo',
  'select password_no, problem, asked_at from server_bmcs where server_id = :serverId',
);
const write = statement<never, { serverId: number; at: string; password: Buffer; no: number }>(
  'fleet.writeBmcPassword',
  `update server_bmcs b set password = :password, password_no = :no where b.server_id = :serverId and ${placeNow} = :at`,
);

/**
 * The passwords that we make for the BMC of a server, numbered. Whoever has the key of the installation can make each of them again: so nothing is lost when a process dies
 * between setting one and keeping it, or when the database comes back as it was before.
 */
function passwordOf({ seal }: Context, serverId: number, no: number): string {
  return derived((nth) => seal.fingerprint(`password ${no}.${nth} of the BMC of server ${serverId}`));
}

/** One that whoever has the key of the installation can make again, by what it is for. */
export function derivedPassword({ seal }: Context, purpose: string): string {
  return derived((nth) => seal.fingerprint(`${nth} ${purpose}`));
}

function derived(bytesOf: (nth: number) => Buffer): string {
  for (let nth = 0; ; nth += 1) {
    const bytes = bytesOf(nth);
    // Those beyond the last whole turn of the letters would come up more often.
    const even = [...bytes].filter((byte) => byte < 256 - (256 % letters.length));
    const password = even
      .slice(0, characters)
      .map((byte) => letters[byte % letters.length])
      .join('');
    if (password.length === characters && classes.every((each) => each.test(password))) return password;
  }
}

/**
 * Gives our account at a BMC its next password, which nobody has had yet, and tries it. Repeated, it finds that it was set. Gives its number, which is kept with
 * {@link keepBmcPassword}. Errors of the BMC; `sign_in_refused` where neither of the two lets us in.
 */
export async function renewPassword(
  ctx: Context,
  bmc: Bmc,
  serverId: number,
  { user }: BmcConnection,
): Promise<number> {
  const no = ((await ctx.db.maybe(numberOf, { serverId }))?.password_no ?? 0) + 1;
  const password = passwordOf(ctx, serverId, no);
  if (await bmc.signsIn(user, password)) return no;
  const own = ownAccount(await bmc.listAccounts(), user);
  if (own === null) throw new Error(`the BMC of server ${serverId} lets us in and has no account ${user}`);
  await bmc.setPassword(own.id, password);
  return no;
}

/** What {@link renewPassword} has set is what we sign in with from now on, unless it is another BMC by then. */
export async function keepBmcPassword(
  tx: TxContext,
  serverId: number,
  at: string,
  no: number,
): Promise<void> {
  const password = sealBmcPassword(tx, serverId, passwordOf(tx, serverId, no));
  await tx.db.run(write, { serverId, at, password, no });
}

/**
 * A later password of ours that a BMC lets in with, which refuses the one that we know: set before it could be kept, or known no more since a restore. Tried once for
 * each time that it says so, and once after a restore. `refusal`: what it says. Null: none.
 */
export async function laterPassword(
  ctx: Context,
  bmc: Bmc,
  serverId: number,
  { user }: BmcConnection,
  refusal: string,
): Promise<{ no: number; password: string } | null> {
  const known = await ctx.db.maybe(numberOf, { serverId });
  if (known === null) return null;
  const restore = await findLastRestore(ctx);
  const isSince = restore === null || (known.asked_at !== null && known.asked_at > restore.restored_at);
  if (known.problem === refusal && isSince) return null;
  const most = known.password_no + (restore === null ? mostUnkept : mostAhead);
  for (let no = known.password_no + 1; no <= most; no += 1) {
    const password = passwordOf(ctx, serverId, no);
    if (await bmc.signsIn(user, password)) return { no, password };
  }
  return null;
}
