import type { BmcConnection } from '../connection.ts';
import type { BmcIdentity, NextBoot } from '../contract.ts';
import type { BmcControls, Press } from '../controls.ts';
import { BmcError } from '../failure.ts';
import { disable, listAccounts, setPassword, takeAccess } from './accounts.ts';
import { readBoot, setBoot } from './boot.ts';
import { readEvents } from './events.ts';
import { fruOf } from './fru.ts';
import { type Ipmi, type IpmiProgram, ipmiProgram } from './program.ts';
import { readSensors } from './sensors.ts';
import { openSerial, serialHolder, showsSerial } from './serial.ts';

const app = 0x06;
const chassis = 0x00;
const presses: Record<Press, number> = { off: 0, on: 1, reset: 3, button: 5 };

/** A BMC that speaks IPMI 2.0. Where numbers are, they are those of its specification. */
export function ipmiControls(connection: BmcConnection, program: IpmiProgram): BmcControls {
  const ipmi = ipmiProgram(connection, program);
  return {
    kind: 'ipmi',
    capabilities: ['serial'],
    identify: (leftMs) => identify(ipmi, leftMs),
    async readPower(leftMs) {
      const [status] = await ipmi.raw([chassis, 0x01], leftMs);
      if (status === undefined) throw new BmcError('answer_invalid', 'the BMC says nothing of its chassis');
      return status & 1 ? 'on' : 'off';
    },
    press: async (what, leftMs) =>
      void (await ipmi.raw([chassis, 0x02, presses[what]], leftMs, { once: true })),
    readNextBoot: (leftMs) => readBoot(ipmi, leftMs),
    setNextBoot: (boot: NextBoot | null, leftMs) => setBoot(ipmi, boot, leftMs),
    openSerial: (leftMs) => openSerial(ipmi, leftMs),
    showsSerial: (leftMs) => showsSerial(ipmi, leftMs),
    serialHolder: (leftMs) => serialHolder(ipmi, leftMs),
    readSensors: (leftMs) => readSensors(ipmi, leftMs),
    readEvents: (leftMs) => readEvents(ipmi, leftMs),
    listAccounts: (leftMs) => listAccounts(ipmi, leftMs),
    setPassword: ({ id }, password, leftMs) => setPassword(ipmi, id, password, leftMs),
    takeAccess: ({ id }, leftMs) => takeAccess(ipmi, id, leftMs),
    disable: ({ id }, leftMs) => disable(ipmi, id, leftMs),
    signsIn: (user, password, leftMs) => letsIn(ipmi, leftMs, { user, password }),
    becomes: (password) => ipmi.becomes(password),
    readCipherSuites: (leftMs) => readCipherSuites(ipmi, leftMs),
    // IPMI speaks of itself alone.
    readServices: async () => null,
    letsInWithoutPassword: (leftMs) =>
      letsIn(ipmi, leftMs, { user: connection.user, password: 'not-the-password', suite: 0 }),
    letsInWithoutName: (leftMs) => letsIn(ipmi, leftMs, { user: '', password: '' }),
    close: async () => undefined,
  };
}

async function identify(ipmi: Ipmi, leftMs: number): Promise<BmcIdentity> {
  const endsMs = performance.now() + leftMs;
  const left = () => endsMs - performance.now();
  const [, , first, second] = await ipmi.raw([app, 0x01], leftMs);
  if (first === undefined || second === undefined)
    throw new BmcError('answer_invalid', 'the BMC does not say what it is');
  const guid = await unlessRefused(ipmi.raw([app, 0x37], left()));
  const fru = await unlessRefused(ipmi.run(['fru', 'print', '0'], left()));
  return {
    uuid: guid?.length === 16 ? uuidOf(guid) : null,
    ...fruOf(fru ?? ''),
    firmware: `${first & 0x7f}.${second.toString(16).padStart(2, '0')}`,
  };
}

function uuidOf(bytes: readonly number[]): string {
  const hex = bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** Null where it has no such thing. */
async function unlessRefused<T>(work: Promise<T>): Promise<T | null> {
  return work.catch((error: unknown) => {
    if (error instanceof BmcError && error.code === 'bmc_refused') return null;
    throw error;
  });
}

async function letsIn(
  ipmi: Ipmi,
  leftMs: number,
  login: { user: string; password: string; suite?: number },
): Promise<boolean> {
  try {
    // Whoever is in may ask this, however little else they may do.
    await ipmi.run(['raw', '0x06', '0x01'], leftMs, { ...login, level: 'USER' });
    return true;
  } catch (error) {
    if (!(error instanceof BmcError) || error.waits || error.code === 'program_absent') throw error;
    return false;
  }
}

async function readCipherSuites(ipmi: Ipmi, leftMs: number): Promise<number[]> {
  const table = await ipmi.run(['channel', 'getciphers', 'ipmi'], leftMs);
  const rows = [...table.matchAll(/^\s*(\d+)\s+(?:N\/A|\d+)\s/gm)];
  return [...new Set(rows.map(([, id]) => Number(id)))].sort((a, b) => a - b);
}
