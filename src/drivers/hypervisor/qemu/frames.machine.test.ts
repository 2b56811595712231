import { createSocket } from 'node:dgram';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import ipaddr from 'ipaddr.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../../config.ts';
import { runAsRoot, runProgram } from '../../../platform/host/program.ts';
import type { MachineSpec } from '../contract.ts';
import { bridgeOf } from '../open.ts';
import { machineFiles } from './files.ts';
import { linkLocalAddress } from './guard.ts';
import { type HostNetwork, hostNetwork } from './network.ts';
import { reasonToSkip, type Testbed, testbed } from './testbed.ts';

const skip = (await reasonToSkip('tiny')) ?? (process.getuid?.() === 0 ? null : 'taps of others: not root');

/** Stands for a QEMU whose guest sends what it likes: attaches to the tap and writes each line, in hex, as a frame. */
const senderProgram = `
open(my $tap, '+<', '/dev/net/tun') or die $!;
ioctl($tap, 0x400454ca, pack('a16 s x22', $ARGV[0], 0x1002)) or die $!;
select(undef, undef, undef, 0.3); # the bridge lets a port's frames in a moment after it is up
while (<STDIN>) { chomp; syswrite($tap, pack('H*', $_)) }
select(undef, undef, undef, 0.2);`;

/** Stands for a QEMU that was taken over and does not wait: tries for two seconds to send each line, from the first moment on. */
const impatientProgram = `
open(my $tap, '+<', '/dev/net/tun') or die $!;
ioctl($tap, 0x400454ca, pack('a16 s x22', $ARGV[0], 0x1002)) or die $!;
my @frames = map { chomp; pack('H*', $_) } <STDIN>;
for (1 .. 1000) { syswrite($tap, $_) for @frames; select(undef, undef, undef, 0.002) }`;

/** Stands for the QEMU of another guest: prints what it is sent, until it has heard a solicitation or nobody waits. */
const listenerProgram = `
open(my $tap, '+<', '/dev/net/tun') or die $!;
ioctl($tap, 0x400454ca, pack('a16 s x22', $ARGV[0], 0x1002)) or die $!;
$SIG{ALRM} = sub { exit 0 };
alarm 3;
while (sysread($tap, my $frame, 2000)) { print unpack('H*', $frame), "\\n" }`;

/** Prints what it is sent for four seconds. */
const allProgram = listenerProgram.replace('alarm 3', 'alarm 4');

/** Stands for an nft of a host whose kernel has no limits. */
const unlimitedNft = `#!/bin/sh
[ "$1" = -f ] || exec NFT "$@"
rules=$(cat)
case "$rules" in *"limit rate"*) echo "no limits here" >&2; exit 1 ;; esac
printf '%s\\n' "$rules" | NFT "$@"
`;

describe.skipIf(skip !== null)('frames of a guest', () => {
  let bed: Testbed;
  let network: HostNetwork;
  let spec: MachineSpec;
  let tap: string;
  let mac: string;
  let bridgeMac: string;
  const none = new Set<string>();

  const own = [10, 77, 22, 10];
  const gateway = [10, 77, 22, 1];
  const reserved = [2, 3, 0xe, 0xf].map((last) => `0180c200000${last.toString(16)}`);

  beforeAll(async () => {
    bed = await testbed(22, 'tiny', {});
    const { name, addresses } = bed.options.bridge;
    const settings = { GUEST_NETWORKS: '10.201.0.0/24', GUEST_PORTS: 'udp/53', GUEST_CONNECTIONS: '8' };
    const asked = bridgeOf(readConfig({ BRIDGE: name, NAT: 'off', ...settings }), addresses);
    const bridge = { ...asked, connections: { ...asked.connections, fromGuest: 40 } };
    network = hostNetwork(bridge, 'http://10.202.0.1:8080/menu.ipxe', bed.options.log);
    await network.prepare('installation-1', none);
    spec = bed.spec(1);
    tap = machineFiles(bed.options, spec.id).tap;
    mac = spec.nic.mac.replaceAll(':', '');
    await network.plug(machineFiles(bed.options, spec.id), spec, null);
    const { stdout } = await runProgram(['ip', '-j', 'link', 'show', 'dev', bridge.name]);
    bridgeMac = JSON.parse(stdout)[0].address.replaceAll(':', '');
    // What lies behind the host, and a look at what gets there.
    await runAsRoot(['sysctl', '-q', '-w', 'net.ipv4.ip_forward=1', 'net.ipv6.conf.all.forwarding=1']);
    await runAsRoot(['ip', 'link', 'add', 'behind22', 'type', 'bridge']);
    await runAsRoot(['ip', 'address', 'add', '203.0.113.1/24', 'dev', 'behind22']);
    await runAsRoot(['ip', 'link', 'set', 'behind22', 'up']);
    await runAsRoot(['ip', 'route', 'add', 'default', 'via', '203.0.113.2']);
    await runAsRoot(['nft', '-f', '-'], {
      input: `table netdev probe22 {
        chain passed { type filter hook ingress device "${tap}" priority 100; counter
        }
      }
      table inet probe22 {
        set onward { type ipv4_addr; flags dynamic
        }
        set arrived { type ipv4_addr . inet_proto . inet_service; flags dynamic
        }
        set called { type ipv4_addr . inet_service; flags dynamic
        }
        set asked { type inet_service; flags dynamic
        }
        set onward6 { type ipv6_addr; flags dynamic
        }
        chain forward { type filter hook forward priority 100
          add @onward { ip daddr }
          oifname "${bridge.name}" add @called { ip daddr . udp sport }
          add @onward6 { ip6 daddr }
        }
        chain input { type filter hook input priority 100
          add @arrived { ip daddr . ip protocol . th dport }
          udp dport 53 add @asked { udp sport }
        }
      }`,
    });
  }, 60_000);

  afterAll(async () => {
    await runAsRoot(['nft', 'delete', 'table', 'netdev', 'probe22']);
    await runAsRoot(['nft', 'delete', 'table', 'inet', 'probe22']);
    await network.unplug(tap);
    await runAsRoot(['ip', 'link', 'delete', 'behind22']);
    await runAsRoot(['ip', 'link', 'delete', 'dev', bed.options.bridge.name]);
    bed.remove();
  });

  const hex = (...bytes: number[]) => Buffer.from(bytes).toString('hex');
  const send = (frames: string[]) =>
    runProgram(['perl', '-e', senderProgram, tap], { input: `${frames.join('\n')}\n` });
  const neighbours = async () => (await runProgram(['ip', 'neighbour', 'show'])).stdout;
  const probed = async (family: string) =>
    (await runAsRoot(['nft', 'list', 'table', family, 'probe22'])).stdout;

  /** How many frames have got past the tap. */
  const passed = async () => /packets (\d+)/.exec(await probed('netdev'))?.[1];

  /** "Who has the gateway's address? Tell me", in ARP, from an address of the guest's choice. */
  const asks = (to: string, from: number[], sender = mac) =>
    `${to}${sender}0806${hex(0, 1, 8, 0, 6, 4, 0, 1)}${sender}${hex(...from)}${'00'.repeat(6)}${hex(...gateway)}`;

  /** The host knows no more what was written down when the machine was plugged in, and has to ask. */
  const unwritten = (address: string) =>
    runAsRoot(['ip', 'neighbour', 'del', address, 'dev', bed.options.bridge.name]);

  /** A packet of UDP, TCP or ICMP without contents. */
  function packet(
    to: number[],
    protocol: number,
    port: number,
    from = { port: 0x3039, address: own },
  ): string {
    const header = Buffer.from([0x45, 0, 0, 40, 0, 0, 0, 0, 64, protocol, 0, 0, ...from.address, ...to]);
    let sum = 0;
    for (let at = 0; at < 20; at += 2) sum += header.readUInt16BE(at);
    header.writeUInt16BE(~((sum & 0xffff) + (sum >>> 16)) & 0xffff, 10);
    const bodies: Record<number, number[]> = {
      1: [8, 0, 0xf7, 0xff, 0, 0, 0, 0],
      6: [0x30, 0x39, port >> 8, port & 255, 0, 0, 0, 1, 0, 0, 0, 0, 0x50, 2, 4, 0, 0, 0, 0, 0],
      17: [from.port >> 8, from.port & 255, port >> 8, port & 255, 0, 20, 0, 0],
    };
    const body = Buffer.alloc(20);
    body.set(bodies[protocol] ?? []);
    return `${bridgeMac}${mac}0800${Buffer.concat([header, body]).toString('hex')}`;
  }

  it('reach the host from its own address, and from no other', async () => {
    await unwritten('10.77.22.10');
    await send([asks('ffffffffffff', [10, 77, 22, 98]), asks('ffffffffffff', own)]);
    expect(await neighbours()).toContain('10.77.22.10 ');
    expect(await neighbours()).not.toContain('10.77.22.98 ');
  });

  it('to addresses that a bridge takes for its own reach nobody', async () => {
    const before = await passed();
    await send(
      reserved.flatMap((to) => [asks(to, [10, 77, 22, 99]), asks(to, own), asks(to, own, '525400000099')]),
    );
    expect(await passed()).toBe(before);
    expect(await neighbours()).not.toContain('10.77.22.99 ');
    expect(await neighbours()).not.toContain(tap);
  });

  it('that play a router are heard by nobody, wherever they go', async () => {
    const from = 'fe800000000000005054 00fffe772201'.replace(' ', '');
    const advert = `86000000ff000708${'00'.repeat(8)}`.slice(0, 32);
    const body = `6000000000103aff${from}ff020000000000000000000000000001${advert}`;
    await send([...reserved, '333300000001'].map((to) => `${to}${mac}86dd${body}`));
    const { stdout } = await runProgram(['ip', '-6', 'route', 'show']);
    expect(stdout).not.toMatch(/default.* ra /);
    const before = await passed();
    await send([`333300000001${mac}86dd${body}`]);
    expect(await passed()).toBe(before);
  });

  it('that ask who listens to multicast keep no neighbour from being found', {
    timeout: 30_000,
  }, async () => {
    const other = bed.spec(2);
    const { tap: otherTap } = machineFiles(bed.options, other.id);
    await network.plug(machineFiles(bed.options, other.id), other, null);
    await unwritten('fd77:22::11'); // so that it is asked for
    const query = (answerWithin: number) => {
      const [from, to] = ['fe80000000000000505400fffe772201', 'ff020000000000000000000000000001'];
      const before = `${from}${to}0000001c0000003a`; // what is summed up besides: RFC 8200 8.1
      const [first, last] = [
        '8200',
        `${hex(answerWithin >> 8, answerWithin & 255)}0000${'00'.repeat(16)}02000000`,
      ];
      const summed = Buffer.from(`${before}${first}0000${last}`, 'hex');
      let sum = 0;
      for (let at = 0; at < summed.length; at += 2) sum += summed.readUInt16BE(at);
      while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
      const checksum = hex((~sum >> 8) & 255, ~sum & 255);
      const options = '3a00050200000100'; // Router Alert, as RFC 3810 wants it
      return `333300000001${mac}86dd6000000000240001${from}${to}${options}${first}${checksum}${last}`;
    };
    // Stands for a neighbour that has not said lately what it listens to: the query gives it hours for that.
    const listening = runProgram(['timeout', '6', 'perl', '-e', listenerProgram, otherTap]).catch(
      (error: { stdout?: string }) => error,
    );
    await sleep(500);
    await send([query(1)]);
    await send([query(0xffff)]);
    await sleep(300);
    const anyone = createSocket('udp6');
    await new Promise((sent) => anyone.send('hello', 9, 'fd77:22::11', sent));
    // A solicitation for it: to the group of its address' last three bytes.
    expect((await listening) as { stdout: string }).toMatchObject({
      stdout: expect.stringMatching(/^3333ff000011.{12}86dd/m),
    });
    anyone.close();
    await network.unplug(otherTap);
  });

  it('get past the speed of its port by no address', { timeout: 60_000 }, async () => {
    await runAsRoot(['nft', 'reset', 'counters']).catch(() => undefined);
    const bytes = async () => Number(/bytes (\d+)/.exec(await probed('netdev'))?.[1]);
    const before = await bytes();
    const began = Date.now();
    const big = 'ab'.repeat(1_400);
    const frames = [bridgeMac, ...reserved].map((to) => `${to}${mac}0800${big}`);
    await send(Array.from({ length: 4_000 }, () => frames).flat());
    const seconds = (Date.now() - began) / 1000;
    const mostBytes = spec.nic.portMbps * 125_000 * (seconds + 0.2);
    expect((await bytes()) - before).toBeLessThan(mostBytes);
    expect((await bytes()) - before).toBeLessThan(4_000 * 1_414 + 1_000_000); // nothing of the reserved ones
  });

  it('reach the world and what settings open, and none of the networks that are the provider’s own', async () => {
    const inside = ['169.254.169.254', '10.200.0.1', '172.16.0.1', '192.168.1.1', '100.64.0.1'];
    const open = ['198.51.100.7', '10.201.0.9'];
    const to = (address: string) => address.split('.').map(Number);
    await send([...inside, ...open].flatMap((each) => [packet(to(each), 17, 80), packet(to(each), 6, 80)]));
    await send([packet(to('10.202.0.1'), 6, 8080), packet(to('10.202.0.1'), 6, 22)]);
    const onward = await probed('inet');
    for (const address of open) expect(onward).toContain(address);
    for (const address of inside) expect(onward).not.toContain(address);
    expect(onward).toContain('10.202.0.1'); // where machines that start from the network are sent
  });

  it('reach of the host only what it offers', async () => {
    const all = [
      packet(gateway, 1, 0),
      packet(gateway, 17, 53),
      packet(gateway, 17, 123),
      packet(gateway, 6, 22),
    ];
    await send(all);
    const arrived = await probed('inet');
    expect(arrived).toContain('10.77.22.1 . icmp');
    expect(arrived).toMatch(/10\.77\.22\.1 \. udp \. (53|domain)/);
    expect(arrived).not.toMatch(/udp \. (123|ntp)|tcp \. (22|ssh)/);
  });

  it('to all guests are few, however many the port has room for', { timeout: 60_000 }, async () => {
    const before = Number(await passed());
    const began = Date.now();
    await send(Array.from({ length: 20_000 }, () => asks('ffffffffffff', own)));
    const seconds = (Date.now() - began) / 1_000;
    const copied = Number(await passed()) - before;
    expect(copied).toBeGreaterThan(0);
    expect(copied).toBeLessThan(400 + 200 * (seconds + 1));
  });

  it('begin as many connections as one guest may have, to the host too', async () => {
    const from = (port: number) => ({ port, address: own });
    await send(Array.from({ length: 200 }, (_, nth) => packet(gateway, 17, 53, from(20_000 + nth))));
    const asked = /set asked \{[^}]*elements = \{([^}]*)\}/.exec(await probed('inet'))?.[1]?.split(',') ?? [];
    expect(asked.length).toBeGreaterThan(0);
    expect(asked.length).toBeLessThanOrEqual(40);
  });

  describe('that come from the world', () => {
    let hostMac: string;
    beforeAll(async () => {
      await runAsRoot(['ip', 'tuntap', 'add', 'dev', 'world22', 'mode', 'tap']);
      await runAsRoot(['ip', 'link', 'set', 'dev', 'world22', 'master', 'behind22', 'up']);
      // What is sent here has no checksums of TCP.
      await runAsRoot(['sysctl', '-q', '-w', 'net.netfilter.nf_conntrack_checksum=0']);
      const { stdout } = await runProgram(['ip', '-j', 'link', 'show', 'dev', 'behind22']);
      hostMac = JSON.parse(stdout)[0].address.replaceAll(':', '');
    });
    afterAll(() => runAsRoot(['ip', 'link', 'delete', 'world22']));

    const neighbour = [10, 77, 22, 11];
    const call = (to: number[], port: number, host = 9, protocol = 17) => {
      const bytes = packet(to, protocol, 80, { port, address: [203, 0, 113, host] }).slice(24);
      return `${hostMac}020000000099${bytes}`;
    };
    const calls = (to: number[], host: number, count: number) =>
      Array.from({ length: count }, (_, nth) => call(to, 30_000 + 100 * host + nth, host));
    const arrive = (frames: string[]) =>
      runProgram(['perl', '-e', senderProgram, 'world22'], { input: `${frames.join('\n')}\n` });
    const called = async (address: string) => (await probed('inet')).split(`${address} . `).length - 1;

    it('leave the host’s connections to others, however many they are, and a guest’s to other callers', async () => {
      await arrive(calls(own, 9, 100));
      expect(await called('10.77.22.10')).toBe(2); // of one source a quarter
      await arrive([
        ...[10, 11, 12, 13, 14].flatMap((host) => calls(own, host, 10)),
        call(neighbour, 29_999, 9),
      ]);
      expect([await called('10.77.22.10'), await called('10.77.22.11')]).toEqual([8, 1]);
    });

    it('are forgotten soon where nobody answers', async () => {
      await arrive([call(neighbour, 29_998), call(neighbour, 29_997, 10, 6)]);
      const tracked = readFileSync('/proc/self/net/nf_conntrack', 'latin1').split('\n');
      const seconds = ['udp', 'tcp'].map((protocol) => {
        const line = tracked.find(
          (each) => each.includes(` ${protocol} `) && each.includes('dst=10.77.22.11 '),
        );
        return Number(line?.split(/\s+/)[4]);
      });
      for (const each of seconds) expect(each).toBeLessThanOrEqual(10);
    });

    it('are as many as is set at the next start, and a quarter of the host’s table where nothing is', async () => {
      const before = await called('10.77.22.10');
      const bridge = { ...bed.options.bridge, connections: { toGuest: 20 } };
      await hostNetwork(bridge, null, bed.options.log).prepare('installation-1', new Set([tap]));
      await arrive(calls(own, 20, 100));
      expect(await called('10.77.22.10')).toBe(before + 5);
      await hostNetwork(bed.options.bridge, null, bed.options.log).prepare('installation-1', new Set([tap]));
      const { stdout } = await runAsRoot(['nft', 'list', 'chain', 'inet', 'innkeeper_ikt22_reach', 'inward']);
      const table = Number(readFileSync('/proc/sys/net/netfilter/nf_conntrack_max', 'latin1'));
      const parts =
        /add @called4 \{.* mod (\d+) .*ct count over (\d+) /.exec(stdout)?.slice(1).map(Number) ?? [];
      expect((parts[0] ?? 0) * (parts[1] ?? 0)).toBeCloseTo(table / 4, -3);
      await network.prepare('installation-1', new Set([tap]));
    });
  });

  it('to IPv6 addresses that no machine has are forwarded to nobody, and the host asks for none', async () => {
    const other = bed.spec(2);
    const files = machineFiles(bed.options, other.id);
    await network.plug(files, other, null);
    await network.sweep(new Set([tap, files.tap]));
    const bytes = (address: string) => Buffer.from(ipaddr.parse(address).toByteArray()).toString('hex');
    const to = (address: string) =>
      `${bridgeMac}${mac}86dd6000000000081140${bytes('fd77:22::10')}${bytes(address)}3039005000080000`;
    const unknown = Array.from({ length: 300 }, (_, nth) => `fd77:22::1:${(nth + 1).toString(16)}`);
    await send([...unknown, 'fd77:22::11'].map(to));
    const asked = (await neighbours()).split('\n').filter((line) => line.startsWith('fd77:22::1:'));
    expect(asked).toEqual([]);
    expect(await probed('inet')).toContain('fd77:22::11');
    expect(await neighbours()).toMatch(/^fd77:22::11 .*PERMANENT/m);
    await network.unplug(files.tap);
    expect(await neighbours()).not.toContain('fd77:22::11 ');
    await send([to('fd77:22::11')]);
    expect(await neighbours()).not.toContain('fd77:22::11 ');
  });

  it('find each other by IPv6 also where the host’s bridges ask the packet filter', async () => {
    await runAsRoot(['sysctl', '-q', '-w', 'net.bridge.bridge-nf-call-ip6tables=1']);
    const other = bed.spec(2);
    const files = machineFiles(bed.options, other.id);
    await network.plug(files, other, null);
    await network.sweep(new Set([tap, files.tap]));
    const bytes = (address: string) => Buffer.from(ipaddr.parse(address).toByteArray()).toString('hex');
    const frame = (mac6: string, address: string) =>
      `${mac6}${mac}86dd6000000000081140${bytes('fd77:22::10')}${bytes(address)}3039005000080000`;
    const wanted = [
      frame('3333ff000011', 'ff02::1:ff00:11'), // as a solicitation is sent
      frame(other.nic.mac.replaceAll(':', ''), linkLocalAddress(other.nic.mac)),
    ];
    let isListening = true;
    const listening = runProgram(['perl', '-e', allProgram, files.tap]).finally(() => {
      isListening = false;
    });
    while (isListening) await send(wanted); // the first ones may come before it listens
    const { stdout } = await listening;
    for (const each of wanted) expect(stdout).toContain(each);
    await network.unplug(files.tap);
  });

  it('find nothing of the host on the tap itself', async () => {
    const setting = async (key: string) => (await runProgram(['sysctl', '-n', key])).stdout.trim();
    expect(await setting(`net.ipv6.conf.${tap}.disable_ipv6`)).toBe('1');
    expect(await setting(`net.ipv4.conf.${tap}.arp_ignore`)).toBe('8');
    expect(await setting(`net.ipv4.conf.${tap}.rp_filter`)).toBe('1');
  });

  it('leave no rules when the machine goes, and are guarded anew when it comes back', async () => {
    const files = machineFiles(bed.options, spec.id);
    for (const _ of [1, 2]) {
      await network.makeTap(files, null);
      await network.plug(files, spec, null);
    }
    const other = bed.spec(2);
    const otherFiles = machineFiles(bed.options, other.id);
    await network.plug(otherFiles, other, null);
    await network.unplug(otherFiles.tap);
    await network.unplug(otherFiles.tap);
    const { stdout } = await runAsRoot(['nft', 'list', 'ruleset']);
    expect(stdout).toContain(tap);
    expect(stdout).not.toContain(otherFiles.tap);
  });

  it('get nowhere before all rules stand, from whoever has the tap while it is plugged in', async () => {
    const other = bed.spec(3);
    const files = machineFiles(bed.options, other.id);
    const itsMac = other.nic.mac.replaceAll(':', '');
    await network.makeTap(files, null);
    const frames = [
      asks('ffffffffffff', [10, 77, 22, 97], '525400000098'),
      asks('ffffffffffff', [10, 77, 22, 97], itsMac),
      asks('ffffffffffff', [10, 77, 22, 12], itsMac),
    ];
    const sending = runProgram(['perl', '-e', impatientProgram, files.tap], { input: frames.join('\n') });
    await sleep(300);
    await network.plug(files, other, null);
    await unwritten('10.77.22.12');
    await sending;
    expect(await neighbours()).toContain('10.77.22.12 '); // it has sent, and was heard where it may be
    expect(await neighbours()).not.toContain('10.77.22.97 ');
    await network.unplug(files.tap);
  });

  it('belong to one installation: another one does not take its bridge', async () => {
    await network.prepare('installation-1', none);
    const refused = expect.objectContaining({ code: 'host_not_ready', permanent: true });
    await expect(network.prepare('installation-2', none)).rejects.toEqual(refused);
    await expect(network.prepare('installation-2', none)).rejects.toThrow('machines of another installation');
  });

  it('get their gate when a product that knows gates finds the machine running without one', async () => {
    const files = machineFiles(bed.options, spec.id);
    const gate = async () =>
      (await runAsRoot(['nft', 'list', 'table', 'netdev', 'innkeeper_ikt22']).catch(() => ({ stdout: '' })))
        .stdout;
    await runAsRoot(['nft', 'delete', 'table', 'netdev', 'innkeeper_ikt22']);
    expect(await gate()).not.toContain(tap);
    await network.adopt(files, spec.nic);
    expect(await gate()).toContain(`ether saddr != ${spec.nic.mac}`);
    const before = await gate();
    await network.adopt(files, { ...spec.nic, portMbps: 1 }); // has one: it stays
    expect(await gate()).toBe(before);
  });

  it('get it on a host that cannot limit too, from a product that has just started', async () => {
    const files = machineFiles(bed.options, spec.id);
    const gate = async () =>
      (await runAsRoot(['nft', 'list', 'table', 'netdev', 'innkeeper_ikt22']).catch(() => ({ stdout: '' })))
        .stdout;
    await runAsRoot(['nft', 'delete', 'table', 'netdev', 'innkeeper_ikt22']);
    const dir = mkdtempSync(join(tmpdir(), 'innkeeper-nft-'));
    const { stdout: real } = await runProgram(['which', 'nft']);
    writeFileSync(join(dir, 'nft'), unlimitedNft.replaceAll('NFT', real.trim()), { mode: 0o755 });
    const { PATH: path = '' } = process.env;
    const warned: string[] = [];
    const log = { ...bed.options.log, warn: (_: object, message: string) => warned.push(message) };
    process.env.PATH = `${dir}:${path}`;
    try {
      const started = hostNetwork(bed.options.bridge, null, log);
      for (const _ of [1, 2]) await started.adopt(files, spec.nic);
    } finally {
      process.env.PATH = path;
      rmSync(dir, { recursive: true });
    }
    expect(await gate()).toContain(`ether saddr != ${spec.nic.mac}`);
    expect(await gate()).not.toContain('limit rate');
    expect(warned).toEqual([expect.stringContaining('cannot limit')]);
    await network.adopt(files, spec.nic); // the host can after all: it is whole again
    expect(await gate()).toContain('limit rate over 200/second');
  });

  it('on a bridge without a mark are their own installation’s, and nobody else takes it', async () => {
    await runAsRoot(['ip', 'link', 'set', 'dev', 'ikt22', 'alias', '']);
    const used = `${tap.slice(0, -2)}zz`; // a pair that is up, as a tap is with its process
    await runAsRoot(['ip', 'link', 'add', used, 'type', 'veth', 'peer', 'name', 'ikt22peer']);
    for (const link of [used, 'ikt22peer']) await runAsRoot(['ip', 'link', 'set', 'dev', link, 'up']);
    await runAsRoot(['ip', 'link', 'set', 'dev', used, 'master', 'ikt22']);
    await expect(network.prepare('installation-2', none)).rejects.toThrow('are not in this DATA_DIR');
    await network.prepare('installation-1', new Set([used]));
    await expect(network.prepare('installation-2', none)).rejects.toThrow('machines of another installation');
    await runAsRoot(['ip', 'link', 'delete', used]);
  });
});
