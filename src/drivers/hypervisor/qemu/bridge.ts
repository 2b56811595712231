import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import ipaddr from 'ipaddr.js';
import { runAsRoot, runProgram } from '../../../platform/host/program.ts';
import { HypervisorError } from '../contract.ts';
import { tapPrefix } from './files.ts';
import { natRules } from './guard.ts';
import type { BridgeOptions } from './options.ts';
import { byFamily } from './reach.ts';

interface Link {
  ifname?: string;
  ifalias?: string;
  /** `LOWER_UP`: of a tap, a process has it. */
  flags?: string[];
}

/**
 * Makes the bridge with its addresses, and writes on it whose it is. Fails with what to do when it is another
 * installation's, whose machines it may carry.
 */
export async function ensureBridge(
  { name, addresses }: BridgeOptions,
  installation: string,
  taps: ReadonlySet<string>,
): Promise<void> {
  const mark = `innkeeper ${installation}`;
  const [found] = await links(['dev', name]);
  if (found) await checkOwner(name, found, mark, taps);
  // Without an address of its own a bridge takes one of its ports', and the guests' gateway would change.
  const hash = createHash('sha256').update(name).digest('hex');
  const mac = `02:${hash.slice(0, 10).match(/../g)?.join(':')}`;
  const lines = [
    ...(found ? [] : [`link add name ${name} address ${mac} type bridge forward_delay 0`]),
    `link set dev ${name} alias "${mark}"`,
    // A guest that asks who listens would have the bridge forget who does, and IPv6 finds its neighbours by multicast.
    `link set dev ${name} type bridge mcast_snooping 0`,
    // A gateway that waits to see whether its address is taken would be silent for the first second.
    ...addresses.map((each) => `address replace ${each} dev ${name}${isIpv6(each) ? ' nodad' : ''}`),
    `link set dev ${name} up`,
  ];
  await ip(lines);
  const believesNobody = ['accept_ra=0', 'autoconf=0', 'accept_redirects=0'];
  const keys = believesNobody.map((each) => `net.ipv6.conf.${name.replaceAll('.', '/')}.${each}`);
  await sysctl([...keys, `net.ipv4.conf.${name.replaceAll('.', '/')}.accept_redirects=0`]);
}

async function checkOwner(
  name: string,
  { ifalias }: Link,
  mark: string,
  taps: ReadonlySet<string>,
): Promise<void> {
  if (ifalias === mark) return;
  const ports = await links(['master', name]);
  const isMarked = ifalias?.startsWith('innkeeper ') ?? false;
  // Without a mark, made before there were any: the taps in use say whose it is. Other ports are the host's business.
  const strange = ports.filter(
    ({ ifname = '', flags }) =>
      ifname.startsWith(tapPrefix(name)) && flags?.includes('LOWER_UP') && !taps.has(ifname),
  );
  if ((isMarked ? ports : strange).length === 0) return; // nobody's, or of an installation that is gone
  const whose = isMarked ? ifalias : `${strange.length} of them are not in this DATA_DIR`;
  const message = `The bridge ${name} carries machines of another installation on this host (${whose}). Give this one a BRIDGE, NETWORK4 and NETWORK6 of its own`;
  throw new HypervisorError('host_not_ready', message, { permanent: true });
}

/** Lets guests reach the world behind the host's address. */
export async function translate({ name, addresses }: BridgeOptions): Promise<void> {
  const networks = byFamily(addresses);
  await nft(natRules(name, networks));
  if (networks.v4.length > 0) await sysctl(['net.ipv4.ip_forward=1']);
  if (networks.v6.length > 0) await forwardIpv6();
}

/** Whether the host forwards what {@link translate} has it forward. */
export async function isForwarding({ addresses }: BridgeOptions): Promise<boolean> {
  const networks = byFamily(addresses);
  const isOn = async (file: string) =>
    (await readFile(`/proc/sys/net/${file}`, 'utf8').catch(() => '1')).trim() === '1';
  return (
    (networks.v4.length === 0 || (await isOn('ipv4/ip_forward'))) &&
    (networks.v6.length === 0 || (await isOn('ipv6/conf/all/forwarding')))
  );
}

/** A host that forwards stops listening to router advertisements unless told to (2), and would lose its route. */
async function forwardIpv6(): Promise<void> {
  const { stdout } = await runProgram(['ip', '-j', '-6', 'route', 'show', 'default']);
  const routes: { dev?: string; protocol?: string }[] = JSON.parse(stdout || '[]');
  for (const { dev, protocol } of routes)
    if (dev && protocol === 'ra') await sysctl([`net.ipv6.conf.${dev.replaceAll('.', '/')}.accept_ra=2`]);
  const forwarding = '/proc/sys/net/ipv6/conf/all/forwarding';
  if ((await readFile(forwarding, 'utf8').catch(() => '1')).trim() === '1') return;
  await sysctl(['net.ipv6.conf.all.forwarding=1']);
}

/** Links as `ip link show` selects them; none when there is no such link. */
export async function links(selection: readonly string[]): Promise<Link[]> {
  const shown = await runProgram(['ip', '-j', 'link', 'show', ...selection]).catch(() => null);
  return JSON.parse(shown?.stdout || '[]');
}

/** Loads packet rules as one transaction. */
export async function nft(rules: string): Promise<void> {
  await runAsRoot(['nft', '-f', '-'], { input: rules });
}

/** Runs commands of `ip`, as many as there are, as one program. */
export async function ip(lines: readonly string[]): Promise<void> {
  await runAsRoot(['ip', '-batch', '-'], { input: `${lines.join('\n')}\n` });
}

/** Sets what the kernel has; a host without IPv6 has not all of it. In a key, a slash stands for a dot in a name. */
export async function sysctl(settings: readonly string[]): Promise<void> {
  if (process.getuid?.() !== 0) return void (await runAsRoot(['sysctl', '-e', '-q', '-w', ...settings]));
  for (const setting of settings) {
    const [key = '', value = ''] = setting.split('=');
    const file = key.replaceAll(/[./]/g, (sign) => (sign === '.' ? '/' : '.'));
    // Like all of /proc/sys/net, it is of the network that we are in. Opened so, none is made that is not there.
    await writeFile(`/proc/sys/${file}`, value, { flag: 'r+' }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
  }
}

function isIpv6(cidr: string): boolean {
  return ipaddr.parseCIDR(cidr)[0].kind() === 'ipv6';
}
