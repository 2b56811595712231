import { BlockList, isIPv6 } from 'node:net';
import { type Bmc, type BmcAccount, ownAccount, type SecurityFinding } from '../../drivers/bmc/index.ts';
import type { Inventory } from '../../drivers/installer/index.ts';
import type { Context } from '../../platform/index.ts';
import { type Baseline, type BmcUser, usersOf } from './compare.ts';

/** What a BMC says of itself that a baseline can name, as plain JSON. */
export interface SeenBmc {
  firmware: string | null;
  /** By which it is told from others; null: it has none; absent: nobody asked. */
  uuid?: string | null;
  /** Those who sign in besides us; null: they were not asked for. */
  users: BmcUser[] | null;
  cipherSuites: number[] | null;
  services: string[] | null;
}

const longest = 100;

/** Whoever owned the server owned its BMC, and may have it say anything. */
function readable(text: string): string {
  return text
    .slice(0, longest)
    .replace(/\p{Cc}+/gu, ' ')
    .trim()
    .toWellFormed();
}

/** Asks a BMC for all of it but its users. `findings`: what is unsafe about it. Errors of the BMC. */
export async function seeBmc(bmc: Bmc): Promise<{ seen: SeenBmc; findings: SecurityFinding[] }> {
  const { firmware, uuid } = await bmc.identify();
  const { cipherSuites, services, findings } = await bmc.readSecurity();
  const seen = {
    ...{ firmware: readable(firmware) || null, uuid, users: null, services },
    cipherSuites: cipherSuites && openSuites(cipherSuites, findings),
  };
  return { seen, findings };
}

/** Whether a BMC at this IP address may let people in as none should: one of a test, or of the demonstration. */
export function mayBeInsecure(
  { insecureBmcs }: Pick<Context['config'], 'insecureBmcs'>,
  address: string,
): boolean {
  const allowed = new BlockList();
  for (const network of insecureBmcs) {
    const [from = '', bits = ''] = network.split('/');
    allowed.addSubnet(from, Number(bits), isIPv6(from) ? 'ipv6' : 'ipv4');
  }
  return allowed.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
}

/** A BMC lists what it knows; whether suite 0 lets anybody in was tried. */
function openSuites(listed: readonly number[], findings: readonly SecurityFinding[]): number[] {
  const isOpen = findings.some(({ code }) => code === 'suite_0');
  const others = listed.filter((suite) => suite !== 0);
  return [...(isOpen ? [0] : []), ...others].sort((a, b) => a - b);
}

/** Who of the accounts of a BMC signs in there, but for our own, which has this name. */
export function usersBesides(accounts: readonly BmcAccount[], user: string): BmcUser[] {
  const own = ownAccount(accounts, user);
  return usersOf(accounts.filter(({ id }) => id !== own?.id)).map(({ name, access }) => ({
    ...{ name: readable(name), access },
  }));
}

/** How a server is, by what it said when it was proved last, and by its BMC; null: nobody has asked. */
export function observedOf(inventory: Inventory | null, seen: SeenBmc | null): Baseline {
  return {
    firmware: inventory && readable(inventory.firmware.version),
    boot: inventory?.firmware.boot ?? null,
    bmc_firmware: seen?.firmware ?? null,
    disk_firmware: inventory && firmwareOfDisks(inventory.disks),
    boot_order: inventory?.bootOrder ?? null,
    bmc_users: seen?.users ?? null,
    cipher_suites: seen?.cipherSuites ?? null,
    services: seen?.services ?? null,
  };
}

function firmwareOfDisks(disks: Inventory['disks']): Baseline['disk_firmware'] {
  const known = new Map(
    disks.map(({ model, firmware }) => {
      const disk = { model: readable(model), version: readable(firmware) };
      return [JSON.stringify(disk), disk] as const;
    }),
  );
  return [...known.values()];
}
