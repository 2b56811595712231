import { type BmcAccount, ownAccount } from '../../drivers/bmc/index.ts';
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

/** Who can sign in at the BMC of a server besides us, by their names. */
export function othersAtBmc(at: AtHand, serverId: number, since: Date): Promise<string[]> {
  return withBmcOf(at, serverId, since, async (bmc, { user }) =>
    othersOf(await bmc.listAccounts(), user).map(({ name }) => name),
  );
}

/** Nobody but us signs in at the BMC of a server any more, which is tried; {@link ServerFailure} says who still can, or how else it lets people in. */
export function shutOthersOut(at: AtHand, serverId: number, since: Date): Promise<void> {
  return withBmcOf(at, serverId, since, async (bmc, { user }) => {
    for (const account of othersOf(await bmc.listAccounts(), user)) await bmc.shutOut(account.id);
    const { findings } = await bmc.readSecurity();
    if (findings.length === 0 || at.ctx.config.insecureBmcs) return;
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
