import { type BmcAccount, ownAccount } from '../../drivers/bmc/index.ts';
import type { BmcUser } from '../baselines/compare.ts';
import { mayBeInsecure, type SeenBmc, seeBmc, usersBesides } from '../baselines/observe.ts';
import { placeOf } from '../servers/bmc.ts';
import { renewPassword } from '../servers/password.ts';
import { type AtHand, ServerFailure, withBmcOf } from './carryOut.ts';

/** Which password of ours a BMC has since, for {@link keepBmcPassword}. */
export interface Renewed {
  serverId: number;
  bmcAt: string;
  passwordNo: number;
}

/** Gives the BMC of a server a new password of ours. {@link ServerFailure} where it does not let us in or does not take it; one that is silent is waited for as of `since`. */
export function renewBmcPassword(at: AtHand, serverId: number, since: Date): Promise<Renewed> {
  return withBmcOf(at, serverId, since, async (bmc, connection) => ({
    serverId,
    bmcAt: placeOf(connection),
    passwordNo: await renewPassword(at.ctx, bmc, serverId, connection),
  }));
}

/** Who can sign in at the BMC of a server besides us: all of them by their names, and what a baseline knows of them. */
export function othersAtBmc(
  at: AtHand,
  serverId: number,
  since: Date,
): Promise<{ others: string[]; users: BmcUser[] }> {
  return withBmcOf(at, serverId, since, async (bmc, { user }) => {
    const accounts = await bmc.listAccounts();
    return { others: othersOf(accounts, user).map(({ name }) => name), users: usersBesides(accounts, user) };
  });
}

/**
 * Nobody but us signs in at the BMC of a server any more, which is tried; {@link ServerFailure} says who still can, or how else it lets people in. Gives what else a
 * baseline knows of it.
 */
export function shutOthersOut(at: AtHand, serverId: number, since: Date): Promise<SeenBmc> {
  return withBmcOf(at, serverId, since, async (bmc, { user, address }) => {
    for (const account of othersOf(await bmc.listAccounts(), user)) await bmc.shutOut(account.id);
    const { seen, findings } = await seeBmc(bmc);
    if (findings.length === 0 || mayBeInsecure(at.ctx.config, address)) return seen;
    throw new ServerFailure('server_failed', findings.map(({ message }) => message).join(' '));
  });
}

/** By their ids: a name may be ours and its account another's. */
function othersOf(accounts: BmcAccount[], user: string): BmcAccount[] {
  const own = ownAccount(accounts, user);
  return accounts.filter(
    ({ id, access, isEnabled }) => id !== own?.id && access !== 'none' && isEnabled !== false,
  );
}
