import { randomInt } from 'node:crypto';
import { checkNewPassword, checkUser, longestPassword } from './connection.ts';
import type { Bmc, BmcAccount } from './contract.ts';
import { BmcError } from './failure.ts';
import { proved, type Talk } from './talk.ts';
import { type Until, until } from './turns.ts';

const accountsMs = 60_000;

/**
 * Which account we sign in with by that name; null: none. Whoever was root on the server can have given the name to another as well: of several it is the first that
 * may do everything, and the others are none of ours.
 */
export function ownAccount(accounts: readonly BmcAccount[], user: string): BmcAccount | null {
  const named = accounts.filter(({ name }) => name === user);
  return (
    named.find(({ access, isEnabled }) => access === 'administrator' && isEnabled !== false) ??
    named[0] ??
    null
  );
}

type AccountCalls = Pick<Bmc, 'listAccounts' | 'setPassword' | 'shutOut' | 'signsIn'>;

/**
 * Who may sign in. Passwords are tried: a BMC says that it set one also where it cut or dropped it. `user` is who we are there, and `becomes`
 * hears of the password by which we go on.
 */
export function accountCalls(talk: Talk, user: string, becomes: (password: string) => void): AccountCalls {
  const list = (deadline: Until) => talk.read(deadline, (at, leftMs) => at.listAccounts(leftMs));
  const tries = (name: string, password: string, deadline: Until) =>
    talk.read(deadline, (at, leftMs) => at.signsIn(name, password, leftMs));

  async function requireAccount(id: string, deadline: Until): Promise<BmcAccount> {
    const found = (await list(deadline)).find((each) => each.id === id);
    if (found) return found;
    throw new BmcError('account_absent', `the BMC has no account ${JSON.stringify(id.slice(0, 40))}`);
  }

  return {
    listAccounts: ({ timeoutMs = accountsMs } = {}) => list(until(timeoutMs)),
    async signsIn(name, password, { timeoutMs = accountsMs } = {}) {
      checkUser(name);
      return tries(name, password, until(timeoutMs));
    },

    async setPassword(id, password, { timeoutMs = accountsMs } = {}) {
      checkNewPassword(password);
      const deadline = until(timeoutMs);
      const account = await requireAccount(id, deadline);
      await proved(deadline, {
        act: () => talk.change(deadline, (at, leftMs) => at.setPassword(account, password, leftMs)),
        isSo: () => tries(account.name, password, deadline),
        otherwise: 'the BMC says that it set the password, and does not let in with it',
      });
      if (account.name === user) becomes(password);
      // After it held, so that the one that fails is not the last of several: some lock an account after those.
      if (await tries(account.name, password.slice(0, -1), deadline))
        throw new BmcError(
          'password_cut',
          'the BMC took only the beginning of the password, and lets in with less',
        );
    },

    async shutOut(id, { timeoutMs = accountsMs } = {}) {
      const deadline = until(timeoutMs);
      const account = await requireAccount(id, deadline);
      if (ownAccount(await list(deadline), user)?.id === id)
        throw new BmcError('spec_invalid', 'that is the account that we sign in with');
      const password = randomPassword();
      await talk.change(deadline, (at, leftMs) => at.setPassword(account, password, leftMs));
      await talk.change(deadline, (at, leftMs) => at.takeAccess(account, leftMs));
      // Last: to change what an account may do switches it on again at some.
      await talk.change(deadline, (at, leftMs) => at.disable(account, leftMs));
      const isOpen =
        (await tries(account.name, password, deadline)) || isUsable(await requireAccount(id, deadline));
      if (isOpen)
        throw new BmcError('nothing_happened', 'the BMC says that it shut the account out, and lets it in');
    },
  };
}

function isUsable({ access, isEnabled }: BmcAccount): boolean {
  return access !== 'none' && isEnabled !== false;
}

const letters = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789';
const classes = [/[A-Z]/, /[a-z]/, /[2-9]/];

/** As long as every BMC takes it, of letters of both sizes and digits, as some demand. */
export function randomPassword(): string {
  for (;;) {
    const password = Array.from({ length: longestPassword }, () => letters[randomInt(letters.length)]).join(
      '',
    );
    if (classes.every((each) => each.test(password))) return password;
  }
}
