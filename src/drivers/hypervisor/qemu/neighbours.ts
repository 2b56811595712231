import { runAsRoot, runProgram } from '../../../platform/host/program.ts';
import type { MachineSpec } from '../contract.ts';
import { ip, nft } from './bridge.ts';
import { tableName } from './guard.ts';

/*
 * Whoever sends to addresses that nobody has makes the host ask for each of them, and the table in which it keeps what it asked
 * is everybody's: full, no guest is found any more, and neither is the host's own gateway. So it asks for nothing: what a machine
 * has is written down where it is plugged in, for good, and of IPv6, whose networks have more addresses than any table, what no
 * machine has is not forwarded.
 */

const known = 'guests6';

/** The set of what machines have, which is there before the first of them. */
export function knownAddresses(bridge: string): string {
  return `add set inet ${tableName(bridge)}_reach ${known} { type ipv6_addr; }\n`;
}

/** From here on only what machines have is forwarded to the bridge; not before all that run have said what they have. */
export function closeToUnknown(bridge: string): string {
  const table = `inet ${tableName(bridge)}_reach`;
  return [
    `add chain ${table} ${known} { type filter hook forward priority -12; policy accept; }`,
    `flush chain ${table} ${known}`,
    // Neighbours speak to groups and to link-local addresses. No router forwards these; where the host's bridges ask the packet
    // filter (br_netfilter) they pass here all the same.
    `add rule ${table} ${known} ip6 daddr { fe80::/10, ff00::/8 } accept`,
    `add rule ${table} ${known} oifname "${bridge}" ip6 daddr != @${known} counter drop`,
    '',
  ].join('\n');
}

interface Element {
  address: string;
  tap: string;
}

/** Writes down what the machine behind a tap has, instead of what it had before. */
export async function writeNeighbours(bridge: string, tap: string, nic: MachineSpec['nic']): Promise<void> {
  const addresses = nic.addresses.map(({ address }) => address);
  await ip([
    ...(await entriesOf(bridge, nic.mac))
      .filter((address) => !addresses.includes(address))
      .map((address) => `neighbour del ${address} dev ${bridge}`),
    ...addresses.map(
      (address) => `neighbour replace ${address} lladdr ${nic.mac} dev ${bridge} nud permanent`,
    ),
  ]);
  const wanted = nic.addresses.filter(({ family }) => family === 6).map(({ address }) => address);
  await write(bridge, tap, wanted);
}

/** Forgets what the machine behind a tap had, which is still there. */
export async function forgetNeighbours(bridge: string, tap: string): Promise<void> {
  const [mac] = await macsOf(tap);
  if (mac !== undefined) {
    const entries = await entriesOf(bridge, mac);
    if (entries.length > 0) await ip(entries.map((address) => `neighbour del ${address} dev ${bridge}`));
  }
  await write(bridge, tap, []);
}

async function write(bridge: string, tap: string, wanted: readonly string[]): Promise<void> {
  const there = await elements(bridge);
  const set = `inet ${tableName(bridge)}_reach ${known}`;
  const gone = there.filter((each) => (each.tap === tap) !== wanted.includes(each.address));
  const kept = there.filter((each) => !gone.includes(each)).map(({ address }) => address);
  const lines = [
    ...gone.map(({ address }) => `delete element ${set} { ${address} }`),
    ...wanted
      .filter((address) => !kept.includes(address))
      .map((address) => `add element ${set} { ${address} comment "${tap}" }`),
  ];
  if (lines.length > 0) await nft(`${lines.join('\n')}\n`);
}

async function elements(bridge: string): Promise<Element[]> {
  const listing = ['nft', '-j', 'list', 'set', 'inet', `${tableName(bridge)}_reach`, known];
  const shown = await runAsRoot(listing).catch(() => null);
  const listed: {
    nftables: { set?: { elem?: (string | { elem: { val: string; comment?: string } })[] } }[];
  } = JSON.parse(shown?.stdout ?? '{"nftables":[]}');
  return listed.nftables.flatMap(({ set }) =>
    (set?.elem ?? []).map((each) =>
      typeof each === 'string'
        ? { address: each, tap: '' }
        : { address: each.elem.val, tap: each.elem.comment ?? '' },
    ),
  );
}

/** Addresses that are written down for a MAC. */
async function entriesOf(bridge: string, mac: string): Promise<string[]> {
  const listing = ['ip', '-j', 'neighbour', 'show', 'dev', bridge, 'nud', 'permanent'];
  const { stdout } = await runProgram(listing);
  const entries: { dst: string; lladdr?: string }[] = JSON.parse(stdout || '[]');
  return entries.filter(({ lladdr }) => lladdr === mac).map(({ dst }) => dst);
}

async function macsOf(tap: string): Promise<string[]> {
  const shown = await runProgram(['bridge', '-j', 'fdb', 'show', 'brport', tap]).catch(() => null);
  const entries: { mac: string; state?: string; master?: string }[] = JSON.parse(shown?.stdout || '[]');
  return entries
    .filter(({ state, master }) => state === 'static' && master !== undefined)
    .map(({ mac }) => mac);
}
