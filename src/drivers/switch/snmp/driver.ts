import snmp from 'net-snmp';
import { checkConnection, plainMac, type SwitchConnection } from '../connection.ts';
import type { Switch, SwitchPort } from '../contract.ts';
import { notSupported } from '../lacks.ts';
import { asking, type Cell, invalid, type Questions } from './ask.ts';

/** SNMPv2-MIB, IF-MIB and BRIDGE-MIB, by number. */
const [description, uptime, systemName] = ['1.3.6.1.2.1.1.1.0', '1.3.6.1.2.1.1.3.0', '1.3.6.1.2.1.1.5.0'];
const operStatus = '1.3.6.1.2.1.2.2.1.8';
const interfaces = '1.3.6.1.2.1.31.1.1.1';
const columns = {
  ...{ names: `${interfaces}.1`, labels: `${interfaces}.18`, speeds: `${interfaces}.15` },
  ...{ incoming: `${interfaces}.6`, outgoing: `${interfaces}.10`, states: operStatus },
} as const;
const portOfMac = '1.3.6.1.2.1.17.4.3.1.2';
const interfaceOfPort = '1.3.6.1.2.1.17.1.4.1.2';
const up = 1;

/** A switch over SNMPv3. It is only read: which objects set a VLAN differs from maker to maker. Nothing is said to it yet. */
export function snmpSwitch(connection: SwitchConnection): Switch {
  checkConnection(connection);
  const { address } = connection;
  const textOf = (cell: Cell | null) => text(address, cell);
  const numberOf = (cell: Cell | null) => number(address, cell);

  return {
    kind: 'snmp',
    capabilities: [],
    identify: ({ timeoutMs } = {}) =>
      asking(connection, timeoutMs, async ({ get }) => ({
        name: textOf(await get(systemName)),
        description: textOf(await get(description)),
      })),
    readPorts: ({ timeoutMs } = {}) =>
      asking(connection, timeoutMs, async (questions) => {
        const centiseconds = numberOf(await questions.get(uptime));
        return { uptimeMs: (centiseconds ?? 0) * 10, ports: await portsOf(address, questions) };
      }),
    async findPort(mac, { timeoutMs } = {}) {
      const decimal = plainMac(mac)
        .split(':')
        .map((byte) => Number.parseInt(byte, 16))
        .join('.');
      return asking(connection, timeoutMs, async ({ get }) => {
        const bridgePort = numberOf(await get(`${portOfMac}.${decimal}`));
        // 0: it has heard the MAC, and at no port that it has now.
        if (bridgePort === null || bridgePort === 0) return null;
        const index = numberOf(await get(`${interfaceOfPort}.${bridgePort}`));
        if (index === null) return null;
        return textOf(await get(`${columns.names}.${index}`)) || `port ${index}`;
      });
    },
    readVlan: async () => {
      throw notSupported('vlans');
    },
    setVlan: async () => {
      throw notSupported('vlans');
    },
    close: async () => undefined,
  };
}

async function portsOf(address: string, { column }: Questions): Promise<SwitchPort[]> {
  const names = await column(columns.names);
  const [labels, speeds, incoming, outgoing, states] = await Promise.all(
    [columns.labels, columns.speeds, columns.incoming, columns.outgoing, columns.states].map(async (oid) => {
      const cells = await column(oid);
      return new Map(cells.map((cell) => [cell.at, cell]));
    }),
  );
  const ports = names.map((cell): SwitchPort => {
    const { at } = cell;
    const speed = number(address, speeds?.get(at) ?? null);
    const [into, out] = [incoming, outgoing].map((of) => counter(address, of?.get(at) ?? null));
    return {
      name: text(address, cell) || `port ${at}`,
      label: text(address, labels?.get(at) ?? null),
      isUp: number(address, states?.get(at) ?? null) === up,
      speedMbps: speed === 0 ? null : speed,
      counters: into == null || out == null ? null : { in: into, out },
    };
  });
  if (new Set(ports.map(({ name }) => name)).size !== ports.length)
    throw invalid(address, 'two of its ports have one name');
  return ports;
}

const mostCharacters = 255;

/** Nothing of a terminal's or a page's own. */
function text(address: string, cell: Cell | null): string {
  if (cell === null) return '';
  if (cell.type !== snmp.ObjectType.OctetString || !Buffer.isBuffer(cell.value))
    throw invalid(address, 'a text is none');
  return cell.value
    .toString('utf8')
    .slice(0, mostCharacters)
    .replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029\uFFFD]+/gu, ' ')
    .trim();
}

function number(address: string, cell: Cell | null): number | null {
  if (cell === null) return null;
  if (typeof cell.value !== 'number' || !Number.isSafeInteger(cell.value) || cell.value < 0)
    throw invalid(address, 'a number is none');
  return cell.value;
}

/** Eight bytes and a leading zero at most. */
function counter(address: string, cell: Cell | null): bigint | null {
  if (cell === null) return null;
  const { type, value } = cell;
  if (type !== snmp.ObjectType.Counter64 || !Buffer.isBuffer(value))
    throw invalid(address, 'a counter is none');
  const counted = BigInt(`0x${value.toString('hex') || '0'}`);
  if (counted >= 1n << 64n) throw invalid(address, 'a counter has more than 64 bits');
  return counted;
}
