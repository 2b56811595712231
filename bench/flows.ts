import type { Packet } from '../src/drivers/edge/index.ts';
import { chance } from '../src/drivers/edge/suite/random.testbed.ts';
import { transaction } from '../src/platform/index.ts';
import { keepFlows, packMinute } from '../src/shield/flows/keep.ts';
import { addSamples, type MinuteFlows, mostFlows } from '../src/shield/flows/minute.ts';
import { look } from '../src/shield/watch/samples.ts';
import type { House } from './house.ts';
import { nowMs, spreadOf } from './measure.ts';
import { type Access, fillServices, type Person, settle } from './people.ts';
import type { Figure } from './table.ts';

export interface FlowsOptions {
  rounds: number;
  /** In a minute, of all addresses of a node. */
  flows: number;
}

/** What is kept of who sent what: what a flow takes on disk, a minute of very many written, and rules tried out on an hour. */
export async function measureFlows(house: House, access: Access, options: FlowsOptions): Promise<Figure[]> {
  return [
    await size(access, options),
    await writing(access, options),
    await simulating(house, access, options),
  ];
}

/** By bytes of the table, its index and what is kept beside it. */
async function size(access: Access, { flows }: FlowsOptions): Promise<Figure> {
  const told: string[] = [];
  const values: number[] = [];
  for (const each of [1_000, 100, 10]) {
    await access.sql('truncate shield_flows');
    const minute = minuteOf(flows, each);
    await keep(access, minute);
    const { rows } = await access.sql(
      `select sum(pg_total_relation_size(inhrelid))::int as bytes from pg_inherits where inhparent = 'shield_flows'::regclass`,
    );
    const empty = 8 * 8_192 * 2;
    const bytes = (Number(rows[0]?.bytes) - empty) / countOf(minute);
    values.push(bytes);
    told.push(`${bytes.toFixed(1)} B with ${each} flows an address`);
  }
  await access.sql('truncate shield_flows');
  return {
    name: 'A flow on disk',
    against: 'none',
    value: spreadOf(values),
    unit: 'B',
    target: { atMost: 30 },
    amounts: told.join(', '),
    limit: 'addresses and ports of a flood are chance, which nothing packs',
  };
}

async function writing(access: Access, { flows, rounds }: FlowsOptions): Promise<Figure> {
  const seconds: number[] = [];
  const minutes = Array.from({ length: rounds }, () => minuteOf(flows, 100));
  for (const [nth, minute] of minutes.entries()) {
    const began = nowMs();
    await keep(access, minute, nth);
    seconds.push((nowMs() - began) / 1_000);
  }
  await access.sql('truncate shield_flows');
  return {
    name: `A minute of ${flows.toLocaleString('en')} flows written`,
    against: 'none',
    value: spreadOf(seconds),
    unit: 's',
    target: { atMost: 1 },
    amounts: `${(flows / 100).toLocaleString('en')} addresses`,
    limit: 'packing, on one core',
  };
}

const rulesOfEach = 100;
const minutesOfHour = 60;

/** A whole hour of an address that has as many flows in each minute as are kept, against as many rules as it has already. */
async function simulating(house: House, access: Access, { rounds }: FlowsOptions): Promise<Figure> {
  const [person] = await settle(access, 1);
  if (person === undefined) throw new Error('nobody is there to try rules out');
  const address = await addressFor(house, access, person);
  for (let nth = 1; nth < minutesOfHour; nth += 1)
    await keep(
      access,
      minuteOf(mostFlows, mostFlows, () => address, person.organizationId),
      nth,
    );
  await access.sql('analyze shield_flows');
  const ask = async (path: string, offset: number) => {
    const began = nowMs();
    const answer = await fetch(`${house.url}/api/shield/v2/rules/${path}`, {
      method: 'POST',
      headers: { token: person.token, 'content-type': 'application/json' },
      body: JSON.stringify({ rules: rulesFor(address, offset), force: true }),
    });
    const { data, message } = (await answer.json()) as {
      data: { total: { samples: number } };
      message: string;
    };
    if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}: ${message}`);
    return { ms: nowMs() - began, samples: data.total?.samples };
  };
  await ask('apply', 0);
  const took: number[] = [];
  let samples = 0;
  for (let round = 0; round < rounds + 2; round += 1) {
    const answer = await ask('simulate', 7);
    samples = answer.samples;
    if (round >= 2) took.push(answer.ms); // what is loaded once is loaded
  }
  return {
    name: `An hour of one busy address against ${rulesOfEach} rules`,
    against: 'none',
    value: spreadOf(took),
    unit: 'ms',
    target: { atMost: 200 },
    amounts: `${samples.toLocaleString('en')} flows, held against ${rulesOfEach} other rules as well`,
    limit: 'judging each flow twice, rule by rule',
  };
}

/** Of sources and ports, so that most flows meet all of them. */
function rulesFor(destination: string, offset: number) {
  return Array.from({ length: rulesOfEach }, (_, nth) => {
    const port = 20_000 + offset + nth * 3;
    return {
      ...{ destination, action: 'deny', protocol: nth % 2 === 0 ? 17 : 6, order: nth },
      source: `198.${(nth + offset) % 256}.0.0/16`,
      destination_port: { match_type: 'range', range: { start: port, end: port + 1 } },
    };
  });
}

/** A service with an address of its own. */
async function addressFor(house: House, access: Access, { organizationId, userId }: Person): Promise<string> {
  const firstServiceId = 900_000_000_000;
  const product = house.demo.products.vps;
  await fillServices(access, { id: organizationId, userId }, { count: 1, firstServiceId, product });
  const { rows } = await access.sql(
    `insert into addresses (address, pool_id, state, organization_id, service_id, ordinal)
     select host(network + 200)::inet, id, 'taken', $1, $2, 0 from address_pools where family(network) = 4
     order by id limit 1
     on conflict (address) do update set state = 'taken', organization_id = $1, service_id = $2
     returning host(address) as address`,
    [organizationId, firstServiceId + 1],
  );
  return String(rows[0]?.address);
}

const keep = async (access: Access, minute: MinuteFlows, nth = 0) => {
  const packed = await packMinute(minute);
  const time = new Date(Math.floor(Date.now() / 60_000 - nth) * 60_000);
  return transaction(access.ctx, 'bench.keepFlows', (tx) => keepFlows(tx, time, packed));
};

const countOf = (minute: MinuteFlows) => [...minute.values()].reduce((sum, { flows }) => sum + flows.size, 0);

/** A third of them each is a flood of false senders, a game with its players, and visitors of a page. */
export function minuteOf(
  flows: number,
  each: number,
  address: (nth: number) => string = addressOf,
  organizationId = 1,
): MinuteFlows {
  const random = chance(5);
  const whole = (most: number) => Math.floor(random() * most);
  const minute: MinuteFlows = new Map();
  for (let nth = 0; nth < flows / each; nth += 1) {
    const destination = address(nth);
    const watched = new Map([[destination, { organization_id: organizationId }]]);
    const samples = Array.from({ length: each }, (_, at) => {
      return look({ packet: packetOf(destination, at % 3, whole), standsFor: 16 });
    });
    addSamples(minute, samples, watched);
  }
  return minute;
}

const addressOf = (nth: number) =>
  `10.${Math.floor(nth / 65_536)}.${Math.floor(nth / 256) % 256}.${nth % 256}`;

function packetOf(destination: string, kind: number, whole: (most: number) => number): Packet {
  const any = () => `${1 + whole(220)}.${whole(256)}.${whole(256)}.${whole(256)}`;
  const player = `203.0.${whole(4)}.${whole(50)}`;
  const none = { destination, dscp: 0, ecn: 0, fragment: false };
  if (kind === 0)
    return {
      ...none,
      ...{ source: any(), protocol: 17, ports: { source: whole(65_536), destination: whole(65_536) } },
      ...{ flags: null, ttl: 40 + whole(80), length: 60 + whole(1_400) },
    };
  if (kind === 1)
    return {
      ...none,
      ...{ source: player, protocol: 17, ports: { source: 50_000 + whole(200), destination: 27_015 } },
      ...{ flags: null, ttl: 110 + whole(10), length: 80 + whole(120) },
    };
  return {
    ...none,
    ...{ source: any(), protocol: 6, ports: { source: 1_024 + whole(64_000), destination: 443 } },
    ...{ flags: ['ack'], ttl: 40 + whole(80), length: whole(4) === 0 ? 1_500 : 52 },
  };
}
