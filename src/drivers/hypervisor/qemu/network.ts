import { readFile } from 'node:fs/promises';
import ipaddr from 'ipaddr.js';
import { runAsRoot } from '../../../platform/host/program.ts';
import { HypervisorError, type MachineSpec } from '../contract.ts';
import type { Log } from '../log.ts';
import { ensureBridge, ip, isForwarding, links, nft, sysctl, translate } from './bridge.ts';
import { mostConnections, tableSize } from './calls.ts';
import { type MachineFiles, type Owner, tapPrefix } from './files.ts';
import { gateRemoval, gateRules, isWholeGate, tapSysctls } from './gate.ts';
import { baseRules, guardRules, removalRules, tableName } from './guard.ts';
import { closeToUnknown, forgetNeighbours, knownAddresses, writeNeighbours } from './neighbours.ts';
import type { BridgeOptions } from './options.ts';
import { reachRules } from './reach.ts';

/** The host's side of the guests' network. All of it is found by name again, so nothing is remembered here. */
export interface HostNetwork {
  /**
   * Makes the bridge with its addresses and the packet filter's base; `installation` is what the bridge belongs to, and
   * `taps` are those of its machines.
   */
  prepare(installation: string, taps: ReadonlySet<string>): Promise<void>;
  /** Whether the host has all that `prepare` makes for packets; not so where somebody has flushed its rules. */
  isWhole(): Promise<boolean>;
  /**
   * Gives the tap of a running machine its guard where it has none, the gate of this version where it has none or that of an
   * earlier one, and writes down what addresses the machine has.
   */
  adopt(files: MachineFiles, nic: MachineSpec['nic']): Promise<void>;
  /** Makes a new tap for a stopped machine, so that its counters begin at zero. Nothing goes through it until `plug`. */
  makeTap(files: MachineFiles, owner: Owner | null): Promise<void>;
  /** Plugs the machine's tap into the bridge, with its guard in place first. Makes one if there is none. */
  plug(files: MachineFiles, spec: MachineSpec, owner: Owner | null): Promise<void>;
  /** Takes the tap and its rules away. */
  unplug(tap: string): Promise<void>;
  /** Takes away every tap and every rule that belongs to none of these, and lets nothing through to addresses that none has. */
  sweep(taps: ReadonlySet<string>): Promise<void>;
  /** From here on nothing is let through to addresses that no machine has; not before all that run were adopted. */
  closeToUnknown(): Promise<void>;
}

export function hostNetwork(bridge: BridgeOptions, netbootUrl: string | null, log: Log): HostNetwork {
  checkBridge(bridge);
  let shaping = true;
  let limiting = true;
  let timing = true;

  /** Rates in both directions; a host that cannot shape serves at full speed and says so once. */
  async function shape(tap: string, portMbps: number): Promise<void> {
    if (!shaping) return;
    const burst = `${Math.max(16, Math.ceil(portMbps / 8))}kb`;
    const queue = ['tbf', 'rate', `${portMbps}mbit`, 'burst', burst, 'latency', '50ms'];
    await runAsRoot(['tc', 'qdisc', 'replace', 'dev', tap, 'root', ...queue]).catch((error) => {
      shaping = false;
      log.warn({ error }, 'Port speeds towards guests are not limited: tc cannot shape on this host');
    });
  }

  /** The rules for what crosses the bridge; a host that cannot forget connections early says so once. */
  async function filter(): Promise<void> {
    const most = mostConnections(bridge.connections, await tableSize());
    const load = (timeouts: boolean) =>
      nft(
        baseRules(bridge.name) + reachRules(bridge, netbootUrl, most, timeouts) + knownAddresses(bridge.name),
      );
    if (!timing) return load(false);
    await load(true).catch(async (error) => {
      await load(false);
      timing = false;
      log.warn({ error }, 'Connections to guests are forgotten late: nftables has no timeouts on this host');
    });
  }

  /** Loads a tap's gate, with these rules; a host that cannot limit serves at full speed and says so once. */
  async function closeGate(tap: string, nic: MachineSpec['nic'], rules = ''): Promise<void> {
    const load = (withLimit: boolean) => nft(rules + gateRules(bridge.name, tap, nic, withLimit));
    if (!limiting) return load(false);
    await load(true).catch(async (error) => {
      await load(false); // fails again when it was not the limit that the kernel refused
      if (!limiting) return; // another machine's has found it out meanwhile
      limiting = false;
      log.warn({ error }, 'Port speeds from guests are not limited: nftables cannot limit on this host');
    });
  }

  function guard(tap: string, nic: MachineSpec['nic']): Promise<void> {
    return closeGate(tap, nic, baseRules(bridge.name) + guardRules(bridge.name, tap, nic));
  }

  /** A tap's chain as nft lists it; null where there is none. */
  async function chain(family: 'bridge' | 'netdev', tap: string): Promise<string | null> {
    const listing = ['nft', 'list', 'chain', family, tableName(bridge.name), tap];
    return runAsRoot(listing).then(
      ({ stdout }) => stdout,
      () => null,
    );
  }

  async function makeTap(tap: string, owner: Owner | null): Promise<void> {
    // Who may attach to it: the machine's account, which may do nothing else to the host's network.
    const user = String(owner?.uid ?? process.getuid?.());
    await ip([
      ...((await linkExists(tap)) ? [`link delete dev ${tap}`] : []),
      `tuntap add dev ${tap} mode tap user ${user}`,
      `link set dev ${tap} addrgenmode none`, // the host takes no address on it
    ]);
  }

  async function plug(tap: string, { nic }: MachineSpec, owner: Owner | null): Promise<void> {
    if (!(await linkExists(tap))) await makeTap(tap, owner);
    await Promise.all([guard(tap, nic), sysctl(tapSysctls(tap)), shape(tap, nic.portMbps)]);
    // The bridge learns no MAC from it and floods no stranger's traffic to it.
    await ip([
      `link set dev ${tap} master ${bridge.name}`,
      `link set dev ${tap} type bridge_slave learning off flood off guard on root_block on`,
      `link set dev ${tap} up`,
    ]);
    await runAsRoot(['bridge', 'fdb', 'replace', nic.mac, 'dev', tap, 'master', 'static']);
    await writeNeighbours(bridge.name, tap, nic);
  }

  return {
    async prepare(installation, taps) {
      await naming('bridge', () => ensureBridge(bridge, installation, taps));
      const isTracking = (await tableSize()) !== null;
      await naming('packet filter', filter);
      // How much the table holds is known once a rule has asked for connections.
      if (!isTracking) await naming('packet filter', filter);
      if (bridge.nat) await naming('address translation', () => translate(bridge));
    },
    isWhole: async () => {
      const there = await tables();
      const name = tableName(bridge.name);
      const wanted = [`bridge ${name}`, `inet ${name}_reach`, ...(bridge.nat ? [`inet ${name}`] : [])];
      return wanted.every((table) => there.has(table)) && (!bridge.nat || (await isForwarding(bridge)));
    },
    async adopt({ tap }, nic) {
      await naming('packet filter', async () => {
        if (!(await linkExists(tap))) return;
        await writeNeighbours(bridge.name, tap, nic);
        // Without its guard nothing of what the machine sends passes.
        if ((await chain('bridge', tap)) === null) return guard(tap, nic);
        const gate = await chain('netdev', tap);
        if (gate === null || !isWholeGate(gate, limiting)) await closeGate(tap, nic);
      });
    },
    makeTap: (files, owner) => naming('network device', () => makeTap(files.tap, owner)),
    plug: (files, spec, owner) => naming('network device', () => plug(files.tap, spec, owner)),
    async unplug(tap) {
      await naming('network device', async () => {
        await forgetNeighbours(bridge.name, tap);
        if (await linkExists(tap)) await ip([`link delete dev ${tap}`]);
        await nft(removalRules(bridge.name, tap) + gateRemoval(bridge.name, tap));
      });
    },
    async sweep(taps) {
      const stale = [...(await tapsOf(bridge.name)), ...(await chainsOf(bridge.name))].filter(
        (tap) => !taps.has(tap),
      );
      for (const tap of new Set(stale)) {
        log.info({ tap }, 'Removing a network device and rules that belong to no machine');
        await this.unplug(tap);
      }
      await this.closeToUnknown();
    },
    closeToUnknown: () => naming('packet filter', () => nft(closeToUnknown(bridge.name))),
  };
}

function checkBridge({ name, addresses }: BridgeOptions): void {
  const valid = /^[a-z][a-z0-9_.-]{0,14}$/.test(name) && addresses.every((each) => ipaddr.isValidCIDR(each));
  if (valid) return;
  throw new HypervisorError('spec_invalid', `not a bridge: ${name} ${addresses.join(' ')}`, {
    permanent: true,
  });
}

async function naming(what: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (cause) {
    if (cause instanceof HypervisorError) throw cause;
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new HypervisorError('network_failed', `the ${what}: ${reason}`, { cause });
  }
}

/** Of the network that we are in: /sys may show another one's. */
async function linkExists(name: string): Promise<boolean> {
  return (await readFile('/proc/self/net/dev', 'latin1'))
    .split('\n')
    .some((line) => line.trimStart().startsWith(`${name}:`));
}

async function tapsOf(bridge: string): Promise<string[]> {
  const names = (await links(['master', bridge])).map((link) => link.ifname ?? '');
  return names.filter((name) => name.startsWith(tapPrefix(bridge)));
}

/** All of the host's tables, such as `bridge innkeeper_innkeeper0`. */
async function tables(): Promise<ReadonlySet<string>> {
  const { stdout } = await runAsRoot(['nft', '-j', 'list', 'tables']);
  const listed: { nftables: { table?: { family: string; name: string } }[] } = JSON.parse(stdout);
  return new Set(listed.nftables.flatMap(({ table }) => (table ? [`${table.family} ${table.name}`] : [])));
}

/** Of taps; none where there is no such table yet. */
async function chainsOf(bridge: string): Promise<string[]> {
  const listing = ['nft', '-j', 'list', 'table', 'bridge', tableName(bridge)];
  const shown = await runAsRoot(listing).catch(() => null);
  const listed: { nftables: { chain?: { name: string } }[] } = JSON.parse(shown?.stdout ?? '{"nftables":[]}');
  return listed.nftables.flatMap(({ chain }) =>
    chain?.name.startsWith(tapPrefix(bridge)) ? [chain.name] : [],
  );
}
