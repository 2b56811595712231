/** A worker that dies at each moment of sending webhooks: each comes, all its tries have one id, and its end is written down once. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { receivers } from '../src/webhooks/testbed.ts';
import { type Child, startChild } from './child.ts';
import { apiClient, type Client } from './client.ts';
import { type TestDatabase, testDatabase } from './database.ts';
import { removeDataDir } from './dataDir.ts';
import { sql } from './sql.ts';

const { open: receiver, close } = receivers();
let database: TestDatabase;
let dir: string;
let point: string;
let api: Child;
let worker: Child;
let owner: Client;

const start = (role: 'api' | 'worker') =>
  startChild(dir, {
    ...{ ROLE: role, DATABASE_URL: database.url, HYPERVISOR: 'simulator', LOG_LEVEL: 'warn' },
    ...{ WEBHOOK_ALLOW: '127.0.0.1', ...(role === 'worker' && { INNKEEPER_CRASH_AT: `@${point}` }) },
  });

beforeAll(async () => {
  database = await testDatabase();
  dir = mkdtempSync(path.join(tmpdir(), 'innkeeper-webhook-crash-'));
  point = path.join(dir, 'crash-at');
  writeFileSync(point, 'nowhere');
  api = await start('api');
  const { api_key: token, organization_id: organizationId } = api.demo.customer;
  owner = apiClient(`${api.url}/api`, { token, organizationId });
  worker = await start('worker');
});
afterAll(async () => {
  await Promise.all([api, worker].map((child) => child?.end('SIGKILL')));
  close();
  await database?.drop();
  await removeDataDir(dir);
});

interface Row {
  id: number;
  state: string;
  tries: number;
  attempts: number;
}
const rowsOf = (endpoint: number) =>
  sql<Row>(
    { databaseUrl: database.url },
    `select id::float8 as id, state, tries, (select count(*)::int from webhook_attempts a where a.delivery_id = d.id) as attempts
     from webhook_deliveries d where endpoint_id = $1`,
    endpoint,
  );

it.each([
  ['webhooks.spread: before commit', 200, 'once'],
  ['webhooks.spread: after commit', 200, 'once'],
  ['webhooks.settle: before commit', 200, 'twice'],
  ['webhooks.settle: after commit', 200, 'once'],
  ['webhooks.settle: before commit', 503, 'twice'],
  ['webhooks.settle: after commit', 503, 'twice'],
] as const)('at %s, where the receiver says %i first', { timeout: 240_000 }, async (at, first, comes) => {
  const { got, url } = await receiver((nth) => (nth === 1 ? first : 200));
  const { status, body: made } = await owner.post('/dashboard/webhooks', { url, events: ['ticket.created'] });
  expect(status, JSON.stringify(made)).toBe(200);
  const { id } = made.data.webhook;
  writeFileSync(point, at);
  const opening = { subject: at, department: 'support', priority: 'low', message: 'Hello' };
  const { tid } = (await owner.post('/dashboard/tickets/create', opening)).body.data.ticket;
  await worker.gone;
  writeFileSync(point, 'nowhere');
  const before = got.length;
  worker = await start('worker');
  const soon = { timeout: 90_000, interval: 50 };
  await expect.poll(async () => (await rowsOf(id)).map(({ state }) => state), soon).toEqual(['delivered']);
  expect(got.map(({ body }) => JSON.parse(body).data.tid)).toEqual(Array(comes === 'once' ? 1 : 2).fill(tid));
  expect(new Set(got.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  const [row] = await rowsOf(id);
  // What was written down before it died is not tried again unless it failed.
  const written = first === 503 && at === 'webhooks.settle: after commit' ? 2 : 1;
  expect(row).toMatchObject({ tries: written, attempts: written });
  expect(before).toBe(at.startsWith('webhooks.settle') ? 1 : 0);
  await owner.delete(`/dashboard/webhooks/${id}`);
});
