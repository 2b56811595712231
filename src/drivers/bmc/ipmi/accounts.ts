import type { BmcAccount } from '../contract.ts';
import { BmcError } from '../failure.ts';
import { type Ipmi, withCommas } from './program.ts';

const app = 0x06;
const setAccess = 0x43;
const getAccess = 0x44;
const setUserPassword = 0x47;
/** The one that we speak through, whatever its number is. */
const thisChannel = 0x0e;
const noAccess = 0x0f;
const accessOf: Record<number, BmcAccount['access']> = {
  2: 'user',
  3: 'operator',
  4: 'administrator',
  5: 'administrator',
};
const enabledOf: Record<number, boolean> = { 1: true, 2: false };

/** Those with a name, and who gives none where that is let in. */
export async function listAccounts(ipmi: Ipmi, leftMs: number): Promise<BmcAccount[]> {
  const endsMs = performance.now() + leftMs;
  const table = await ipmi.run([withCommas, 'user', 'list', String(thisChannel)], leftMs);
  const accounts: BmcAccount[] = [];
  for (const line of table.split('\n')) {
    // A name may have commas in it.
    const [, id, name = '', isLetIn] =
      /^(\d{1,2}),(.*),(?:true|false),(?:true|false),(true|false),[^,]*$/.exec(line) ?? [];
    if (id === undefined || (name === '' && isLetIn !== 'true')) continue;
    const [, enabled = 0, , access = noAccess] = await ipmi.raw(
      [app, getAccess, thisChannel, Number(id)],
      endsMs - performance.now(),
    );
    const mayTalk = (access & 0x10) !== 0;
    accounts.push({
      id,
      name,
      access: (mayTalk && accessOf[access & 0x0f]) || 'none',
      isEnabled: enabledOf[enabled >> 6] ?? null,
    });
  }
  return accounts;
}

/** It asks for the password, and asks again to be sure: so it is in no argument. */
export async function setPassword(ipmi: Ipmi, id: string, password: string, leftMs: number): Promise<void> {
  await ipmi.run(['user', 'set', 'password', userId(id)], leftMs, { input: `${password}\n${password}\n` });
}

/** No session, at no level. */
export async function takeAccess(ipmi: Ipmi, id: string, leftMs: number): Promise<void> {
  const change = 0x80;
  await ipmi.raw([app, setAccess, change | thisChannel, Number(userId(id)), noAccess], leftMs);
}

export async function disable(ipmi: Ipmi, id: string, leftMs: number): Promise<void> {
  await ipmi.raw([app, setUserPassword, Number(userId(id)), 0], leftMs);
}

function userId(id: string): string {
  if (/^[1-9]\d?$/.test(id) && Number(id) <= 63) return id;
  throw new BmcError('spec_invalid', 'accounts of IPMI are numbered from 1 to 63');
}
