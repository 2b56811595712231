import type { BmcConnection } from '../connection.ts';
import type { BmcIdentity } from '../contract.ts';
import type { BmcControls } from '../controls.ts';
import { BmcError } from '../failure.ts';
import { ipmiControls } from '../ipmi/controls.ts';
import type { IpmiProgram } from '../ipmi/program.ts';
import { changeAccount, listAccounts, takeAccess } from './accounts.ts';
import { redfishClient } from './client.ts';
import { findPlaces, type Places } from './places.ts';
import { readEvents, readSensors } from './readings.ts';
import { at, numberAt, textAt } from './resource.ts';
import { readServices } from './services.ts';
import { press, readBoot, readPower, setBoot } from './system.ts';

/** A BMC that speaks Redfish. The standard has no serial line: it is had over IPMI where the BMC says that it speaks that as well, and so is what is unsafe about that. */
export function redfishControls(connection: BmcConnection, program: IpmiProgram): BmcControls {
  const redfish = redfishClient(connection);
  let { password } = connection;
  let places: Places | null = null;
  let ipmiPort: number | null | undefined;

  /** Does something with what is left of the time once it is known where things are. */
  async function placed<T>(leftMs: number, work: (places: Places, leftMs: number) => Promise<T>): Promise<T> {
    const endsMs = performance.now() + leftMs;
    places ??= await findPlaces(redfish, leftMs);
    return work(places, endsMs - performance.now());
  }

  /** The same BMC over IPMI; null where it speaks none. */
  function overIpmi(leftMs: number): Promise<{ ipmi: BmcControls; leftMs: number } | null> {
    return placed(leftMs, async ({ system }, left) => {
      const endsMs = performance.now() + left;
      if (ipmiPort === undefined) {
        const resource = await redfish.get(system, left);
        const isOn = at(resource, 'SerialConsole', 'IPMI', 'ServiceEnabled') === true;
        ipmiPort = isOn ? (numberAt(resource, 'SerialConsole', 'IPMI', 'Port') ?? 623) : null;
      }
      if (ipmiPort === null) return null;
      const same = { ...connection, kind: 'ipmi', port: ipmiPort, password } as const;
      return { ipmi: ipmiControls(same, program), leftMs: endsMs - performance.now() };
    });
  }

  async function requireIpmi(leftMs: number) {
    const over = await overIpmi(leftMs);
    if (over !== null) return over;
    throw new BmcError('not_supported', 'the BMC does not say that it shows its serial line over IPMI');
  }

  return {
    kind: 'redfish',
    capabilities: ['serial'],
    identify: (leftMs) => placed(leftMs, (where, left) => identify(where, left)),
    readPower: (leftMs) => placed(leftMs, (where, left) => readPower(redfish, where, left)),
    press: (what, leftMs) => placed(leftMs, (where, left) => press(redfish, where, what, left)),
    readNextBoot: (leftMs) => placed(leftMs, (where, left) => readBoot(redfish, where, left)),
    setNextBoot: (boot, leftMs) => placed(leftMs, (where, left) => setBoot(redfish, where, boot, left)),
    async openSerial(leftMs) {
      const over = await requireIpmi(leftMs);
      return over.ipmi.openSerial(over.leftMs);
    },
    showsSerial: async (leftMs) => (await overIpmi(leftMs)) !== null,
    async serialHolder(leftMs) {
      const over = await requireIpmi(leftMs);
      return over.ipmi.serialHolder(over.leftMs);
    },
    readSensors: (leftMs) => placed(leftMs, (where, left) => readSensors(redfish, where, left)),
    readEvents: (leftMs) => placed(leftMs, (where, left) => readEvents(redfish, where, left)),
    listAccounts: (leftMs) => placed(leftMs, (where, left) => listAccounts(redfish, where, left)),
    setPassword: (account, next, leftMs) =>
      placed(leftMs, (where, left) => changeAccount(redfish, where, account, { Password: next }, left)),
    takeAccess: (account, leftMs) =>
      placed(leftMs, (where, left) => takeAccess(redfish, where, account, left)),
    disable: (account, leftMs) =>
      placed(leftMs, (where, left) => changeAccount(redfish, where, account, { Enabled: false }, left)),
    signsIn: (user, tried, leftMs) => redfish.signsIn(user, tried, leftMs),
    becomes(next) {
      password = next;
      redfish.becomes(next);
    },
    async readCipherSuites(leftMs) {
      const over = await overIpmi(leftMs);
      return over === null ? null : over.ipmi.readCipherSuites(over.leftMs);
    },
    readServices: (leftMs) => placed(leftMs, (where, left) => readServices(redfish, where, left)),
    async letsInWithoutPassword(leftMs) {
      const over = await overIpmi(leftMs);
      return over === null ? false : over.ipmi.letsInWithoutPassword(over.leftMs);
    },
    letsInWithoutName: (leftMs) =>
      placed(leftMs, async ({ accounts }, left) => (await redfish.asNobody(accounts, left)) === 200),
    close: () => redfish.close(),
  };

  async function identify({ root, system, manager }: Places, leftMs: number): Promise<BmcIdentity> {
    const endsMs = performance.now() + leftMs;
    const server = await redfish.get(system, leftMs);
    const controller = await redfish.get(manager, endsMs - performance.now());
    return {
      // The service's own only where systems have none: one that is not told yet is nobody else's.
      uuid: uuidOf('UUID' in server ? textAt(server, 'UUID') : textAt(root, 'UUID')),
      maker: textAt(server, 'Manufacturer'),
      model: textAt(server, 'Model'),
      serial: textAt(server, 'SerialNumber'),
      firmware: textAt(controller, 'FirmwareVersion') ?? '',
    };
  }
}

function uuidOf(text: string | null): string | null {
  const uuid = text?.toLowerCase() ?? '';
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(uuid) ? uuid : null;
}
