import { availableParallelism } from 'node:os';
import { hash, verify } from '@node-rs/argon2';
import { openSession } from '../src/account/index.ts';
import { transaction } from '../src/platform/index.ts';
import { type Cpu, costSince, costText, cpuOf } from './cpu.ts';
import type { House } from './house.ts';
import { interleave, ratiosOf, spreadOf } from './measure.ts';
import { type Access, fillServices, firstId, type Person } from './people.ts';
import { type Figure, perSecond } from './table.ts';
import { type Request, type Volley, volley } from './wrk.ts';

export interface SignInOptions {
  rounds: number;
  seconds: number;
}

interface Shop {
  house: House;
  access: Access;
  people: readonly Person[];
}

/** As `account/signIn/passwords.ts` has it. */
const argon2 = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
const password = 'seven otters read maps';
const connections = 32;

/** Reading as somebody who is signed in, and signing in itself; the house counts no limits, since all come from one address. */
export async function measureSignIn(shop: Shop, options: SignInOptions): Promise<Figure[]> {
  const { access, people, house } = shop;
  const readers = people.slice(0, 400);
  for (const [index, person] of readers.entries())
    await fillServices(
      access,
      { id: person.organizationId, userId: person.userId },
      { count: 1, firstServiceId: firstId + index * 1_000, product: house.demo.products.hosting },
    );
  const kept = await hash(password, argon2);
  await access.sql('update users set password_hash = $1, email_verified = true where id > $2', [
    kept,
    firstId,
  ]);
  const browsers = await signAllIn(access, readers);
  await access.sql('vacuum analyze');
  const read = (as: readonly Person[]) =>
    volley(
      as.map((person, index) => ({
        method: 'GET',
        path: `/api/dashboard/services/${firstId + 1 + index * 1_000}`,
        as: person,
      })),
    );
  const signIns = volley(browsers.map(({ person, cookie }) => signingIn(person, cookie)));
  const byKey = read(readers);
  const bySession = read(browsers.map(({ person, token }) => ({ ...person, token })));
  const figures = [
    await ofSessions(house, bySession, byKey, options),
    await ofSignIns(house, signIns, kept, options),
    await ofStorm(house, signIns, byKey, options),
  ];
  for (const each of [signIns, byKey, bySession]) each.remove();
  return figures;
}

interface Browser {
  person: Person;
  token: string;
  /** By which it is known again: who comes back is the usual case, and is sent no mail about it. */
  cookie: string;
}

async function signAllIn({ ctx }: Access, people: readonly Person[]): Promise<Browser[]> {
  const browsers: Browser[] = [];
  for (const person of people) {
    const proven = { userId: person.userId, method: 'password', strong: false } as const;
    const { token, device } = await transaction(ctx, 'bench.signIn', (tx) =>
      openSession(tx, proven, { userAgent: null, device: null }),
    );
    browsers.push({ person, token, cookie: `__Host-innkeeper-device=${device}` });
  }
  return browsers;
}

function signingIn({ userId }: Person, cookie: string): Request {
  const email = `person${userId - firstId}@example.com`;
  return { method: 'POST', path: '/api/auth/login', body: { email, password }, cookie };
}

/** What fired at the product was answered, all of it; and what each request cost. */
async function fire(house: House, load: Volley, seconds: number, at: number, costs: Cpu[] = []) {
  const before = cpuOf(house);
  const fired = await load.fire(house.url, seconds, at);
  if (fired.failed > 0) throw new Error(`${fired.failed} requests were refused`);
  costs.push(costSince(before, cpuOf(house), fired.perSecond * seconds));
  return fired;
}

async function ofSessions(
  house: House,
  bySession: Volley,
  byKey: Volley,
  { rounds, seconds }: SignInOptions,
): Promise<Figure> {
  const cost = { session: [] as Cpu[], key: [] as Cpu[] };
  for (let warm = 0; warm < 2; warm += 1)
    for (const each of [bySession, byKey]) await fire(house, each, seconds, connections);
  const pairs = await interleave(
    rounds,
    async () => (await fire(house, bySession, seconds, connections, cost.session)).perSecond,
    async () => (await fire(house, byKey, seconds, connections, cost.key)).perSecond,
  );
  return {
    name: 'GET with a session',
    against: 'the same with an API key',
    value: ratiosOf(pairs),
    unit: 'ratio',
    target: { atLeast: 0.95 },
    amounts: `CPU time a request: ${costText(cost.session)} against ${costText(cost.key)}`,
    limit: 'the same statement once a second for each',
  };
}

async function ofSignIns(
  house: House,
  signIns: Volley,
  kept: string,
  { rounds, seconds }: SignInOptions,
): Promise<Figure> {
  const cores = availableParallelism();
  const cost: Cpu[] = [];
  const atOnce = cores * 4;
  const ours = async () => (await fire(house, signIns, seconds, atOnce, cost)).perSecond;
  const theirs = () => bareArgon2(kept, cores, seconds);
  await ours();
  const pairs = await interleave(rounds, ours, theirs);
  const median = (of: 'ours' | 'theirs') => perSecond(spreadOf(pairs.map((pair) => pair[of])).median);
  return {
    name: 'Sign-ins by password',
    against: `bare Argon2id, ${cores} at once`,
    value: ratiosOf(pairs),
    unit: 'ratio',
    target: { atLeast: 0.8 },
    amounts: `${median('ours')} against ${median('theirs')}; CPU time a sign-in: ${costText(cost)}`,
    limit: 'the session, its browser and its entry in the journal',
  };
}

/** Hashes a second, as many at once as there are cores. */
async function bareArgon2(kept: string, atOnce: number, seconds: number): Promise<number> {
  const until = performance.now() + seconds * 1_000;
  const began = performance.now();
  let done = 0;
  const one = async () => {
    while (performance.now() < until) {
      if (!(await verify(kept, password))) throw new Error('the password is another one');
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, one));
  return (done * 1_000) / (performance.now() - began);
}

async function ofStorm(
  house: House,
  signIns: Volley,
  reading: Volley,
  { rounds, seconds }: SignInOptions,
): Promise<Figure> {
  const alone = async () => (await fire(house, reading, seconds, 1)).p95Ms;
  const amidst = async () => {
    const storm = signIns.fire(house.url, seconds + 1, availableParallelism() * 4);
    const { p95Ms } = await fire(house, reading, seconds, 1);
    await storm;
    return p95Ms;
  };
  await amidst();
  const pairs = await interleave(rounds, amidst, alone);
  const median = (of: 'ours' | 'theirs') => `${spreadOf(pairs.map((pair) => pair[of])).median.toFixed(2)} ms`;
  return {
    name: 'p95 of a GET while many sign in',
    against: 'the same while nobody does',
    value: ratiosOf(pairs),
    unit: 'ratio',
    target: { atMost: 2 },
    amounts: `${median('ours')} against ${median('theirs')}`,
    limit: 'hashing takes every core',
  };
}
