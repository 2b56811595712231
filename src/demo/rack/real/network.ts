import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ConfigError } from '../../../config.ts';
import { writeDurably } from '../../../platform/host/durable.ts';
import { ProgramError, runAsRoot, runProgram } from '../../../platform/host/program.ts';
import { bridge, chooseThird, inTheWay, type Plan, placesIn, planOf, serverOf, type Taken } from './plan.ts';

/**
 * The plan of the rack in a folder, which it keeps: its BMCs are known by their addresses. Fails in words where something else on this host has
 * come to use its networks since.
 */
export async function ensurePlan(dir: string): Promise<Plan> {
  const file = join(dir, 'network.json');
  const taken = await takenHere();
  if (!existsSync(file)) await writeDurably(file, JSON.stringify({ third: chooseThird(dir, taken) }));
  const plan = readPlan(dir);
  const other = inTheWay(plan, taken);
  if (other === null) return plan;
  throw new ConfigError(
    `DEMO_RACK: the rack’s networks are ${plan.subnet}x, and the interface ${other} of this host leads there as well. Take that away, or stop the other installation whose it is.`,
  );
}

/** The networks of this host: those it has addresses in, and those it knows a way to. */
async function takenHere(): Promise<Taken[]> {
  const said = async <T>(...argv: string[]) =>
    JSON.parse((await runProgram(['ip', '-j', '-4', ...argv])).stdout || '[]') as T[];
  const links = await said<{ ifname: string; addr_info?: { local: string }[] }>('address', 'show');
  const routes = await said<{ dst: string; dev?: string }>('route', 'show');
  return [
    ...links.flatMap(({ ifname: by, addr_info: own = [] }) =>
      own.map(({ local: address }) => ({ address, by })),
    ),
    ...routes.map(({ dst: address, dev: by = 'of a route' }) => ({ address, by })),
  ];
}

export function readPlan(dir: string): Plan {
  const { third } = JSON.parse(readFileSync(join(dir, 'network.json'), 'utf8')) as { third: number };
  return planOf(dir, third);
}

/**
 * A namespace with a bridge that is the switch, whose ports reach us and not each other; a cable into it, and another one to BMCs and
 * switch. Servers hear nothing of that second one. May be repeated.
 */
export async function ensureNetwork(plan: Plan, servers: number): Promise<void> {
  const { namespace, cable, management } = plan;
  const places = placesIn(plan);
  await ensureNamespace(plan);
  const inside = (...argv: string[]) => ensure(['ip', '-n', namespace, ...argv]);
  for (const [link, peer] of [
    [cable, 'uplink'],
    [management, 'mgmt'],
  ] as const)
    await ensure(['ip', 'link', 'add', link, 'type', 'veth', 'peer', 'name', peer, 'netns', namespace]);
  await ensure(['ip', 'address', 'add', places.own, 'dev', cable]);
  await ensure(['ip', 'address', 'add', places.gateway, 'dev', cable]);
  await ensure(['ip', 'address', 'add', places.managing, 'dev', management]);
  for (const link of [cable, management]) await runAsRoot(['ip', 'link', 'set', link, 'up']);
  await inside('link', 'add', bridge, 'type', 'bridge');
  await inside('link', 'set', 'uplink', 'master', bridge);
  for (const link of ['lo', 'mgmt', 'uplink', bridge]) await inside('link', 'set', link, 'up');
  await inside('address', 'add', `${places.switch}/26`, 'dev', 'mgmt');
  for (let nth = 1; nth <= servers; nth += 1) {
    const { port, bmc } = serverOf(nth, plan);
    await inside('tuntap', 'add', 'dev', port, 'mode', 'tap');
    await inside('link', 'set', port, 'master', bridge);
    await runAsRoot(['bridge', '-n', namespace, 'link', 'set', 'dev', port, 'isolated', 'on']);
    await inside('link', 'set', port, 'up');
    await inside('address', 'add', `${bmc.address}/26`, 'dev', 'mgmt');
  }
}

/** A name may be left of one that is not there any more, as in a container that was started anew. */
async function ensureNamespace(plan: Plan): Promise<void> {
  const add = ['ip', 'netns', 'add', plan.namespace];
  await ensure(add);
  const isThere = await runAsRoot(['ip', '-n', plan.namespace, 'link', 'show', 'lo']).then(
    () => true,
    () => false,
  );
  if (isThere) return;
  await removeNetwork(plan);
  await runAsRoot(add);
}

/** Adds what may be there already. */
async function ensure(argv: string[]): Promise<void> {
  await runAsRoot(argv).catch((error: unknown) => {
    if (error instanceof ProgramError && /exists|already|busy/i.test(error.stderr)) return;
    throw error;
  });
}

/** Of the namespace that we are in: BMCs and switch answer this host alone, and nobody for whom it forwards packets, as its servers. */
export async function guardManagement(plan: Plan): Promise<void> {
  const [own] = placesIn(plan).managing.split('/');
  const input = `table ip rack
delete table ip rack
table ip rack {
  chain input {
    type filter hook input priority filter; policy accept;
    iifname "mgmt" ip saddr != ${own} drop
  }
}
`;
  await runProgram(['nft', '-f', '-'], { input });
}

/** Ends all that still runs in it, and takes it away with its cables. */
export async function removeNetwork({ namespace, cable, management }: Plan): Promise<void> {
  for (let tries = 0; tries < 50; tries += 1) {
    const pids = await processesIn(namespace);
    if (pids.length === 0) break;
    await runAsRoot(['kill', '-KILL', ...pids.map(String)]).catch(() => undefined);
    await delay(100);
  }
  // Named one by one: with their namespace cables go a moment later, when whoever starts anew may have found them there.
  for (const link of [cable, management])
    await runAsRoot(['ip', 'link', 'delete', link]).catch(() => undefined); // it may never have come to be
  await runAsRoot(['ip', 'netns', 'delete', namespace]).catch(() => undefined);
}

/** What runs in a namespace, by number. */
export async function processesIn(namespace: string): Promise<number[]> {
  const { stdout } = await runAsRoot(['ip', 'netns', 'pids', namespace]).catch(() => ({ stdout: '' }));
  return stdout.split('\n').filter(Boolean).map(Number);
}
