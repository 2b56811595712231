import { setTimeout as sleep } from 'node:timers/promises';
import { readConfig } from '../src/config.ts';
import { openRouters, type Routers, withoutRouters } from '../src/drivers/edge/bgp/routers.testbed.ts';
import { bgpEdge, type Edge, nftablesEdge } from '../src/drivers/edge/index.ts';
import { type EdgeNetwork, edgeNetwork } from '../src/drivers/edge/suite/network.testbed.ts';
import { startProduct } from '../src/product.ts';
import { attackPackets, nineAttacks, watchedAddresses } from '../src/shield/attacks/nine.testbed.ts';
import { apiClient, type Client } from '../test/client.ts';
import { temporaryDir, undo } from './house.ts';
import { spreadOf } from './measure.ts';
import type { Figure } from './table.ts';

export interface AttackOptions {
  /** Of the nine attacks, one after another. */
  rounds: number;
  /** Rules that routers are told of. */
  rules: number;
}

/** How soon attacks have their names, and how soon routers in front have rules. */
export async function measureAttacks({ rounds, rules }: AttackOptions): Promise<Figure[]> {
  const figures = [await naming(rounds)];
  if (withoutRouters === null) figures.push(await telling(rules));
  else console.log(`  routers are left out: ${withoutRouters}`);
  return figures;
}

const names = Object.keys(nineAttacks);
const floodPps = 2_000;
const secondsAtMost = 10;
/** Lower than at any level, and so is the flood: one process sends it on a busy machine too. */
const limit = { pps: 500, mbps: 1_000 };

/** From a first packet, on the kernel's packet filter, to the attack in the answer of the API. */
async function naming(rounds: number): Promise<Figure> {
  const network = await edgeNetwork();
  undo.push(() => network.close());
  const edge = nftablesEdge({ bridged: false, inside: network.inside });
  const { customer, addresses } = await openShielded(edge);
  const took: Record<string, number[]> = Object.fromEntries(names.map((name) => [name, []]));
  for (let round = 0; round < rounds; round += 1)
    for (const [nth, name] of names.entries()) {
      const address = addresses[nth] ?? '';
      await isCalm(customer, address);
      took[name]?.push(await timed(network, customer, { name, address }));
    }
  const [soonest, latest] = extremes(took);
  return {
    name: 'First packet to an attack with the right name',
    against: 'the clock',
    value: spreadOf(Object.values(took).flat()),
    unit: 's',
    target: { atMost: 3 },
    amounts: `nine attacks of ${floodPps.toLocaleString('en')} packets a second; ${soonest}, ${latest}`,
    limit: 'two readings in a row, of which there is one a second',
  };
}

/** A product in this process, with a customer's machine for each attack. */
async function openShielded(edge: Edge): Promise<{ customer: Client; addresses: string[] }> {
  const config = readConfig({
    ...{ PORT: '0', HOST: '127.0.0.1', DATA_DIR: await temporaryDir(), HYPERVISOR: 'simulator' },
    ...{ RATE_LIMITS: 'off', DASHBOARD: 'off', STAFF_EMAIL: 'off', LOG_LEVEL: 'error' },
  });
  const silent = { stage: () => undefined, say: () => undefined };
  const product = await startProduct(config, silent, { drivers: { edge } });
  undo.push(() => product.stop());
  const { demo, port } = product;
  if (demo === null) throw new Error('the product started without a demonstration');
  const { api_key: token, organization_id: organizationId } = demo.customer;
  const customer = apiClient(`http://127.0.0.1:${port}/api`, { token, organizationId });
  const addresses = await watchedAddresses({ demo }, customer, names.length, () => edge.list());
  const kinds = ['fragments', 'reflection', 'syn', 'ack', 'udp', 'icmp', 'other'];
  const thresholds = Object.fromEntries(kinds.map((kind) => [kind, limit]));
  for (const address of addresses) {
    const answer = await customer.patch(`/shield/v2/sensitivity/${address}`, { thresholds });
    if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  }
  // What they may do is read anew every two seconds.
  await sleep(3_000);
  return { customer, addresses };
}

interface Flooded {
  name: string;
  address: string;
}

/** Seconds. */
async function timed(network: EdgeNetwork, customer: Client, { name, address }: Flooded): Promise<number> {
  const each = attackPackets(name, address);
  const packets = Array.from({ length: floodPps }, (_, nth) => each[nth % each.length] ?? []).flat();
  const seen = noticed(customer, address);
  let began: number | null = null;
  let isSeen = false;
  void seen.finally(() => {
    isSeen = true;
  });
  while (!isSeen) {
    const { atMs } = await network.sendPaced(packets, floodPps);
    began ??= atMs[0] ?? null;
  }
  const { at, description } = await seen;
  if (description !== name) throw new Error(`${name} was called ${description}`);
  return (at - (began ?? Number.NaN)) / 1_000;
}

async function noticed(customer: Client, address: string): Promise<{ at: number; description: string }> {
  const end = Date.now() + secondsAtMost * 1_000;
  while (Date.now() < end) {
    const open = await openAttack(customer, address);
    if (open !== undefined) return { at: Date.now(), description: open.description };
    await sleep(20);
  }
  return { at: end, description: 'nothing' };
}

async function openAttack(customer: Client, address: string): Promise<{ description: string } | undefined> {
  const { body } = await customer.get(`/shield/v2/attacks?filter=${address}`);
  const all = body.data.attacks as { description: string; dest: string; ended_at: string }[];
  return all.find(({ dest, ended_at }) => dest === `${address}/32` && ended_at === '');
}

/** An attack is over after thirty quiet seconds. */
async function isCalm(customer: Client, address: string): Promise<void> {
  while ((await openAttack(customer, address)) !== undefined) await sleep(500);
}

function extremes(took: Record<string, number[]>): [string, string] {
  const medians = Object.entries(took)
    .map(([name, seconds]) => ({ name, median: spreadOf(seconds).median }))
    .toSorted((one, other) => one.median - other.median);
  const said = (at: number) => `${medians.at(at)?.name} ${medians.at(at)?.median.toFixed(1)} s`;
  return [said(0), said(-1)];
}

const routed = '203.0.113.0/24';

/** From the call that announces a rule to the moment at which BIRD says that it has had the route. */
async function telling(rules: number): Promise<Figure> {
  const routers = await openRouters();
  undo.push(() => routers.close());
  const edge = bgpEdge({ address: routers.address, prefixes: [routed] });
  undo.push(() => edge.close());
  const took: number[] = [];
  // The first one finds out what is announced already.
  for (let nth = 0; nth <= rules; nth += 1) {
    const destination = `203.0.113.${nth + 1}/32`;
    const match = { protocols: [[17, 17]], sourcePorts: [[123, 123]] } as const;
    const began = Date.now();
    await edge.replace([
      {
        ...{ destination, generation: 1, unmatched: 'permit' as const },
        rules: [{ id: 1, action: 'deny', match, limit: null }],
      },
    ]);
    const at = await arrival(routers, destination);
    if (nth > 0) took.push(at - began);
  }
  return {
    name: "FlowSpec rule to the router's table",
    against: 'the clock, and that of BIRD',
    value: spreadOf(took),
    unit: 'ms',
    target: { atMost: 100 },
    amounts: `${rules} rules, one after another`,
    limit: 'gobgpd, which sends what it is told',
  };
}

async function arrival(routers: Routers, destination: string): Promise<number> {
  const end = Date.now() + 10_000;
  while (Date.now() < end) {
    const { flows } = await routers.table();
    const flow = flows.find(({ text }) => text.includes(`dst ${destination};`));
    if (flow !== undefined) return flow.at;
    await sleep(5);
  }
  throw new Error(`no router has heard of ${destination}`);
}
