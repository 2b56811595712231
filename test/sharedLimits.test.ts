import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Child, startChild } from './child.ts';
import { apiClient, type Client } from './client.ts';
import { type TestDatabase, testDatabase } from './database.ts';
import { removeDataDir } from './dataDir.ts';
import { freePort, startValkey, type ValkeyServer, withoutValkey } from './valkey.ts';

describe.skipIf(withoutValkey !== null)('two processes of the API on one database', () => {
  let valkey: ValkeyServer;
  let database: TestDatabase;
  const dataDir = mkdtempSync(join(tmpdir(), 'innkeeper-limits-'));
  let children: Child[] = [];
  beforeAll(async () => {
    [valkey, database] = await Promise.all([freePort().then(startValkey), testDatabase()]);
    const env = {
      DATABASE_URL: database.applicationUrl,
      DATABASE_OWNER_URL: database.url,
      HYPERVISOR: 'simulator',
      RATE_LIMITS: 'on',
      VALKEY_URL: valkey.url,
    };
    const whole = await startChild(dataDir, env);
    children = [whole, await startChild(dataDir, { ...env, ROLE: 'api' })];
  });
  afterAll(async () => {
    for (const child of children) await child.end('SIGTERM');
    await valkey.close();
    await database.drop();
    await removeDataDir(dataDir);
  });
  const clients = (): Client[] =>
    children.map(({ url }) => {
      const { customer } = (children[0] as Child).demo;
      return apiClient(`${url}/api`, {
        token: customer.api_key,
        organizationId: customer.organization_id,
      });
    });
  const readyChecks = async ({ url }: Child) =>
    ((await (await fetch(`${url}/readyz`)).json()) as { data: { checks: { name: string; ok: boolean }[] } })
      .data.checks;

  it('count requests together, and coupon codes and passwords that were wrong', async () => {
    const [one, two] = clients() as [Client, Client];
    const left = ({ headers }: { headers: Headers }) =>
      Number(/"default";r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1]);
    const first = left(await one.get('/dashboard/account'));
    expect(left(await two.get('/dashboard/account'))).toBe(first - 1);
    expect(left(await one.get('/dashboard/account'))).toBe(first - 2);

    const { demo } = children[0] as Child;
    const codes = [];
    for (let at = 0; at < 24; at += 1)
      codes.push(
        await (at % 2 === 0 ? one : two).post('/cart/quote', {
          products: [{ id: demo.products.hosting, type: 'Hosting', cycle: 'monthly' }],
          couponcode: `GUESS${at}`,
        }),
      );
    expect(codes.filter(({ body }) => body.code === 'invalid_coupon')).toHaveLength(20);
    expect(codes.filter(({ status }) => status === 429)).toHaveLength(4);

    const passwords = await Promise.all(
      Array.from({ length: 16 }, (_, at) =>
        apiClient(`${(children[at % 2] as Child).url}/api`, {}).post('/auth/login', {
          email: 'ada@example.com',
          password: `guess number ${at}`,
        }),
      ),
    );
    expect(passwords.filter(({ status }) => status === 401)).toHaveLength(10);
    expect(passwords.filter(({ status }) => status === 429)).toHaveLength(6);
  });

  it('answer while Valkey is away, say so, and count together again once it is back', async () => {
    await valkey.kill();
    for (const client of clients()) expect((await client.get('/dashboard/account')).status).toBe(200);
    for (const child of children) {
      await expect
        .poll(async () => (await readyChecks(child)).find(({ name }) => name === 'limits'), {
          timeout: 10_000,
        })
        .toMatchObject({ ok: false });
      // Lines of the log are gathered for a moment before they are written.
      await expect.poll(() => child.output(), { timeout: 10_000 }).toContain('Valkey cannot be reached');
    }
    await valkey.start();
    for (const child of children)
      await expect
        .poll(async () => (await readyChecks(child)).find(({ name }) => name === 'limits'), {
          timeout: 15_000,
        })
        .toMatchObject({ ok: true });
  });
});
