/** A pooler before the database: Debian's PgBouncer, in each of its modes. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { requireOwnSessions, SharedSessions } from '../src/platform/database/sessions.ts';
import { startChild } from './child.ts';
import { apiClient } from './client.ts';
import { emptyDatabase, type TestDatabase } from './database.ts';
import { removeDataDir } from './dataDir.ts';
import { orderVps } from './orders.ts';
import { type Pgbouncer, startPgbouncer, withoutPgbouncer } from './pgbouncer.ts';
import { until } from './product.ts';
import { sql } from './sql.ts';

describe.skipIf(withoutPgbouncer !== null)('a pooler between the product and PostgreSQL', () => {
  let database: TestDatabase;
  const dirs: string[] = [];
  const poolers: Pgbouncer[] = [];
  beforeAll(async () => {
    database = await emptyDatabase();
  });
  afterAll(async () => {
    for (const each of poolers) await each.close();
    for (const dir of dirs) await removeDataDir(dir);
    await database.drop();
  });
  const before = async (mode: 'session' | 'transaction' | 'statement', settings?: Record<string, string>) => {
    const pooler = await startPgbouncer(mode, [database.applicationUrl, database.url], settings);
    poolers.push(pooler);
    return pooler;
  };
  const start = ({ through }: Pick<Pgbouncer, 'through'>) => {
    const dir = mkdtempSync(path.join(tmpdir(), 'innkeeper-pooler-'));
    dirs.push(dir);
    return startChild(dir, {
      DATABASE_URL: through(database.applicationUrl),
      DATABASE_OWNER_URL: through(database.url),
      HYPERVISOR: 'simulator',
    });
  };
  const tables = () =>
    sql({ databaseUrl: database.url }, `select from pg_tables where schemaname = 'public'`);

  it('that breaks sessions is refused before anything is written, with the two ways out', async () => {
    const pooler = await before('transaction');
    const said = await start(pooler).then(
      async (child) => {
        await child.end('SIGKILL');
        return 'it started';
      },
      (error: Error) => error.message,
    );
    expect(said).toContain('a pooler (127.0.0.1:');
    expect(said).toContain('pool_mode = session');
    expect(said).toContain('lead past it to PostgreSQL itself');
    expect(await tables()).toEqual([]);
  });

  it.each([
    ['a single connection', { default_pool_size: '1' }],
    ['connections that it goes around', { server_round_robin: '1' }],
  ])('is noticed with %s, also while others use it', async (_name, settings) => {
    const { through } = await before('transaction', settings);
    const url = through(database.applicationUrl);
    const busy = await Promise.all(
      Array.from({ length: 6 }, async () => {
        const client = new pg.Client({ connectionString: url });
        await client.connect();
        return client;
      }),
    );
    let isOver = false;
    const using = busy.map(async (client) => {
      while (!isOver) await client.query('select pg_sleep(0.002)');
      await client.end();
    });
    try {
      for (let attempt = 0; attempt < 5; attempt += 1)
        await expect(requireOwnSessions(url)).rejects.toBeInstanceOf(SharedSessions);
    } finally {
      isOver = true;
      await Promise.all(using);
    }
  });

  it('that gives each statement whichever connection is free is noticed too', async () => {
    const { through } = await before('statement');
    await expect(requireOwnSessions(through(database.url))).rejects.toBeInstanceOf(SharedSessions);
  });

  it('that keeps sessions is a way in like any other: an order is delivered, and days begin in UTC', async () => {
    const child = await start(await before('session'));
    try {
      const { api_key: token, organization_id: organizationId } = child.demo.customer;
      const customer = apiClient(`${child.url}/api`, { token, organizationId });
      const { serviceId, invoiceId } = await orderVps(child, customer);
      await customer.post(`/dashboard/invoices/${invoiceId}/pay`, { method: 'credit' });
      await until(
        async () => (await customer.get(`/dashboard/services/${serviceId}`)).body.data.service.status,
        (status) => status === 'active',
      );
    } finally {
      await child.end('SIGTERM');
    }
    expect(child.output()).not.toContain('stumbled');
  });
});
