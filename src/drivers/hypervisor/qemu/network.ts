import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import ipaddr from 'ipaddr.js';
import { run, runAsRoot } from '../../../platform/host/run.ts';
import { HypervisorError, type MachineSpec } from '../contract.ts';
import { type MachineFiles, type Owner, tapPrefix } from './files.ts';
import { baseRules, guardRules, natRules, removalRules, tableName } from './guard.ts';
import type { BridgeOptions, Log } from './options.ts';

/** The host's side of the guests' network. All of it is found by name again, so nothing is remembered here. */
export interface HostNetwork {
  /** Makes the bridge with its addresses and the packet filter's base. */
  prepare(): Promise<void>;
  /** Makes the machine's tap, plugs it into the bridge and puts its guard in place first. */
  plug(files: MachineFiles, spec: MachineSpec, owner: Owner | null): Promise<void>;
  /** Takes the tap of a stopped machine away, so that the next one counts from zero. */
  drop(tap: string): Promise<void>;
  /** Takes the tap and its rules away. */
  unplug(tap: string): Promise<void>;
  /** Takes away every tap and every rule that belongs to none of these. */
  sweep(taps: ReadonlySet<string>): Promise<void>;
}

export function hostNetwork(bridge: BridgeOptions, log: Log): HostNetwork {
  checkBridge(bridge);
  let shaping = true;
  let limiting = true;

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

  async function guard(tap: string, nic: MachineSpec['nic']): Promise<void> {
    const load = (withLimit: boolean) =>
      nft(baseRules(bridge.name) + guardRules(bridge.name, tap, nic, withLimit));
    if (!limiting) return load(false);
    await load(true).catch(async (error) => {
      await load(false); // fails again when it was not the limit that the kernel refused
      limiting = false;
      log.warn({ error }, 'Port speeds from guests are not limited: nftables cannot limit on this host');
    });
  }

  return {
    async prepare() {
      await naming('bridge', () => ensureBridge(bridge));
      await naming('packet filter', () => nft(baseRules(bridge.name)));
      if (bridge.nat) await naming('address translation', () => translate(bridge));
    },
    async plug(files, spec, owner) {
      await naming('network device', async () => {
        await guard(files.tap, spec.nic);
        await ensureTap(bridge.name, files.tap, spec.nic.mac, owner);
        await shape(files.tap, spec.nic.portMbps);
      });
    },
    async drop(tap) {
      await naming('network device', () => deleteLink(tap));
    },
    async unplug(tap) {
      await naming('network device', async () => {
        await deleteLink(tap);
        await nft(removalRules(bridge.name, tap));
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
    },
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
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new HypervisorError('network_failed', `the ${what}: ${reason}`, { cause });
  }
}

async function nft(rules: string): Promise<void> {
  await runAsRoot(['nft', '-f', '-'], { input: rules });
}

async function linkExists(name: string): Promise<boolean> {
  return run(['ip', 'link', 'show', 'dev', name]).then(
    () => true,
    () => false,
  );
}

async function deleteLink(name: string): Promise<void> {
  if (await linkExists(name)) await runAsRoot(['ip', 'link', 'delete', 'dev', name]);
}

async function ensureBridge({ name, addresses }: BridgeOptions): Promise<void> {
  if (!(await linkExists(name))) {
    // Without an address of its own a bridge takes one of its ports', and the guests' gateway would change.
    const hash = createHash('sha256').update(name).digest('hex');
    const mac = `02:${hash.slice(0, 10).match(/../g)?.join(':')}`;
    await runAsRoot([
      'ip',
      'link',
      'add',
      'name',
      name,
      'address',
      mac,
      'type',
      'bridge',
      'forward_delay',
      '0',
    ]);
  }
  for (const address of addresses) {
    // A gateway that waits to see whether its address is taken would be silent for the first second.
    const nodad = ipaddr.parseCIDR(address)[0].kind() === 'ipv6' ? ['nodad'] : [];
    await runAsRoot(['ip', 'address', 'replace', address, 'dev', name, ...nodad]);
  }
  await runAsRoot(['ip', 'link', 'set', 'dev', name, 'up']);
}

async function ensureTap(bridge: string, tap: string, mac: string, owner: Owner | null): Promise<void> {
  if (!(await linkExists(tap))) {
    // Who may attach to it: the machine's account, which may do nothing else to the host's network.
    const user = String(owner?.uid ?? process.getuid?.());
    await runAsRoot(['ip', 'tuntap', 'add', 'dev', tap, 'mode', 'tap', 'user', user]);
  }
  // The host takes no address on the tap. The bridge learns no MAC from it and floods no stranger's traffic to it.
  const port = 'type bridge_slave learning off flood off guard on root_block on'.split(' ');
  await runAsRoot(['ip', 'link', 'set', 'dev', tap, 'addrgenmode', 'none']);
  await runAsRoot(['ip', 'link', 'set', 'dev', tap, 'master', bridge]);
  await runAsRoot(['ip', 'link', 'set', 'dev', tap, ...port]);
  await runAsRoot(['bridge', 'fdb', 'replace', mac, 'dev', tap, 'master', 'static']);
  await runAsRoot(['ip', 'link', 'set', 'dev', tap, 'up']);
}

async function tapsOf(bridge: string): Promise<string[]> {
  const { stdout } = await run(['ip', '-j', 'link', 'show', 'master', bridge]);
  const links: { ifname?: string }[] = JSON.parse(stdout || '[]');
  return links.map((link) => link.ifname ?? '').filter((name) => name.startsWith(tapPrefix(bridge)));
}

async function chainsOf(bridge: string): Promise<string[]> {
  const { stdout } = await runAsRoot(['nft', '-j', 'list', 'table', 'bridge', tableName(bridge)]);
  const listed: { nftables: { chain?: { name: string } }[] } = JSON.parse(stdout);
  return listed.nftables.flatMap(({ chain }) =>
    chain?.name.startsWith(tapPrefix(bridge)) ? [chain.name] : [],
  );
}

async function translate({ name, addresses }: BridgeOptions): Promise<void> {
  const networks = { v4: [] as string[], v6: [] as string[] };
  for (const address of addresses) {
    const v4 = ipaddr.parseCIDR(address)[0].kind() === 'ipv4';
    if (v4) networks.v4.push(ipaddr.IPv4.networkAddressFromCIDR(address) + suffix(address));
    else networks.v6.push(ipaddr.IPv6.networkAddressFromCIDR(address) + suffix(address));
  }
  await nft(natRules(name, networks));
  if (networks.v4.length > 0) await runAsRoot(['sysctl', '-q', '-w', 'net.ipv4.ip_forward=1']);
  if (networks.v6.length > 0) await forwardIpv6();
}

/** A host that forwards stops listening to router advertisements unless told to (2), and would lose its route. */
async function forwardIpv6(): Promise<void> {
  const { stdout } = await run(['ip', '-j', '-6', 'route', 'show', 'default']);
  const routes: { dev?: string; protocol?: string }[] = JSON.parse(stdout || '[]');
  for (const { dev, protocol } of routes) {
    if (dev && protocol === 'ra')
      await runAsRoot(['sysctl', '-q', '-w', `net.ipv6.conf.${dev.replaceAll('.', '/')}.accept_ra=2`]);
  }
  const forwarding = '/proc/sys/net/ipv6/conf/all/forwarding';
  if ((await readFile(forwarding, 'utf8').catch(() => '1')).trim() === '1') return;
  await runAsRoot(['sysctl', '-q', '-w', 'net.ipv6.conf.all.forwarding=1']);
}

function suffix(cidr: string): string {
  return cidr.slice(cidr.indexOf('/'));
}
