import { readdirSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { createInterface } from 'node:readline';
import { asRoot, runAsRoot, startProgram } from '../src/platform/host/program.ts';

/**
 * From a sender over an edge to a guest, a network each, joined as machines are: what a packet costs on this way is the time that one
 * processor took for it, the sender's calls and the kernel's own threads together.
 */
export interface PacketPath {
  /** Argument vector that runs `argv` at the edge. */
  inside(argv: readonly string[]): string[];
  /** Which packets are sent, in turn; each in hexadecimal. */
  load(frames: readonly string[]): Promise<void>;
  /** Sends as many as it can for a moment. */
  shoot(ms: number): Promise<Shot>;
  /** How many packets the guest was brought since the path was opened. */
  arrived(): Promise<number>;
  close(): Promise<void>;
}

export interface Shot {
  sent: number;
  /** Of one processor's time. */
  nsEach: number;
}

/** Of the edge on the sender's side, to which packets go. */
export const edgeMac = '02:00:00:00:00:01';
const guestMac = '02:00:00:00:00:aa';

/**
 * Sends 64 packets with each call (sendmmsg, past the queue of the device), so that a packet costs its sender little. A line is `load
 * HEX…` or `shoot MILLISECONDS`.
 */
const program = `
use strict; use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC CLOCK_PROCESS_CPUTIME_ID);
my ($sendmmsg, $together) = (307, 64);
open(my $file, '<', '/sys/class/net/out/ifindex') or die $!; my $device = <$file> + 0;
socket(my $socket, 17, 3, 0) or die $!;
bind($socket, pack('S n i S C C a8', 17, 0x0800, $device, 0, 0, 6, '')) or die $!;
setsockopt($socket, 263, 20, pack('i', 1)) or die $!;
my ($fd, @kept, @calls) = (fileno $socket); $| = 1;
sub kept { push @kept, \\$_[0]; return $kept[-1] }
while (my $line = <STDIN>) {
  my ($word, @rest) = split ' ', $line;
  if ($word eq 'load') {
    (@kept, @calls) = ();
    my @frames = map { kept(my $frame = pack('H*', $_)) } @rest;
    push @frames, @frames while @frames < $together;
    my $call = '';
    for my $frame (@frames[0 .. $together - 1]) {
      my $part = kept(my $vector = pack('P Q', $$frame, length $$frame));
      $call .= pack('Q L x4 P Q Q Q L x4 L x4', 0, 0, $$part, 1, 0, 0, 0, 0);
    }
    push @calls, $call; print "loaded\\n";
  } else {
    my ($sent, $end) = (0, clock_gettime(CLOCK_MONOTONIC) + $rest[0] / 1000);
    my $began = clock_gettime(CLOCK_PROCESS_CPUTIME_ID);
    while (clock_gettime(CLOCK_MONOTONIC) < $end) {
      my $done = syscall($sendmmsg, $fd, $calls[0], $together, 0); $sent += $done if $done > 0;
    }
    printf("%d %.0f\\n", $sent, 1e9 * (clock_gettime(CLOCK_PROCESS_CPUTIME_ID) - $began));
  }
}`;

let opened = 0;

/** Takes root, and `iproute2`. Packets to 10.0.0.0/8 go to the guest, who lets go of them as they come in. */
export async function packetPath(): Promise<PacketPath> {
  opened += 1;
  const all = `innkeeper-path-${process.pid}-${opened}`;
  const name = (at: string) => `${all}-${at}`;
  const within = (at: string, argv: readonly string[]) => ['ip', 'netns', 'exec', name(at), ...argv];
  const inside = (argv: readonly string[]) => within('edge', argv);
  for (const at of places) await runAsRoot(['ip', 'netns', 'add', name(at)]);
  for (const at of places)
    await runAsRoot(['ip', '-n', name(at), '-batch', '-'], { input: linksOf(at, name) });
  const settings = ['ip_forward=1', 'conf.all.rp_filter=0', 'conf.in.rp_filter=0'];
  await runAsRoot(inside(['sysctl', '-qw', ...settings.map((each) => `net.ipv4.${each}`)]));
  await dropAt(within('guest', []), 'guest');
  const sending = ['taskset', '-c', String(processor), 'nice', '-n', '-10', 'perl', '-e', program];
  const { stdin, stdout, ended } = startProgram(asRoot(within('sender', sending)));
  const answers = createInterface(stdout)[Symbol.asyncIterator]();
  const ask = async (line: string) => {
    stdin.write(`${line}\n`);
    return String((await answers.next()).value);
  };
  return {
    inside,
    load: async (frames) => void (await ask(`load ${frames.join(' ')}`)),
    shoot: async (ms) => {
      const before = threadNs();
      const [sent = 0, ns = 0] = (await ask(`shoot ${ms}`)).split(' ').map(Number);
      return { sent, nsEach: (ns + threadNs() - before) / sent };
    },
    arrived: async () => {
      const file = '/sys/class/net/guest/statistics/rx_packets';
      return Number((await runAsRoot(within('guest', ['cat', file]))).stdout);
    },
    close: async () => {
      stdin.end();
      await ended;
      for (const at of places) await runAsRoot(['ip', 'netns', 'delete', name(at)]);
    },
  };
}

/** Packets of the path end where they come in. */
export async function dropAt(inside: readonly string[], device: string): Promise<void> {
  const lines = [
    'add table netdev bench',
    `add chain netdev bench in { type filter hook ingress device ${device} priority 0; }`,
    'add rule netdev bench in ip daddr 10.0.0.0/8 drop',
  ];
  await runAsRoot([...inside, 'nft', '-f', '-'], { input: `${lines.join('\n')}\n` });
}

const places = ['sender', 'edge', 'guest'] as const;

function linksOf(at: (typeof places)[number], name: (at: string) => string): string {
  const lines = {
    sender: [`link add out type veth peer name in netns ${name('edge')}`, 'link set out up'],
    edge: [
      `link set in address ${edgeMac} up`,
      'address add 198.18.0.1/15 dev in',
      `link add to type veth peer name guest netns ${name('guest')}`,
      'address add 10.255.255.1/30 dev to',
      'link set to up',
      'route add 10.0.0.0/8 via 10.255.255.2 dev to',
      `neighbor replace 10.255.255.2 lladdr ${guestMac} dev to nud permanent`,
    ],
    guest: [`link set guest address ${guestMac} up`],
  };
  return `${['link set lo up', ...lines[at]].join('\n')}\n`;
}

/** All of the way runs on the last one. */
const processor = cpus().length - 1;
/** Takes over where too much is to be done for whoever caused it. */
const thread = readdirSync('/proc').find((pid) => {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8') === `ksoftirqd/${processor}\n`;
  } catch {
    return false; // no process, or one that has ended
  }
});

function threadNs(): number {
  return Number(readFileSync(`/proc/${thread}/schedstat`, 'utf8').split(' ')[0]);
}
