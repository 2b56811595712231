/**
 * `kill -9` under open streams and under webhooks on their way, as power going: an API and a worker on one database, each
 * ended and started again while things happen.
 */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { receivers } from '../src/webhooks/testbed.ts';
import { type Child, startChild } from './child.ts';
import { apiClient, type Client } from './client.ts';
import { type TestDatabase, testDatabase } from './database.ts';
import { removeDataDir } from './dataDir.ts';
import { sql } from './sql.ts';
import { type EventStream, openStream } from './stream.ts';

const { open: receiver, close } = receivers();
let database: TestDatabase;
let dir: string;
/** Takes requests; it lives. */
let api: Child;
/** Has the streams. */
let streaming: Child;
let worker: Child;
let owner: Client;
let headers: Record<string, string>;

const start = (role: 'api' | 'worker') =>
  startChild(dir, {
    ...{ ROLE: role, DATABASE_URL: database.url, HYPERVISOR: 'simulator', LOG_LEVEL: 'warn' },
    WEBHOOK_ALLOW: '127.0.0.1',
  });

beforeAll(async () => {
  database = await testDatabase();
  dir = mkdtempSync(path.join(tmpdir(), 'innkeeper-killed-'));
  api = await start('api');
  const { api_key: token, organization_id: organizationId } = api.demo.customer;
  owner = apiClient(`${api.url}/api`, { token, organizationId });
  headers = { token, 'x-organization-id': String(organizationId) };
  [streaming, worker] = await Promise.all([start('api'), start('worker')]);
});
afterAll(async () => {
  await Promise.all([api, streaming, worker].map((child) => child?.end('SIGKILL')));
  close();
  await database?.drop();
  await removeDataDir(dir);
});

const opening = { department: 'support', priority: 'low', message: 'Hello' };
let made = 0;

/** So many more may have happened than have arrived: what cannot be kept up with on a busy machine would be made in a minute. */
const aheadAtMost = 50;

/** Opens tickets one after the other until it is stopped; each is an event. */
function happening(arrived: () => number) {
  const tids: string[] = [];
  let isOn = true;
  const work = (async () => {
    while (isOn) {
      made += 1;
      const { status, body } = await owner.post('/dashboard/tickets/create', {
        ...opening,
        subject: `No. ${made}`,
      });
      expect(status, JSON.stringify(body)).toBe(200);
      tids.push(body.data.ticket.tid);
      do await new Promise((resolve) => setTimeout(resolve, 30));
      while (isOn && tids.length - arrived() > aheadAtMost);
    }
  })();
  const stop = async () => {
    isOn = false;
    await work;
  };
  return { tids, stop };
}

const deadline = 240_000;

it('a stream goes on after kill -9 of its API: nothing lost, nothing twice', {
  timeout: deadline,
}, async () => {
  const events: EventStream['events'] = [];
  const tids = () => events.flatMap(({ event, data }) => (event === 'ticket.created' ? [data.data.tid] : []));
  let lastId = '';
  const open = async (): Promise<EventStream> => {
    const since: Record<string, string> = lastId === '' ? {} : { 'last-event-id': lastId };
    return openStream(`${streaming.url}/api/dashboard/events`, { ...headers, ...since });
  };
  const soon = { timeout: 30_000, interval: 20 };
  let stream = await open();
  await expect.poll(() => stream.lastId(), soon).toMatch(/^\d+$/);
  const things = happening(() => events.length + stream.events.length);
  for (let deaths = 0; deaths < 3; deaths += 1) {
    const before = stream.events.length;
    await expect.poll(() => stream.events.length, soon).toBeGreaterThan(before + 5);
    await streaming.end('SIGKILL');
    await stream.ended;
    events.push(...stream.events);
    lastId = stream.lastId();
    streaming = await start('api');
    stream = await open();
  }
  await expect.poll(() => stream.events.length, soon).toBeGreaterThan(5);
  await things.stop();
  const all = () => [...events, ...stream.events];
  await expect
    .poll(() => all().filter(({ data }) => data.data?.tid === things.tids.at(-1)).length, soon)
    .toBe(1);
  stream.close();
  events.push(...stream.events);
  expect(tids()).toEqual(things.tids);
  expect(events.map(({ event }) => event)).not.toContain('reset');
});

it('webhooks go on after kill -9 of the worker: each under one id, and none is lost', {
  timeout: deadline,
}, async () => {
  const slowly = () => new Promise<number>((resolve) => setTimeout(() => resolve(200), 20));
  const { got, url } = await receiver(slowly);
  const { status, body } = await owner.post('/dashboard/webhooks', { url, events: ['ticket.created'] });
  expect(status, JSON.stringify(body)).toBe(200);
  const soon = { timeout: 60_000, interval: 20 };
  const things = happening(() => got.length);
  for (let deaths = 0; deaths < 3; deaths += 1) {
    const before = got.length;
    await expect.poll(() => got.length, soon).toBeGreaterThan(before + 5);
    await worker.end('SIGKILL');
    worker = await start('worker');
  }
  await things.stop();
  const came = () => new Set(got.map((each) => JSON.parse(each.body).data.tid as string));
  await expect.poll(() => things.tids.filter((tid) => !came().has(tid)), soon).toEqual([]);
  const ids = Map.groupBy(got, (each) => JSON.parse(each.body).data.tid as string);
  for (const [tid, tries] of ids)
    expect(new Set(tries.map((each) => each.headers['webhook-id'])).size, tid).toBe(1);
  const open = async () =>
    sql<{ tid: string }>(
      { databaseUrl: database.url },
      `select id from webhook_deliveries where state <> 'delivered'`,
    );
  await expect.poll(async () => (await open()).length, soon).toBe(0);
});
