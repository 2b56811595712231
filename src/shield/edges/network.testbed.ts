import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { asRoot, runAsRoot } from '../../platform/host/program.ts';

/** Four hosts in a row, each a network namespace of its own: somebody outside, a router, a node behind it, and a guest of the node. */
export interface RoutedNetwork {
  /** Argument vectors that run `argv` at the router, and at the node. */
  atRouter(argv: readonly string[]): string[];
  atNode(argv: readonly string[]): string[];
  /** Gives the guest these addresses. */
  lead(...addresses: string[]): Promise<void>;
  /** Sends datagrams from outside; resolves when the last went out. */
  send(address: string, port: number, count: number, perSecond?: number): Promise<void>;
  /** How many datagrams came to the guest at a port so far. */
  arrived(port: number): number;
  close(): Promise<void>;
}

const hosts = ['out', 'router', 'node', 'guest'] as const;
const ports = [9, 10];

/** A socket for both families; what is sent and what comes, a line each. */
const sender = `
use Socket qw(:all); use Time::HiRes qw(time sleep); $| = 1;
socket(my $socket, AF_INET6, SOCK_DGRAM, 0) or die $!; print "ready\\n";
while (<STDIN>) {
  my ($address, $port, $count, $pace) = split;
  my $to = pack_sockaddr_in6($port, inet_pton(AF_INET6, $address =~ /:/ ? $address : "::ffff:$address"));
  my $next = time;
  for (1 .. $count) {
    $next += 1 / $pace; my $wait = $next - time; sleep($wait) if $wait > 0;
    send($socket, 'x' x 32, 0, $to) or die "not sent: $!";
  }
  print "sent\\n";
}`;
const receiver = `
use Socket qw(:all); use IO::Select; $| = 1; my (%port, $select); $select = IO::Select->new(\\*STDIN);
for my $port (@ARGV) {
  socket(my $socket, AF_INET6, SOCK_DGRAM, 0) or die $!;
  setsockopt($socket, SOL_SOCKET, SO_RCVBUF, 4194304);
  bind($socket, pack_sockaddr_in6($port, inet_pton(AF_INET6, '::'))) or die $!;
  $port{fileno($socket)} = $port; $select->add($socket);
}
print "ready\\n";
while (1) { for ($select->can_read) { exit 0 if fileno($_) == 0; recv($_, my $data, 100, 0); print $port{fileno($_)}, "\\n" } }`;

let opened = 0;

/** Takes root, and `iproute2`. */
export async function routedNetwork(): Promise<RoutedNetwork> {
  opened += 1;
  const name = (host: string) => `innkeeper-routed-${process.pid}-${opened}-${host}`;
  const at = (host: string) => (argv: readonly string[]) => ['ip', 'netns', 'exec', name(host), ...argv];
  const running: ChildProcessWithoutNullStreams[] = [];
  const close = async () => {
    for (const each of running) {
      const ended = new Promise((resolve) => each.once('close', resolve));
      each.stdin.end();
      await ended;
    }
    for (const host of hosts) await runAsRoot(['ip', 'netns', 'delete', name(host)]).catch(() => undefined);
  };
  const start = async (host: string, program: string, args: string[], heard: (line: string) => void) => {
    const [command = '', ...argv] = asRoot(at(host)(['perl', '-e', program, ...args]));
    const child = spawn(command, argv, { stdio: ['pipe', 'pipe', 'inherit'] });
    running.push(child as unknown as ChildProcessWithoutNullStreams);
    const lines = createInterface(child.stdout);
    await new Promise<void>((resolve, reject) => {
      lines.once('line', () => resolve());
      child.once('close', () => reject(new Error(`the program at ${host} ended`)));
    });
    lines.on('line', heard);
    return child;
  };
  try {
    for (const host of hosts) await runAsRoot(['ip', 'netns', 'add', name(host)]);
    for (const [nth, host] of hosts.entries()) await wire(name, host, hosts[nth + 1], nth, at(host));
    await direct(name);
    const counts = new Map<number, number>();
    await start('guest', receiver, ports.map(String), (line) =>
      counts.set(Number(line), (counts.get(Number(line)) ?? 0) + 1),
    );
    // A sender for each port, so that both can be under way.
    const senders = new Map<number, { write(line: string): Promise<void> }>();
    for (const port of ports) {
      let tell = () => {};
      const child = await start('out', sender, [], () => tell());
      senders.set(port, {
        write: (line) =>
          new Promise((resolve) => {
            tell = resolve;
            child.stdin.write(`${line}\n`);
          }),
      });
    }
    return {
      atRouter: at('router'),
      atNode: at('node'),
      async lead(...addresses) {
        for (const address of addresses) {
          const [length, via] = address.includes(':') ? [128, via6] : [32, via4];
          await runAsRoot(['ip', '-n', name('guest'), 'address', 'add', `${address}/${length}`, 'dev', 'lo']);
          for (const [nth, host] of ['out', 'router', 'node'].entries())
            await runAsRoot([
              'ip',
              '-n',
              name(host),
              'route',
              'add',
              `${address}/${length}`,
              'via',
              via(nth),
            ]);
        }
      },
      send: async (address, port, count, perSecond = 1_000) =>
        senders.get(port)?.write(`${address} ${port} ${count} ${perSecond}`),
      arrived: (port) => counts.get(port) ?? 0,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The next host on the way, of the link after the nth. */
const via4 = (nth: number) => `198.18.${nth}.2`;
const via6 = (nth: number) => `2001:db8:a:${nth}::2`;

async function wire(
  name: (host: string) => string,
  host: string,
  next: string | undefined,
  nth: number,
  at: (argv: readonly string[]) => string[],
): Promise<void> {
  const settings = [
    'net.ipv4.ip_forward=1',
    'net.ipv6.conf.all.forwarding=1',
    'net.ipv4.conf.all.rp_filter=0',
  ];
  await runAsRoot(at(['sysctl', '-qw', ...settings, 'net.ipv4.conf.default.rp_filter=0']));
  await runAsRoot(['ip', '-n', name(host), 'link', 'set', 'lo', 'up']);
  if (next === undefined) return;
  const link = ['link', 'add', 'next', 'type', 'veth', 'peer', 'name', 'before', 'netns', name(next)];
  await runAsRoot(['ip', '-n', name(host), ...link]);
  for (const [where, device, last] of [
    [host, 'next', 1],
    [next, 'before', 2],
  ] as const) {
    const of = ['ip', '-n', name(where)];
    await runAsRoot([...of, 'address', 'add', `198.18.${nth}.${last}/24`, 'dev', device]);
    await runAsRoot([...of, 'address', 'add', `2001:db8:a:${nth}::${last}/64`, 'dev', device, 'nodad']);
    await runAsRoot([...of, 'link', 'set', device, 'up']);
  }
}

/** What goes back. */
async function direct(name: (host: string) => string): Promise<void> {
  for (const [nth, host] of ['router', 'node', 'guest'].entries()) {
    await runAsRoot(['ip', '-n', name(host), 'route', 'add', 'default', 'via', `198.18.${nth}.1`]);
    await runAsRoot(['ip', '-n', name(host), 'route', 'add', 'default', 'via', `2001:db8:a:${nth}::1`]);
  }
}
