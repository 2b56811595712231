import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { type House, root, undo } from './house.ts';
import { interleave, ratiosOf, spreadOf } from './measure.ts';
import type { Person } from './people.ts';
import { asShares, profile } from './profile.ts';
import { type Figure, perSecond } from './table.ts';
import { type Request, volley } from './wrk.ts';

export interface GetOptions {
  rounds: number;
  seconds: number;
  /** Also against a bare server that looks the key up each time; it has no target. */
  lookups: boolean;
}

const connections = 32;

/** GET of one service, against the bare server with the same statements. */
export async function measureGet(
  house: House,
  people: readonly Person[],
  serviceIds: readonly number[],
  options: GetOptions,
): Promise<Figure[]> {
  const requests: Request[] = serviceIds.map((id, index) => {
    const as = people[index % people.length];
    if (!as) throw new Error('nobody to ask as');
    return { method: 'GET', path: `/api/dashboard/services/${id}`, as };
  });
  const load = volley(requests);
  const remembering = await startBare(house, { REMEMBER: 'on' });
  const preparing = await startBare(house, { REMEMBER: 'on', PREPARED: 'ours' });
  const asking = options.lookups ? await startBare(house, { REMEMBER: 'off' }) : null;
  const others = [remembering, preparing, ...(asking ? [asking] : [])];
  await checkSame(house.url, remembering.url, requests);
  const fire = async (url: string) => {
    const { perSecond: rate, failed } = await load.fire(url, options.seconds, connections);
    if (failed > 0) throw new Error(`${failed} of the GETs were refused`);
    return rate;
  };
  for (const { url } of [house, ...others]) await fire(url); // compiled and planned
  const asked: number[] = [];
  const prepared: number[] = [];
  const pairs = await interleave(
    options.rounds,
    () => fire(house.url),
    async () => {
      if (asking) asked.push(await fire(asking.url));
      prepared.push(await fire(preparing.url));
      return fire(remembering.url);
    },
  );
  const [profiled] = await Promise.all([profile(house.pid, options.seconds * 800), fire(house.url)]);
  load.remove();
  for (const bare of others) bare.stop();
  const ours = spreadOf(pairs.map((pair) => pair.ours)).median;
  const theirs = spreadOf(pairs.map((pair) => pair.theirs)).median;
  const share = (rates: number[]) => {
    const rate = spreadOf(rates).median;
    return `${(ours / rate).toFixed(2)} of ${perSecond(rate)}`;
  };
  return [
    {
      name: 'GET of one service',
      against:
        'bare `node:http`, same driver, pool and prepared statements (key remembered 1 s in both), JSON by hand',
      value: ratiosOf(pairs),
      unit: 'ratio',
      target: { atLeast: 0.7 },
      amounts: [
        `${perSecond(ours)} against ${perSecond(theirs)}`,
        `${share(prepared)} when the bare server borrows our \`prepared.ts\``,
        ...(asking ? [`${share(asked)} when it looks the key up each time`] : []),
      ].join('; '),
      limit: `time of our process: ${asShares(profiled)}`,
    },
  ];
}

interface Bare {
  url: string;
  stop(): void;
}

async function startBare(house: House, env: Record<string, string>): Promise<Bare> {
  const child: ChildProcess = fork(path.join(root, 'bench/bare.ts'), {
    env: { ...process.env, DATABASE_URL: house.databaseUrl, ...env },
  });
  undo.push(() => void child.kill());
  const [message] = (await once(child, 'message')) as [{ url: string }];
  return { url: message.url, stop: () => void child.kill() };
}

/** Both have to say the same, byte by byte; otherwise there is nothing to compare. */
async function checkSame(ours: string, theirs: string, requests: readonly Request[]): Promise<void> {
  for (const { path: where, as } of requests.slice(0, 3)) {
    const headers = { token: as.token, 'x-organization-id': String(as.organizationId) };
    const [a, b] = await Promise.all(
      [ours, theirs].map(async (url) => (await fetch(url + where, { headers })).text()),
    );
    if (a !== b) throw new Error(`the bare server says something else:\n${a}\n${b}`);
  }
}
