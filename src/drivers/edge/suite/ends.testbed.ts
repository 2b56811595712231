import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { asRoot, runAsRoot } from '../../../platform/host/program.ts';
import type { Order } from './end.testbed.ts';

/**
 * A client, an edge and a guest, each a network of its own: connections through the edge are those of the kernel at both ends. The
 * guest answers without SYN cookies, and has room for few half-open connections, which it soon gives up.
 */
export interface Ends {
  /** Argument vector that runs `argv` in the edge's network. */
  inside(argv: readonly string[]): string[];
  guest: { 4: string; 6: string };
  /** Another address of the guest's. */
  other: { 4: string; 6: string };
  client: { 4: string; 6: string };
  /** Has an end do something. Fails as that does. */
  tell<Answer = null>(end: 'client' | 'guest', order: Order): Promise<Answer>;
  /** Opens so many connections a second to a port of the guest from senders that are false, until it is stopped; then how many. */
  floodSyns(port: number, perSecond: number): { stop(): Promise<number> };
  /** As the guest's kernel counts them: SYNs that it had no room for. */
  overflows(): Promise<number>;
  close(): Promise<void>;
}

const backlog = 128;

/** Sends SYNs with right checksums from 198.19.0.0/16 by a raw socket. */
const flooding = `
use Socket; use Time::HiRes qw(time sleep);
my ($to, $port, $rate) = @ARGV;
socket(my $raw, AF_INET, SOCK_RAW, 255) or die $!;
my $target = inet_aton($to); my $address = pack_sockaddr_in(0, $target);
sub sum { my $s = 0; $s += $_ for unpack('n*', $_[0]); $s = ($s & 0xffff) + ($s >> 16) while $s >> 16; return ~$s & 0xffff }
my ($sent, $begun, $over) = (0, time, 0);
local $SIG{TERM} = sub { $over = 1 };
until ($over) {
  for (1 .. 20) {
    my $from = pack('C4', 198, 19, int rand 256, 1 + int rand 254);
    my $tcp = pack('nnNNCCnnn', 1024 + int rand 60000, $port, int rand 2 ** 32, 0, 5 << 4, 2, 64240, 0, 0);
    substr($tcp, 16, 2) = pack('n', sum($from . $target . pack('CCn', 0, 6, 20) . $tcp));
    send($raw, pack('CCnnnCCna4a4', 0x45, 0, 40, int rand 65536, 0, 64, 6, 0, $from, $target) . $tcp, 0, $address) and $sent++;
  }
  my $ahead = $sent / $rate - (time - $begun); sleep($ahead) if $ahead > 0;
}
print $sent;`;

let made = 0;

export async function openEnds(): Promise<Ends> {
  made += 1;
  const names = Object.fromEntries(
    ['client', 'edge', 'guest'].map((each) => [each, `innkeeper-${each}-${process.pid}-${made}`]),
  ) as Record<'client' | 'edge' | 'guest', string>;
  const inside = (of: keyof typeof names) => (argv: readonly string[]) => [
    ...['ip', 'netns', 'exec', names[of]],
    ...argv,
  ];
  const remove = async () => {
    for (const each of Object.values(names)) await runAsRoot(['ip', 'netns', 'delete', each]);
  };
  for (const each of Object.values(names)) await runAsRoot(['ip', 'netns', 'add', each]);
  const addresses = {
    guest: { 4: '203.0.113.10', 6: '2001:db8:7::10' },
    other: { 4: '203.0.113.11', 6: '2001:db8:7::11' },
    client: { 4: '198.18.0.2', 6: '2001:db8:2::2' },
  };
  try {
    await wire(names, addresses, inside);
  } catch (error) {
    await remove();
    throw error;
  }
  const [client, guest] = [begin(inside('client')), begin(inside('guest'))];
  return {
    ...addresses,
    inside: inside('edge'),
    tell: (end, order) => (end === 'client' ? client : guest).tell(order) as never,
    floodSyns(port, perSecond) {
      const argv = ['perl', '-e', flooding, addresses.guest[4], String(port), String(perSecond)];
      const [command = '', ...args] = asRoot(inside('client')(argv));
      const flood = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
      let sent = '';
      flood.stdout.on('data', (data) => {
        sent += data;
      });
      const over = once(flood, 'close');
      return {
        stop: async () => {
          flood.kill('SIGTERM');
          await over;
          return Number(sent);
        },
      };
    },
    async overflows() {
      const { stdout } = await runAsRoot(inside('guest')(['cat', '/proc/net/netstat']));
      const [names = [], values = []] = stdout
        .split('\n')
        .filter((line) => line.startsWith('TcpExt:'))
        .map((line) => line.split(' '));
      return ['TCPReqQFullDrop', 'ListenDrops'].reduce(
        (sum, name) => sum + Number(values[names.indexOf(name)] ?? 0),
        0,
      );
    },
    async close() {
      await Promise.all([client.close(), guest.close()]);
      await remove();
    },
  };
}

async function wire(
  names: Record<'client' | 'edge' | 'guest', string>,
  { guest, other, client }: Pick<Ends, 'guest' | 'other' | 'client'>,
  inside: (of: 'client' | 'edge' | 'guest') => (argv: readonly string[]) => string[],
): Promise<void> {
  const batch = (of: keyof typeof names, lines: readonly string[]) =>
    runAsRoot(['ip', '-n', names[of], '-batch', '-'], { input: lines.map((line) => `${line}\n`).join('') });
  await batch('edge', [
    `link add world type veth peer name home netns ${names.client}`,
    `link add guests type veth peer name home netns ${names.guest}`,
  ]);
  await runAsRoot(
    inside('edge')([
      ...['sysctl', '-qw', 'net.ipv4.ip_forward=1', 'net.ipv6.conf.all.forwarding=1'],
      ...['net.ipv4.conf.all.rp_filter=0', 'net.ipv4.conf.default.rp_filter=0'],
    ]),
  );
  await runAsRoot(
    inside('guest')([
      ...['sysctl', '-qw', 'net.ipv4.tcp_syncookies=0', `net.ipv4.tcp_max_syn_backlog=${backlog}`],
      ...['net.ipv4.tcp_no_metrics_save=1', 'net.ipv4.tcp_synack_retries=1'],
    ]),
  );
  await batch('edge', [
    ...['lo', 'world', 'guests'].map((device) => `link set ${device} up`),
    'address add 198.18.0.1/15 dev world',
    'address add 2001:db8:2::1/64 dev world nodad',
    'address add 203.0.113.1/24 dev guests',
    'address add 2001:db8:7::1/64 dev guests nodad',
    // Answers to senders that are false vanish: otherwise errors would come back, and clean the guest's queue.
    'route add blackhole 198.19.0.0/16',
  ]);
  await batch('client', [
    ...['lo', 'home'].map((device) => `link set ${device} up`),
    `address add ${client[4]}/15 dev home`,
    `address add ${client[6]}/64 dev home nodad`,
    'route add default via 198.18.0.1',
    'route add default via 2001:db8:2::1',
  ]);
  await batch('guest', [
    ...['lo', 'home'].map((device) => `link set ${device} up`),
    ...[guest, other].flatMap((each) => [
      `address add ${each[4]}/24 dev home`,
      `address add ${each[6]}/64 dev home nodad`,
    ]),
    'route add default via 203.0.113.1',
    'route add default via 2001:db8:7::1',
  ]);
}

/** A program at one of the ends. */
function begin(inside: (argv: readonly string[]) => string[]) {
  const program = new URL('end.testbed.ts', import.meta.url).pathname;
  const [command = '', ...args] = asRoot(inside([process.execPath, program]));
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const closed = once(child, 'close').then(() => {
    for (const answer of waiting.values()) answer({ error: 'the end has ended' });
  });
  const waiting = new Map<number, (answer: { value?: unknown; error?: string }) => void>();
  createInterface(child.stdout).on('line', (line) => {
    const { id, ...answer } = JSON.parse(line) as { id: number; value?: unknown; error?: string };
    waiting.get(id)?.(answer);
    waiting.delete(id);
  });
  let asked = 0;
  return {
    async tell(order: Order): Promise<unknown> {
      asked += 1;
      const id = asked;
      const answered = new Promise<{ value?: unknown; error?: string }>((resolve) =>
        waiting.set(id, resolve),
      );
      child.stdin.write(`${JSON.stringify({ id, order })}\n`);
      const { value, error } = await answered;
      if (error !== undefined) throw new Error(error);
      return value;
    },
    close: async () => {
      child.stdin.end();
      await closed;
    },
  };
}
