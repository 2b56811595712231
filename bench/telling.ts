import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { invoicePaid } from '../src/billing/events.ts';
import { record, startTellingReaders } from '../src/events/index.ts';
import { transaction } from '../src/platform/index.ts';
import { apiClient } from '../test/client.ts';
import { type House, root, undo } from './house.ts';
import { memoryOf, nowMs, spreadOf } from './measure.ts';
import type { Access, Person } from './people.ts';
import type { Figure } from './table.ts';

interface Shop {
  house: House;
  access: Access;
  people: readonly Person[];
}

export interface EventOptions {
  clients: number;
  /** Of each kind. */
  events: number;
}

export interface WebhookOptions {
  rounds: number;
  webhooks: number;
}

/** Somebody who stands outside, as a process of its own. */
interface Outside {
  /** Asks for something, and takes the next message that has this in it. */
  ask<T extends object>(message: object, field: keyof T & string): Promise<T>;
  process: ChildProcess;
}

function outside(kind: string): Outside {
  const child = fork(path.join(root, 'bench/outside.ts'), [kind]);
  undo.push(() => void child.kill());
  const next = <T extends object>(field: keyof T & string) =>
    new Promise<T>((resolve, reject) => {
      const ended = () => reject(new Error(`${kind} has ended`));
      const take = (message: T) => {
        if (!(field in message)) return;
        child.off('message', take).off('exit', ended);
        resolve(message);
      };
      child.on('message', take).once('exit', ended);
    });
  return {
    process: child,
    ask: (message, field) => {
      const answer = next(field) as Promise<never>;
      child.send(message);
      return answer;
    },
  };
}

/** From the moment before the commit, in another process than the one that has the streams, to the client's. */
export async function measureEvents(shop: Shop, options: EventOptions): Promise<Figure[]> {
  const { house, access, people } = shop;
  const clients = outside('clients');
  const connect = (those: readonly Person[]) =>
    clients.ask<{ open: number }>({ url: house.url, people: those }, 'open');
  const warm = 200;
  await connect(people.slice(0, warm));
  await pause(2_000);
  const before = memoryOf(house.pid).rssMib;
  const { open } = await connect(people.slice(warm, warm + options.clients));
  if (open !== warm + options.clients) throw new Error(`${open} streams are open`);
  await pause(5_000);
  const kibEach = ((memoryOf(house.pid).rssMib - before) * 1024) / options.clients;

  const stopTelling = startTellingReaders(access.ctx, 200);
  await pause(1_500);
  const sent = new Map<number, number>();
  const took: number[] = [];
  clients.process.on('message', (message: { total?: number; at?: number }) => {
    const begun = sent.get(message.total ?? -1);
    if (begun !== undefined && message.at !== undefined) took.push(message.at - begun);
  });
  const telling = (async () => {
    for (let nth = 1; nth <= options.events; nth += 1) {
      await happen(shop, people[nth % open]?.organizationId ?? 0, nth, sent);
      await pause(20);
    }
  })();
  await telling;
  await pause(1_000);
  if (took.length !== options.events) throw new Error(`${took.length} of ${options.events} events came`);
  await stopTelling();
  clients.process.kill();
  const sorted = took.toSorted((one, other) => one - other);
  const p95 = sorted[Math.floor(sorted.length * 0.95)] ?? Number.NaN;
  const amounts = `${options.clients + warm} streams open, ${options.events} events one after the other, each recorded by another process`;
  return [
    {
      name: 'Commit to event at a client, median',
      against: 'the clock',
      value: spreadOf(took),
      unit: 'ms',
      target: { atMost: 50 },
      amounts,
      limit: 'word from process to process, gathered for 10 ms',
    },
    {
      name: 'Commit to event at a client, 95 %',
      against: 'the clock',
      value: { median: p95, min: p95, max: sorted.at(-1) ?? p95 },
      unit: 'ms',
      target: { atMost: 150 },
      amounts,
      limit: 'the same',
    },
    {
      name: 'Memory of a client that follows events',
      against: `${options.clients} more of them`,
      value: spreadOf([kibEach / 1024]),
      unit: 'MiB',
      target: { atMost: 64 / 1024 },
      amounts: `${kibEach.toFixed(1)} KiB each`,
      limit: 'socket, request and reply of Node',
    },
  ];
}

async function happen(
  { access }: Shop,
  organizationId: number,
  nth: number,
  sent: Map<number, number>,
): Promise<void> {
  const quiet = { ...access.ctx, reactions: new Map() };
  await transaction(quiet, 'bench.event', async (tx) => {
    await record(tx, invoicePaid, {
      ...{ subject: { type: 'invoice', id: 7 }, organizationId },
      data: { user_id: null, kind: 'order', currency: 'EUR', method: 'credit', total: String(nth) },
    });
    sent.set(nth, nowMs());
  });
}

/** How long 95 of a hundred GETs take at most, one after the other; milliseconds. */
async function latencies({ house, people }: Shop, count: number): Promise<number> {
  const person = people[300];
  if (person === undefined) throw new Error('nobody to ask as');
  const client = apiClient(`${house.url}/api`, person);
  const took: number[] = [];
  for (let nth = 0; nth < count; nth += 1) {
    const began = nowMs();
    const { status } = await client.get('/dashboard/services');
    if (status !== 200) throw new Error(`a GET answered ${status}`);
    took.push(nowMs() - began);
    await pause(10);
  }
  return took.toSorted((one, other) => one - other)[Math.floor(count * 0.95)] ?? Number.NaN;
}

const endpoints = 20;

/** From the commit of the entries to the last request at the host, against the same requests by `undici` alone. */
export async function measureWebhooks(shop: Shop, options: WebhookOptions): Promise<Figure[]> {
  const { house, access, people } = shop;
  const host = outside('host');
  const [{ port }] = (await once(host.process, 'message')) as [{ port: number }];
  const owners = people.slice(0, endpoints);
  for (const owner of owners) {
    const client = apiClient(`${house.url}/api`, owner);
    const { status, body } = await client.post('/dashboard/webhooks', { url: `http://127.0.0.1:${port}/` });
    if (status !== 200) throw new Error(`an endpoint: ${status} ${JSON.stringify(body)}`);
  }
  const takenNow = async () => (await host.ask<{ taken: number }>({}, 'taken')).taken;
  const ours = async (count: number): Promise<number> => {
    const before = await takenNow();
    const began = nowMs();
    await access.sql(
      `insert into journal (organization_id, action, subject_type, subject_id, actor_type, data, created_at)
       select o, 'invoice.paid', 'invoice', i, 'system',
         '{"kind": "order", "method": "credit", "total": "3.00", "currency": "EUR"}', now()
       from generate_series(1, $1::int) i, unnest($2::bigint[]) o`,
      [count / endpoints, owners.map(({ organizationId }) => organizationId)],
    );
    while ((await takenNow()) < before + count) await pause(10);
    return count / ((nowMs() - began) / 1_000);
  };
  const bare = async (count: number): Promise<number> => {
    const sender = outside('bare');
    const { rows } = await access.sql('select body from webhook_deliveries limit 1');
    const body = String(rows[0]?.body);
    await sender.ask({ port, count: 500, body }, 'tookMs');
    const { tookMs } = await sender.ask<{ tookMs: number }>({ port, count, body }, 'tookMs');
    sender.process.kill();
    return count / (tookMs / 1_000);
  };
  await ours(endpoints * 20);
  const rates: { ours: number; bare: number }[] = [];
  for (let round = 0; round < options.rounds; round += 1)
    rates.push({ ours: await ours(options.webhooks), bare: await bare(options.webhooks) });

  await pause(2_000);
  const ratios: number[] = [];
  let [calmMs, busyMs] = [0, 0];
  for (let round = 0; round < options.rounds; round += 1) {
    calmMs = await latencies(shop, 100);
    // A thousand a second, as they come.
    let isOn = true;
    const load = (async () => {
      while (isOn) {
        const next = pause(100);
        await access.sql(
          `insert into journal (organization_id, action, subject_type, subject_id, actor_type, data, created_at)
           select o, 'invoice.paid', 'invoice', i, 'system', '{"total": "3.00"}', now()
           from generate_series(1, 5) i, unnest($1::bigint[]) o`,
          [owners.map(({ organizationId }) => organizationId)],
        );
        await next;
      }
    })();
    await pause(1_000);
    busyMs = await latencies(shop, 100);
    isOn = false;
    await load;
    ratios.push(busyMs / calmMs);
    const count = async () =>
      Number(
        (await access.sql(`select count(*) from webhook_deliveries where state = 'waiting'`)).rows[0].count,
      );
    while ((await count()) > 0) await pause(200);
  }
  host.process.kill();
  const rate = spreadOf(rates.map((each) => each.ours));
  const plain = spreadOf(rates.map((each) => each.bare)).median;
  return [
    {
      name: 'Webhooks to a host that takes them',
      against: '`undici` alone, 128 side by side, the same requests unsigned',
      value: spreadOf(rates.map((each) => each.ours / each.bare)),
      unit: 'ratio',
      target: { atLeast: 0.5 },
      amounts: `${rate.median.toFixed(0)} a second (${rate.min.toFixed(0)} to ${rate.max.toFixed(0)}) from the journal to the host, against ${plain.toFixed(0)}`,
      limit: 'a row for each, its try and its end in PostgreSQL',
    },
    {
      name: 'GET while 1,000 webhooks a second are sent, 95 %',
      against: 'the same GET while nothing is',
      value: spreadOf(ratios),
      unit: 'ratio',
      target: { atMost: 2 },
      amounts: `${busyMs.toFixed(1)} ms against ${calmMs.toFixed(1)} ms in the last round`,
      limit: 'one process on the same cores as PostgreSQL, the host and the bench',
    },
  ];
}
