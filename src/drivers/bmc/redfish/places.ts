import { BmcError } from '../failure.ts';
import type { Redfish } from './client.ts';
import { linkAt, listAt, type Resource } from './resource.ts';

/** Where a BMC keeps what we ask for; makers choose the paths. */
export interface Places {
  root: Resource;
  system: string;
  manager: string;
  chassis: string | null;
  accounts: string;
}

/** Found by its links from the root, once for a handle. */
export async function findPlaces(redfish: Redfish, leftMs: number): Promise<Places> {
  const endsMs = performance.now() + leftMs;
  const left = () => endsMs - performance.now();
  const root = await redfish.get('/redfish/v1/', left());
  const onlyOf = async (name: string): Promise<string> => {
    const collection = linkAt(root, name);
    if (collection === null) throw new BmcError('not_supported', `the BMC has no ${name}`);
    const members = listAt(await redfish.get(collection, left()), 'Members');
    const [first, second] = members;
    const path = first && linkAt({ first }, 'first');
    // Which of several servers is meant, nobody said.
    if (!path || second !== undefined)
      throw new BmcError(
        'not_supported',
        `the BMC has ${members.length} ${name}, and a BMC of one server has one`,
      );
    return path;
  };
  const system = await onlyOf('Systems');
  const manager = await onlyOf('Managers');
  const [chassis] = listAt(await redfish.get(system, left()), 'Links', 'Chassis');
  const service = linkAt(root, 'AccountService');
  if (service === null) throw new BmcError('not_supported', 'the BMC has no AccountService');
  const accounts = linkAt(await redfish.get(service, left()), 'Accounts');
  if (accounts === null) throw new BmcError('not_supported', 'the BMC lists no accounts');
  return { root, system, manager, chassis: chassis ? linkAt({ chassis }, 'chassis') : null, accounts };
}
