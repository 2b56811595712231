import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { asRoot, runAsRoot, runProgram, startProgram } from '../../../platform/host/program.ts';

const wantedPrograms = ['gobgpd', 'bird', 'ip'];
const folders = ['/usr/sbin', '/usr/bin', '/sbin', '/bin'];
const missing = wantedPrograms.filter((name) => !folders.some((folder) => existsSync(`${folder}/${name}`)));

/** Why this host cannot run a gobgpd and a BIRD, or null. */
export const withoutRouters =
  missing.length > 0 ? `not installed: ${missing.join(', ')} (Debian: gobgpd, bird2, iproute2)` : null;

/** What BIRD holds of us. */
export interface RouterTable {
  /** As BIRD writes it, `flow4 { … }`, with whether it discards. */
  flows: { text: string; discards: boolean; at: number }[];
  blackholes: string[];
}

/** A gobgpd in one network and a BIRD in another, with a line between them. */
export interface Routers {
  /** Of gobgpd's interface. */
  address: string;
  gobgpd: Daemon;
  bird: Daemon;
  /** Of a second gobgpd, which only listens: it shows what it heard byte by byte. Null when none was asked for. */
  listener: string | null;
  table(): Promise<RouterTable>;
  /** Has BIRD take so many flows of IPv4 at most (null: any number), and what it does when there are more. */
  limitFlows(most: number | null, action?: 'restart' | 'disable' | 'block'): Promise<void>;
  /** How many updates BIRD was sent, withdrawals included. */
  updates(): Promise<number>;
  close(): Promise<void>;
}

export interface Daemon {
  start(): Promise<void>;
  /** Without a chance to say goodbye. */
  kill(): Promise<void>;
}

let opened = 0;

/** Takes root. */
export async function openRouters({ listens = false } = {}): Promise<Routers> {
  opened += 1;
  const folder = await mkdtemp('/tmp/innkeeper-bgp-');
  const [edge, router] = ['edge', 'router'].map(
    (name) => `innkeeper-bgp-${process.pid}-${opened}-${name}`,
  ) as [string, string];
  const at = (file: string) => path.join(folder, file);
  await writeFile(
    at('gobgpd.toml'),
    gobgpdConfig + (listens ? neighborConfig('10.99.0.3', 65_002, true) : ''),
  );
  await writeFile(at('listener.toml'), listenerConfig);
  await writeFile(at('bird.conf'), birdConfigWith(''));
  for (const name of [edge, router]) await runAsRoot(['ip', 'netns', 'add', name]);
  await runAsRoot(['ip', '-batch', '-'], {
    input: `link add line netns ${edge} type veth peer name line netns ${router}\n`,
  });
  await runAsRoot(['ip', '-n', router, 'address', 'add', '10.99.0.3/24', 'dev', 'line']);
  for (const [name, address] of [
    [edge, 1],
    [router, 2],
  ] as const) {
    await runAsRoot(['ip', '-n', name, '-batch', '-'], {
      input: `link set lo up\nlink set line up\naddress add 10.99.0.${address}/24 dev line\naddress add 2001:db8:99::${address}/64 dev line nodad\n`,
    });
  }
  const daemon = (
    name: string,
    label: string,
    argv: string[],
    isReady: () => Promise<boolean>,
  ): Daemon & { end(): Promise<void> } => {
    let running: ReturnType<typeof startProgram> | null = null;
    // The shell writes its number, and becomes the program: also behind sudo it is known what to kill.
    const script = 'umask 0; rm -f "$0.sock"; echo $$ > "$0.pid"; exec "$@"';
    const kill = async () => {
      if (running === null) return;
      const { ended } = running;
      const pid = (await readFile(at(`${label}.pid`), 'utf8')).trim();
      // One that ended by itself has said why when it was started.
      await runAsRoot(['kill', '-KILL', pid]).catch(() => undefined);
      await ended.catch(() => undefined);
      running = null;
    };
    return {
      async start() {
        const started = startProgram(
          asRoot(['ip', 'netns', 'exec', name, 'sh', '-c', script, at(label), ...argv]),
          { timeoutMs: 600_000 },
        );
        started.stdout.resume();
        running = started;
        let failure: Error | null = null;
        started.ended.catch((error: Error) => {
          failure = error;
        });
        while (!(await isReady())) {
          if (failure !== null) throw failure;
          await sleep(20);
        }
      },
      kill,
      end: kill,
    };
  };
  const succeeds = (argv: string[]) =>
    runProgram(argv).then(
      () => true,
      () => false,
    );
  const birdc = (command: string) => askBird(at('bird.ctl'), command);
  const speaks = (name: string, label: string) => {
    const api = `unix://${at(`${label}.sock`)}`;
    const argv = ['gobgpd', '-f', at(`${label}.toml`), '--api-hosts', api, '--pprof-disable', '-l', 'error'];
    return daemon(name, label, argv, () => succeeds(['gobgp', '--target', api, 'neighbor']));
  };
  const gobgpd = speaks(edge, 'gobgpd');
  const listener = speaks(router, 'listener');
  const bird = daemon(router, 'bird', ['bird', '-f', '-c', at('bird.conf'), '-s', at('bird.ctl')], () =>
    runAsRoot(['chmod', '666', at('bird.ctl')])
      .then(() => birdc('show status'))
      .then(
        () => true,
        () => false,
      ),
  );
  const close = async () => {
    for (const each of [gobgpd, bird, listener]) await each.end();
    for (const name of [edge, router]) await runAsRoot(['ip', 'netns', 'delete', name]);
    await runAsRoot(['rm', '-rf', folder]);
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await bird.start();
    await gobgpd.start();
    if (listens) await listener.start();
  } catch (error) {
    await close();
    throw error;
  }
  return {
    address: `unix:${at('gobgpd.sock')}`,
    listener: listens ? `unix:${at('listener.sock')}` : null,
    gobgpd,
    bird,
    async table() {
      const flows = await Promise.all(['f4', 'f6'].map((name) => birdc(`show route all table ${name}`)));
      const unicast = await Promise.all(['b4', 'b6'].map((name) => birdc(`show route all table ${name}`)));
      return {
        flows: flows.flatMap(routesOf).map(({ head, rest, at: since }) => ({
          ...{ text: head, at: since, discards: rest.includes('0x80060000, 0x0') },
        })),
        blackholes: unicast
          .flatMap(routesOf)
          .filter(({ rest }) => rest.includes('(65535,666)'))
          .map(({ head }) => head),
      };
    },
    async limitFlows(most, action = 'restart') {
      await writeFile(
        at('bird.conf'),
        birdConfigWith(most === null ? '' : `import limit ${most} action ${action}; `),
      );
      await birdc('configure');
      await birdc('enable edge');
    },
    async updates() {
      const text = await birdc('show protocols all edge');
      const lines = [...text.matchAll(/Import (?:updates|withdraws):\s+(\d+)/g)];
      return lines.reduce((sum, [, count]) => sum + Number(count), 0);
    },
    close,
  };
}

/** As its own terminal does: each line has a number, and the last of an answer a space behind it. */
function askBird(socket: string, command: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const bird = connect(socket, () => bird.write(`${command}\n`));
    bird.setEncoding('utf8');
    bird.on('error', reject);
    bird.on('close', () => reject(new Error('BIRD is away')));
    bird.on('data', (part) => {
      text += part;
      const lines = text.split('\n').filter((line) => !line.startsWith('0001 '));
      if (!lines.some((line) => /^[089]\d{3} /.test(line))) return;
      resolve(lines.map((line) => line.replace(/^(\d{4}[ -]| )/, '')).join('\n'));
      bird.destroy();
    });
  });
}

/** A route begins a line, with what it is, in brackets where it is from and since when. */
function routesOf(text: string): { head: string; at: number; rest: string }[] {
  const blocks = text.split(/\n(?=\S)/).filter((block) => /\[edge /.test(block));
  return blocks.map((block) => {
    const [, head = '', since = ''] =
      block.match(/^(.*?)\s+(?:blackhole |unicast |unreachable )?\[edge ([\d: .-]+)/) ?? [];
    return { head, at: new Date(`${since.trim().replace(' ', 'T')}`).getTime(), rest: block };
  });
}

const families = ['ipv4-unicast', 'ipv6-unicast', 'ipv4-flowspec', 'ipv6-flowspec'];
const neighborConfig = (address: string, asn: number, isAwaited: boolean) => `
[[neighbors]]
  [neighbors.config]
    neighbor-address = "${address}"
    peer-as = ${asn}
  [neighbors.transport.config]
    passive-mode = ${isAwaited}
  [neighbors.timers.config]
    connect-retry = 1
    idle-hold-time-after-reset = 1
${families
  .map(
    (name) =>
      `  [[neighbors.afi-safis]]\n    [neighbors.afi-safis.config]\n      afi-safi-name = "${name}"\n`,
  )
  .join('')}`;
const gobgpdConfig = `
[global.config]
  as = 64512
  router-id = "10.99.0.1"
${neighborConfig('10.99.0.2', 65_001, false)}`;
const listenerConfig = `
[global.config]
  as = 65002
  router-id = "10.99.0.3"
  port = -1
${neighborConfig('10.99.0.1', 64_512, false).replace('passive-mode = false', 'local-address = "10.99.0.3"')}`;

const birdConfigWith = (limit: string) => `
router id 10.99.0.2;
timeformat route iso long ms;
ipv4 table b4; ipv6 table b6; flow4 table f4; flow6 table f6;
protocol device {}
protocol bgp edge {
  local 10.99.0.2 as 65001; neighbor 10.99.0.1 as 64512;
  connect delay time 1; connect retry time 1; error wait time 1, 2;
  ipv4 { table b4; import filter { if (65535,666) ~ bgp_community then { dest = RTD_BLACKHOLE; accept; } reject; }; export none; };
  ipv6 { table b6; import filter { if (65535,666) ~ bgp_community then { dest = RTD_BLACKHOLE; accept; } reject; }; export none; };
  flow4 { table f4; import all; ${limit}export none; };
  flow6 { table f6; import all; export none; };
}
`;
