import type { Nic, NicAddress } from '../contract.ts';
import type { PublicIdentity } from './seed.ts';

/** What is known of a machine once it is told who it is; `before` is what it was told last, null when that is the first time. */
export function nextIdentity(
  before: PublicIdentity | null,
  { guest, nic, hostname, nameservers }: PublicIdentity,
): PublicIdentity {
  const former = before ? formerAddresses(before, nic) : undefined;
  return {
    guest,
    nic,
    ...(former === undefined ? {} : { former }),
    ...(before?.instanceId === undefined ? {} : { instanceId: before.instanceId }),
    hostname,
    nameservers,
    // A guest reads them once; what it was first told is in it already, or will be when it is new.
    newNameservers: before
      ? before.newNameservers === true || before.nameservers.join() !== nameservers.join()
      : undefined,
  };
}

/** The same machine with other addresses; null when its addresses have never changed. */
export function withAddresses(
  before: PublicIdentity,
  nic: Nic,
): (PublicIdentity & { former: NicAddress[] }) | null {
  const former = formerAddresses(before, nic);
  return former === undefined ? null : { ...before, nic, former };
}

/** Undefined for as long as the machine has the addresses that it was made with. */
function formerAddresses(before: PublicIdentity, nic: Nic): NicAddress[] | undefined {
  const own = new Set(nic.addresses.map((each) => each.address));
  const ever = new Map(
    [...(before.former ?? []), ...before.nic.addresses].map((each) => [each.address, each] as const),
  );
  if (before.former === undefined && ever.size === own.size && [...own].every((each) => ever.has(each)))
    return undefined;
  return [...ever.values()].filter((each) => !own.has(each.address));
}
