import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { type Cpu, costSince, costText, cpuOf } from './cpu.ts';
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
  await checkSame(house.url, preparing.url, requests);
  const cost = { ours: [] as Cpu[], theirs: [] as Cpu[] };
  const fire = async ({ url, pid }: { url: string; pid: number }, costs: Cpu[] = []) => {
    const before = cpuOf(house, pid);
    const { perSecond: rate, failed } = await load.fire(url, options.seconds, connections);
    if (failed > 0) throw new Error(`${failed} of the GETs were refused`);
    costs.push(costSince(before, cpuOf(house, pid), rate * options.seconds));
    return rate;
  };
  // Compiled, optimized and planned.
  for (let time = 0; time < 3; time += 1) for (const each of [house, ...others]) await fire(each);
  const asked: number[] = [];
  const plain: number[] = [];
  const pairs = await interleave(
    options.rounds,
    () => fire(house, cost.ours),
    async () => {
      if (asking) asked.push(await fire(asking));
      plain.push(await fire(remembering));
      return fire(preparing, cost.theirs);
    },
  );
  const [profiled] = await Promise.all([profile(house.pid, options.seconds * 800), fire(house)]);
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
        'bare `node:http` with our pool and our `prepared.ts` (key remembered 1 s in both), JSON by hand',
      value: ratiosOf(pairs),
      unit: 'ratio',
      target: { atLeast: 0.75 },
      amounts: [
        `${perSecond(ours)} against ${perSecond(theirs)}`,
        `CPU time a request: ${costText(cost.ours)} against ${costText(cost.theirs)}`,
        `${share(plain)} with the driver's own prepared statements`,
        ...(asking ? [`${share(asked)} when it looks the key up each time`] : []),
      ].join('; '),
      limit: `time of our process: ${asShares(profiled)}`,
    },
  ];
}

interface Bare {
  url: string;
  pid: number;
  stop(): void;
}

async function startBare(house: House, env: Record<string, string>): Promise<Bare> {
  const child: ChildProcess = fork(path.join(root, 'bench/bare.ts'), {
    env: { ...process.env, DATABASE_URL: house.databaseUrl, ...env },
  });
  undo.push(() => void child.kill());
  const [message] = (await once(child, 'message')) as [{ url: string }];
  return { url: message.url, pid: child.pid ?? 0, stop: () => void child.kill() };
}

/** Both have to say the same, byte by byte; otherwise there is nothing to compare. */
async function checkSame(ours: string, theirs: string, requests: readonly Request[]): Promise<void> {
  for (const { path: where, as } of requests.slice(0, 3)) {
    const headers = { token: as?.token ?? '', 'x-organization-id': String(as?.organizationId) };
    const [a, b] = await Promise.all(
      [ours, theirs].map(async (url) => (await fetch(url + where, { headers })).text()),
    );
    if (a !== b) throw new Error(`the bare server says something else:\n${a}\n${b}`);
  }
}
