import type { BmcAccount } from '../contract.ts';
import { BmcError } from '../failure.ts';
import type { Redfish } from './client.ts';
import type { Places } from './places.ts';
import { at, linkAt, listAt, textAt } from './resource.ts';

const accessOf: Record<string, BmcAccount['access']> = {
  Administrator: 'administrator',
  Operator: 'operator',
  ReadOnly: 'user',
};
/** What may do nothing, and where that is not known the least. */
const least = ['NoAccess', 'None', 'ReadOnly'];

interface Placed extends BmcAccount {
  path: string;
}

async function placedAccounts(redfish: Redfish, { accounts }: Places, leftMs: number): Promise<Placed[]> {
  const endsMs = performance.now() + leftMs;
  const members = listAt(await redfish.get(accounts, leftMs), 'Members').slice(0, 64);
  const found: Placed[] = [];
  for (const member of members) {
    const path = linkAt({ member }, 'member');
    if (path === null) continue;
    const resource = await redfish.get(path, endsMs - performance.now());
    const [id, name] = [textAt(resource, 'Id'), textAt(resource, 'UserName')];
    const enabled = at(resource, 'Enabled');
    // Some show places for accounts that there are not.
    if (id === null || (name === null && enabled !== true)) continue;
    const access = accessOf[textAt(resource, 'RoleId') ?? ''] ?? roleOf(textAt(resource, 'RoleId'));
    found.push({
      path,
      id,
      name: name ?? '',
      access,
      isEnabled: typeof enabled === 'boolean' ? enabled : null,
    });
  }
  return found;
}

/** A role of the maker's own may do something, as far as we know. */
function roleOf(role: string | null): BmcAccount['access'] {
  return role === null || role === 'NoAccess' || role === 'None' ? 'none' : 'user';
}

export async function listAccounts(redfish: Redfish, places: Places, leftMs: number): Promise<BmcAccount[]> {
  const accounts = await placedAccounts(redfish, places, leftMs);
  return accounts.map(({ id, name, access, isEnabled }) => ({ id, name, access, isEnabled }));
}

export async function changeAccount(
  redfish: Redfish,
  places: Places,
  { id }: BmcAccount,
  change: { Password: string } | { Enabled: boolean } | { RoleId: string },
  leftMs: number,
): Promise<void> {
  const endsMs = performance.now() + leftMs;
  const found = (await placedAccounts(redfish, places, leftMs)).find((each) => each.id === id);
  if (found === undefined) throw new BmcError('account_absent', 'the BMC has that account no longer');
  await redfish.patch(found.path, change, endsMs - performance.now());
}

export async function takeAccess(
  redfish: Redfish,
  places: Places,
  account: BmcAccount,
  leftMs: number,
): Promise<void> {
  const endsMs = performance.now() + leftMs;
  for (const [nth, RoleId] of least.entries())
    try {
      return await changeAccount(redfish, places, account, { RoleId }, endsMs - performance.now());
    } catch (error) {
      const isLast = nth === least.length - 1;
      if (isLast || !(error instanceof BmcError) || error.code !== 'bmc_refused') throw error;
    }
}
