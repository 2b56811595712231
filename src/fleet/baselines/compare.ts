import type { BmcAccount } from '../../drivers/bmc/index.ts';
import type { BootSource } from '../../drivers/installer/index.ts';

export const bootSources = ['network', 'disk', 'usb', 'cd', 'other'] as const satisfies readonly BootSource[];
export const accesses = ['administrator', 'operator', 'user'] as const;

/** Somebody besides us who signs in at a BMC. */
export interface BmcUser {
  name: string;
  access: (typeof accesses)[number];
}

/**
 * How a server has to be beside what it has, or how it is. Of each part null: of a baseline, that it may be anything; of what a server is, that nobody can read it.
 */
export interface Baseline {
  /** The maker's version of its BIOS or UEFI. */
  firmware: string | null;
  boot: 'bios' | 'uefi' | null;
  bmc_firmware: string | null;
  /** By model: of one that a baseline does not name nothing is compared. */
  disk_firmware: { model: string; version: string }[] | null;
  /** What its firmware starts, in order. */
  boot_order: BootSource[] | null;
  /** Those who sign in at its BMC besides us. Each time that a server comes back all of them are shut out, so one who is missing is no difference. */
  bmc_users: BmcUser[] | null;
  cipher_suites: number[] | null;
  services: string[] | null;
}

/** Of what anybody may say at a BMC that they own, so much is named. */
const mostNamed = 40;

/** How a server differs from a baseline, each in words; empty: in nothing that the baseline says and anybody can read. */
export function differencesOf(baseline: Baseline, found: Baseline): string[] {
  const all = [
    ...single('its firmware is', baseline.firmware, found.firmware),
    ...single('it starts by', inCapitals(baseline.boot), inCapitals(found.boot)),
    ...single('the firmware of its BMC is', baseline.bmc_firmware, found.bmc_firmware),
    ...ofDisks(baseline.disk_firmware, found.disk_firmware),
    ...list('its boot order is', baseline.boot_order, found.boot_order),
    ...ofUsers(baseline.bmc_users, found.bmc_users),
    ...list('its BMC opens the cipher suites', sorted(baseline.cipher_suites), sorted(found.cipher_suites)),
    ...list('its BMC offers', sorted(baseline.services), sorted(found.services)),
  ];
  if (all.length <= mostNamed) return all;
  return [...all.slice(0, mostNamed), `and ${all.length - mostNamed} more`];
}

function single(is: string, wanted: string | null, found: string | null): string[] {
  if (wanted === null || found === null || wanted === found) return [];
  return [`${is} ${named(found)}, and the baseline says ${named(wanted)}`];
}

function list(
  is: string,
  wanted: readonly (string | number)[] | null,
  found: readonly (string | number)[] | null,
): string[] {
  if (wanted === null || found === null || JSON.stringify(wanted) === JSON.stringify(found)) return [];
  return [`${is} ${named(found.join(', '))}, and the baseline says ${named(wanted.join(', '))}`];
}

function named(text: string): string {
  return text === '' ? 'nothing' : text;
}

function ofDisks(wanted: Baseline['disk_firmware'], found: Baseline['disk_firmware']): string[] {
  if (wanted === null || found === null) return [];
  return found.flatMap(({ model, version }) => {
    const known = wanted.filter((each) => each.model === model).map((each) => each.version);
    if (known.length === 0 || known.includes(version)) return [];
    return [
      `a disk ${model} has the firmware ${named(version)}, and the baseline says ${known.map(named).join(' or ')}`,
    ];
  });
}

/** More than a baseline lets them is a difference; less is what we do to them ourselves. */
function ofUsers(wanted: Baseline['bmc_users'], found: Baseline['bmc_users']): string[] {
  if (wanted === null || found === null) return [];
  // A name may be there twice, and the baseline knows one of them.
  const left = [...wanted];
  return found.flatMap(({ name, access }) => {
    const who = name === '' ? 'whoever gives no name' : `the user ${name}`;
    const at = left.findIndex((each) => each.name === name);
    const known = at === -1 ? undefined : left.splice(at, 1)[0];
    if (known === undefined)
      return [`${who} could sign in at its BMC as ${access}, and is not in the baseline`];
    if (accesses.indexOf(access) >= accesses.indexOf(known.access)) return [];
    return [`${who} could sign in at its BMC as ${access}, and the baseline says ${known.access}`];
  });
}

function inCapitals(text: string | null): string | null {
  return text === null ? null : text.toUpperCase();
}

function sorted<T extends string | number>(values: readonly T[] | null): T[] | null {
  return values === null
    ? null
    : [...new Set(values)].sort((a, b) =>
        typeof a === 'number' && typeof b === 'number' ? a - b : a < b ? -1 : 1,
      );
}

/** Who of these accounts of a BMC signs in. */
export function usersOf(accounts: readonly BmcAccount[]): BmcUser[] {
  return accounts.flatMap(({ name, access, isEnabled }) =>
    access === 'none' || isEnabled === false ? [] : [{ name, access }],
  );
}
