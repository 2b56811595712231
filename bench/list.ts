import { Agent, get } from 'node:http';
import { type Cpu, costSince, costText, cpuOf } from './cpu.ts';
import type { House } from './house.ts';
import { nowMs, type Spread, spreadOf } from './measure.ts';
import { type Access, fillServices, firstId, type Person } from './people.ts';
import type { Figure } from './table.ts';

export interface ListOptions {
  /** Services in the large organization; the small one has 1,000. */
  rows: number;
  rounds: number;
  /** Requests of each kind a round. */
  requests: number;
}

const small = 1_000;
const limit = 25;
/** A key may ask 1,200 times a minute. */
const requestsPerKey = 1_000;

/** Pages of a list in a huge organization against those in a small one, one request at a time. */
export async function measureList(
  { house, access, people }: { house: House; access: Access; people: readonly Person[] },
  options: ListOptions,
): Promise<Figure[]> {
  // The last ones have nothing yet.
  const [few, many] = people.slice(-2);
  if (!few || !many) throw new Error('nobody to list for');
  const product = house.demo.products.hosting;
  const fill = (person: Person, count: number, firstServiceId: number) =>
    fillServices(
      access,
      { id: person.organizationId, userId: person.userId },
      { count, firstServiceId, product },
    );
  await fill(few, small, firstId * 2);
  await fill(many, options.rows, firstId * 3);
  await access.sql('vacuum analyze services');

  const ask = asking(
    house.url,
    people.slice(0, 400),
    (_, query) => `/api/dashboard/services?limit=${limit}&${query}`,
  );
  await access.sql(
    `insert into memberships (organization_id, user_id, role, joined_at)
     select o, u, 'viewer', now() from unnest($1::bigint[]) o, unnest($2::bigint[]) u`,
    [[few.organizationId, many.organizationId], people.slice(0, 400).map((person) => person.userId)],
  );
  const last = (rows: number) => `page=${Math.ceil(rows / limit)}`;
  const cursor = Buffer.from(JSON.stringify([limit + 1])).toString('base64url');
  const kinds: [name: string, few: string, many: string][] = [
    ['first page', 'page=1', 'page=1'],
    ['deepest page', last(small), last(options.rows)],
    ['deepest page by cursor', `cursor=${cursor}`, `cursor=${cursor}`],
    ['search that finds all', 'search=example', 'search=example'],
    ['search that finds a few', eleven(small), eleven(options.rows)],
    ['search that finds none', 'search=nothing', 'search=nothing'],
  ];
  const figures: Figure[] = [];
  for (const [name, atFew, atMany] of kinds) {
    const askFew = () => ask(few.organizationId, atFew);
    const askMany = () => ask(many.organizationId, atMany);
    const taken = await turns(house, options, askFew, askMany);
    figures.push(
      listFigure(
        `List of services, ${name}`,
        `${options.rows.toLocaleString('en')} services in the organization against ${small.toLocaleString('en')}`,
        taken,
      ),
    );
  }
  return figures;
}

/** Finds eleven of so many names that end in their number: `web77` and `web770` to `web779` of a thousand. */
function eleven(rows: number): string {
  return `search=web${'7'.repeat(String(rows).length - 2)}`;
}

export interface Taken {
  ratio: Spread;
  fewMs: number;
  manyMs: number;
  cost: { few: Cpu[]; many: Cpu[] };
}

/** Median times of both in each round, by turns, and by turns the first: neither always comes after the other. */
export async function turns(
  house: House | { few: House; many: House },
  options: ListOptions,
  few: () => Promise<number>,
  many: () => Promise<number>,
): Promise<Taken> {
  for (let warm = 0; warm < 100; warm += 1) await Promise.all([few(), many()]);
  const cost: Taken['cost'] = { few: [], many: [] };
  const medians: { few: number; many: number }[] = [];
  for (let round = 0; round < options.rounds; round += 1) {
    const fewMs: number[] = [];
    const manyMs: number[] = [];
    for (let turn = 0; turn < options.requests; turn += 1) {
      if (turn % 2 === 0) fewMs.push(await few());
      manyMs.push(await many());
      if (turn % 2 === 1) fewMs.push(await few());
    }
    medians.push({ few: spreadOf(fewMs).median, many: spreadOf(manyMs).median });
    const at = 'few' in house ? house : { few: house, many: house };
    cost.few.push(await costOf(at.few, options.requests, few));
    cost.many.push(await costOf(at.many, options.requests, many));
  }
  return {
    ratio: spreadOf(medians.map((round) => round.many / round.few)),
    fewMs: spreadOf(medians.map((round) => round.few)).median,
    manyMs: spreadOf(medians.map((round) => round.many)).median,
    cost,
  };
}

/** CPU time of a request: of requests in a row, since the system counts hundredths of a second. */
async function costOf(house: House, requests: number, ask: () => Promise<number>): Promise<Cpu> {
  const before = cpuOf(house);
  for (let turn = 0; turn < requests; turn += 1) await ask();
  return costSince(before, cpuOf(house), requests);
}

export function listFigure(name: string, against: string, { ratio, fewMs, manyMs, cost }: Taken): Figure {
  return {
    name,
    against,
    value: ratio,
    unit: 'ratio',
    target: { atMost: 1.3 },
    amounts:
      `${manyMs.toFixed(2)} ms against ${fewMs.toFixed(2)} ms; ` +
      `CPU time a request: ${costText(cost.many)} against ${costText(cost.few)}`,
    limit: 'one level more of the index',
  };
}

/** Milliseconds from the request to the last byte of its page, over one connection that is kept. */
export function asking(
  url: string,
  people: readonly Person[],
  pathOf: (organizationId: number, query: string) => string,
): (organizationId: number, query: string) => Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 2 });
  let count = 0;
  return (organizationId, query) => {
    const person = people[Math.floor(count / requestsPerKey) % people.length];
    count += 1;
    const headers = { token: person?.token ?? '', 'x-organization-id': String(organizationId) };
    const began = nowMs();
    return new Promise((resolve, reject) => {
      get(url + pathOf(organizationId, query), { agent, headers }, (response) => {
        let body = '';
        response.setEncoding('utf8').on('data', (text: string) => {
          body += text;
        });
        response.on('end', () => {
          const took = nowMs() - began;
          const isWhole =
            response.statusCode === 200 &&
            (query.startsWith('search') || body.includes(`"entries":${limit}`));
          if (isWhole) resolve(took);
          else reject(new Error(`the list answered ${response.statusCode}: ${body.slice(0, 300)}`));
        });
      }).on('error', reject);
    });
  };
}
