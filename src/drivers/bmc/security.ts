import { boundedServices } from './bounded.ts';
import type { Bmc, SecurityFinding } from './contract.ts';
import { factoryAccounts } from './factory.ts';
import type { Talk } from './talk.ts';
import { type Until, until } from './turns.ts';

const securityMs = 120_000;

/** What is unsafe about a BMC, each by trying it. */
export function securityCalls(
  talk: Talk,
  own: () => { user: string; password: string },
): Pick<Bmc, 'readSecurity'> {
  async function factoryUsers(deadline: Until): Promise<string[]> {
    const accounts = await talk.read(deadline, (at, leftMs) => at.listAccounts(leftMs));
    const found: string[] = [];
    for (const { user, passwords } of factoryAccounts) {
      const account = accounts.find(({ name }) => name === user);
      if (account === undefined || account.isEnabled === false || account.access === 'none') continue;
      // Of our own account we know the password, and need not fail to sign in for it.
      if (user === own().user) {
        if (passwords.includes(own().password)) found.push(user);
        continue;
      }
      for (const password of passwords)
        if (await talk.read(deadline, (at, leftMs) => at.signsIn(user, password, leftMs))) {
          found.push(user);
          break;
        }
    }
    return found;
  }

  return {
    async readSecurity({ timeoutMs = securityMs } = {}) {
      const deadline = until(timeoutMs);
      const cipherSuites = await talk.read(deadline, (at, leftMs) => at.readCipherSuites(leftMs));
      const services = await talk.read(deadline, (at, leftMs) => at.readServices(leftMs));
      const findings: SecurityFinding[] = [];
      if (await talk.read(deadline, (at, leftMs) => at.letsInWithoutPassword(leftMs)))
        findings.push(suiteZero);
      if (await talk.read(deadline, (at, leftMs) => at.letsInWithoutName(leftMs)))
        findings.push(anonymousUser);
      findings.push(...(await factoryUsers(deadline)).map(factoryUser));
      return { cipherSuites, services: services === null ? null : boundedServices(services), findings };
    },
  };
}

const suiteZero: SecurityFinding = {
  code: 'suite_0',
  account: null,
  message:
    'Whoever knows a user’s name is let in without a password, by cipher suite 0. Switch it off in the settings of the BMC’s IPMI over LAN.',
};

const anonymousUser: SecurityFinding = {
  code: 'anonymous_user',
  account: null,
  message:
    'Anybody is let in without a name and a password. Disable the user without a name in the settings of the BMC.',
};

function factoryUser(account: string): SecurityFinding {
  const message = `The user ${account} still has the password that its maker gives to all. Set another one, or disable the user.`;
  return { code: 'factory_user', account, message };
}
