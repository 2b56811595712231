import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { asRoot, runAsRoot } from '../../../platform/host/program.ts';
import type { Packet } from '../contract.ts';
import { frameOf, markOf } from './frames.testbed.ts';

/**
 * A network of its own with an edge in it: what the world sends comes in by one tap and is routed to the guests' tap, and two
 * guests of one bridge have a tap each. The sender holds all four, so that it writes and reads what really passes.
 */
export interface EdgeNetwork {
  /** Argument vector that runs `argv` inside. */
  inside(argv: readonly string[]): string[];
  /** Sends in this order, and says which packets came out on the other side. */
  send(packets: readonly Packet[], how?: { bridged?: boolean }): Promise<boolean[]>;
  /** The same, spread over time; and at which millisecond each went out. */
  sendPaced(packets: readonly Packet[], perSecond: number): Promise<{ arrived: boolean[]; atMs: number[] }>;
  /** Sends these packets in turn for some seconds: how many, how many of them came out, and the CPU time that it took, to the guest. */
  flood(packets: readonly Packet[], seconds: number): Promise<Flood>;
  close(): Promise<void>;
}

export interface Flood {
  sent: number;
  arrived: number;
  cpuMs: number;
}

const taps = ['world', 'guests', 'guest1', 'guest2'] as const;
const mac = (tap: (typeof taps)[number]) => `02:00:00:00:00:0${taps.indexOf(tap) + 1}`;
/** Of the guests behind the router. */
const guestMac = '02:00:00:00:00:aa';
/** Arrives when all before it have. */
const lastMark = 0xffff;

/**
 * Writes frames as it is told, a line each: `pace TAP N` for the rate of those that follow, 0 for none, `TAP HEX`, `flood TAP
 * SECONDS HEX…`. Prints the frames that come out at the guests' taps, and when each went out for which there is a rate.
 */
const program = `
use IO::Handle; use IO::Select; use Time::HiRes qw(time sleep);
my (%tap, %name); my $select = IO::Select->new(\\*STDIN);
for my $each (@ARGV) {
  open(my $tap, '+<', '/dev/net/tun') or die $!;
  ioctl($tap, 0x400454ca, pack('a16 s x22', $each, 0x1002)) or die $!;
  # What select said is there may have been read since, by heard.
  $tap->blocking(0);
  $tap{$each} = $tap; $name{fileno($tap)} = $each; $select->add($tap);
}
STDOUT->autoflush(0); print "ready\\n"; STDOUT->flush;
my ($buffer, $pace, $next) = ('', 0, 0);
sub heard { # what came out, without waiting
  for my $from ($select->can_read($_[0])) {
    next if fileno($from) == 0;
    sysread($from, my $frame, 2000) or next;
    print 'out ', unpack('H*', substr($frame, 0, 60)), "\\n" if $name{fileno($from)} =~ /^guest/;
  }
}
sub obey {
  my @word = split(' ', $_[0]);
  if ($word[0] eq 'pace') { $pace = $word[1]; $next = time; return }
  if ($word[0] eq 'flood') {
    my ($tap, $sent, $end, @frame) = ($tap{$word[1]}, 0, time + $word[2], map { pack('H*', $_) } @word[3 .. $#word]);
    push @frame, @frame while @frame < 64;
    my ($user, $system) = times;
    while (time < $end) { for (@frame) { syswrite($tap, $_) and $sent++ } }
    my ($userEnd, $systemEnd) = times;
    heard(0) while grep { fileno($_) != 0 } $select->can_read(0);
    printf("flooded $sent %d\\n", 1000 * ($userEnd - $user + $systemEnd - $system)); STDOUT->flush; return;
  }
  if ($pace) { $next += 1 / $pace; my $wait = $next - time; if ($wait > 0) { STDOUT->flush; sleep($wait) } }
  syswrite($tap{$word[0]}, pack('H*', $word[1])) or warn "not sent: $!";
  printf("at %.3f\\n", time() * 1000) if $pace;
  heard(0);
}
while (1) {
  for my $ready ($select->can_read) {
    if (fileno($ready) == 0) {
      sysread(STDIN, $buffer, 65536, length $buffer) or exit 0;
      while ((my $at = index($buffer, "\\n")) >= 0) { my $line = substr($buffer, 0, $at + 1, ''); chomp $line; obey($line) }
    } else {
      sysread($ready, my $frame, 2000) or next;
      print 'out ', unpack('H*', substr($frame, 0, 60)), "\\n" if $name{fileno($ready)} =~ /^guest/;
    }
  }
  STDOUT->flush;
}`;

/** It has passed on whatever it was told long before. */
const answersWithinMs = 30_000;

let opened = 0;

/** Takes root, and `iproute2`. Bridged packets pass no tables for routed ones. */
export async function edgeNetwork(): Promise<EdgeNetwork> {
  opened += 1;
  const name = `innkeeper-edge-${process.pid}-${opened}`;
  const inside = (argv: readonly string[]) => ['ip', 'netns', 'exec', name, ...argv];
  await runAsRoot(['ip', 'netns', 'add', name]);
  const sender = await openSender(name, inside).catch(async (error) => {
    await runAsRoot(['ip', 'netns', 'delete', name]);
    throw error;
  });

  for (const each of ['iptables', 'ip6tables']) {
    const setting = `net.bridge.bridge-nf-call-${each}=0`;
    await runAsRoot(inside(['sysctl', '-qe', '-w', setting]));
  }

  sender.stdin.on('error', () => undefined); // it ended, which whoever waits for it hears
  const arrived = new Set<number>();
  const atMs: number[] = [];
  const waiting = new Map<string, (line: string) => void>();
  let broken: Error | null = null;
  // One that hangs ends with the first test that meets it: each of the others would have to wait until its own time is over.
  const waitFor = (what: string, withinMs = answersWithinMs) =>
    new Promise<string>((resolve, reject) => {
      if (broken !== null) return reject(broken);
      const timer = setTimeout(() => {
        broken = new Error(`the sender did not say within ${withinMs / 1_000} s: ${what}`);
        sender.kill('SIGKILL');
        reject(broken);
      }, withinMs);
      waiting.set(what, (line) => {
        clearTimeout(timer);
        resolve(line);
      });
    });
  const tell = (what: string, line: string) => {
    waiting.get(what)?.(line);
    waiting.delete(what);
  };
  createInterface(sender.stdout).on('line', (line) => {
    if (line.startsWith('flooded ')) return tell('flooded', line);
    if (line.startsWith('at ')) return atMs.push(Number(line.slice(3)));
    const mark = line.startsWith('out ') ? markOf(Buffer.from(line.slice(4), 'hex')) : null;
    if (mark === null) return;
    arrived.add(mark);
    if (mark === lastMark) tell('last', line);
  });

  const write = async (lines: readonly string[]) => {
    if (broken !== null) throw broken;
    for (let at = 0; at < lines.length; at += 1_000) {
      const text = lines.slice(at, at + 1_000).map((line) => `${line}\n`);
      if (!sender.stdin.write(text.join('')))
        await new Promise((resolve) => sender.stdin.once('drain', resolve).once('close', resolve));
    }
  };
  const line = (packet: Packet, mark: number, bridged: boolean) => {
    const macs = bridged
      ? { from: mac('guest1'), to: mac('guest2') }
      : { from: mac('world'), to: mac('world') };
    return `${bridged ? 'guest1' : 'world'} ${frameOf(packet, bridged ? macs : { ...macs, from: guestMac }, mark).toString('hex')}`;
  };
  // To an address that no policy is about.
  const marker: Packet = {
    ...{
      source: '198.18.0.1',
      destination: '10.255.255.254',
      protocol: 17,
      ports: { source: 9, destination: 9 },
    },
    ...{ flags: null, dscp: 0, ecn: 0, ttl: 64, length: 60, fragment: false },
  };
  const finish = async (bridged: boolean, pacedMs = 0) => {
    const last = waitFor('last', pacedMs + answersWithinMs);
    await write(['pace 0', line(marker, lastMark, bridged)]);
    await last;
  };

  const sendAll = async (packets: readonly Packet[], perSecond: number, bridged: boolean) => {
    if (packets.length >= lastMark) throw new Error('more packets than there are marks');
    arrived.clear();
    await write([`pace ${perSecond}`, ...packets.map((packet, nth) => line(packet, nth + 1, bridged))]);
    await finish(bridged, perSecond === 0 ? 0 : (packets.length / perSecond) * 1_000);
    return packets.map((_, nth) => arrived.has(nth + 1));
  };

  return {
    inside,
    send: (packets, { bridged = false } = {}) => sendAll(packets, 0, bridged),
    async sendPaced(packets, perSecond) {
      atMs.length = 0;
      return { arrived: await sendAll(packets, perSecond, false), atMs: [...atMs] };
    },
    async flood(packets, seconds) {
      if (broken !== null) throw broken;
      arrived.clear();
      const flooded = waitFor('flooded', seconds * 1_000 + answersWithinMs);
      const frames = packets.map((packet, nth) => line(packet, nth + 1, false).split(' ')[1]);
      await write([`flood world ${seconds} ${frames.join(' ')}`]);
      const [, sent, cpuMs] = (await flooded).split(' ').map(Number);
      await finish(false);
      return {
        sent: sent ?? 0,
        arrived: packets.filter((_, nth) => arrived.has(nth + 1)).length,
        cpuMs: cpuMs ?? 0,
      };
    },
    async close() {
      sender.stdin.end();
      if (sender.exitCode === null && sender.signalCode === null)
        await new Promise((resolve) => sender.once('close', resolve));
      await runAsRoot(['ip', 'netns', 'delete', name]);
    },
  };
}

async function openSender(
  name: string,
  inside: (argv: readonly string[]) => string[],
): Promise<ChildProcessWithoutNullStreams> {
  const settings = [
    ...['net.ipv4.ip_forward=1', 'net.ipv6.conf.all.forwarding=1', 'net.ipv4.conf.all.rp_filter=0'],
    ...[
      'net.ipv4.conf.default.rp_filter=0',
      'net.ipv6.conf.default.accept_dad=0',
      'net.ipv4.conf.all.send_redirects=0',
    ],
  ];
  await runAsRoot(inside(['sysctl', '-qw', ...settings]));
  await runAsRoot(['ip', '-n', name, '-batch', '-'], {
    input: [
      'link set lo up',
      ...taps.flatMap((tap) => [
        `tuntap add dev ${tap} mode tap`,
        `link set dev ${tap} addrgenmode none`,
        `link set dev ${tap} address ${tap === 'world' || tap === 'guests' ? mac(tap) : `02:00:00:00:01:0${taps.indexOf(tap)}`}`,
        `link set dev ${tap} txqueuelen 20000`,
      ]),
      'link add name br type bridge mcast_snooping 0 forward_delay 0',
      'link set dev br addrgenmode none',
      'link set dev guest1 master br',
      'link set dev guest2 master br',
      ...[...taps, 'br'].map((device) => `link set dev ${device} up`),
      '',
    ].join('\n'),
  });
  const [command = '', ...args] = asRoot(inside(['perl', '-e', program, ...taps]));
  const sender = spawn(command, args, {
    stdio: ['pipe', 'pipe', 'inherit'],
  }) as unknown as ChildProcessWithoutNullStreams;
  await new Promise<void>((resolve, reject) => {
    sender.stdout.once('data', () => resolve());
    sender.once('error', reject);
    sender.once('close', () => reject(new Error('the sender ended')));
  });
  // Routes and neighbours want devices that somebody has.
  await runAsRoot(['ip', '-n', name, '-batch', '-'], {
    input: [
      'address add 198.18.255.1/32 dev world',
      'address add 10.255.255.1/32 dev guests',
      'route add 10.255.255.2/32 dev guests',
      'neigh add 10.255.255.2 lladdr 02:00:00:00:00:aa dev guests nud permanent',
      'route add 10.0.0.0/8 via 10.255.255.2 dev guests',
      'address add 2001:db8:7:ffff::1/128 dev guests nodad',
      'neigh add fe80::aa lladdr 02:00:00:00:00:aa dev guests nud permanent',
      'route add 2001:db8:7::/48 via fe80::aa dev guests',
      '',
    ]
      .filter(Boolean)
      .map((each) => `${each}\n`)
      .join(''),
  });
  await runAsRoot([
    'bridge',
    '-n',
    name,
    'fdb',
    'replace',
    mac('guest2'),
    'dev',
    'guest2',
    'master',
    'static',
  ]);
  return sender;
}
