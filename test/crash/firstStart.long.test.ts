import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { testDatabase } from '../database.ts';
import { sql } from '../sql.ts';
import { startProductChild } from './child.ts';

const hour = 3_600_000;

describe('kill -9 of a first start', { timeout: hour }, () => {
  it('leaves nothing half: the next start opens one company, with its keys', async () => {
    const traced = await firstStart({});
    const failpoints = [...new Set(traced.passed)].filter((name) => /commit$/.test(name));
    expect(failpoints).toContain('demo.fill: before commit');
    for (const failpoint of failpoints.slice(0, 12)) {
      const { users, pools, works } = await firstStart({ INNKEEPER_CRASH_AT: failpoint });
      expect({ failpoint, users, pools, works }).toEqual({ failpoint, users: 3, pools: 2, works: 200 });
    }
  });
});

/** A first start that may die, and one after it that does not. */
async function firstStart(crash: Record<string, string>) {
  const database = await testDatabase();
  const dataDir = mkdtempSync(path.join(tmpdir(), 'innkeeper-first-'));
  const trace = path.join(dataDir, 'trace');
  const env = { DATA_DIR: dataDir, DATABASE_URL: database.url, HYPERVISOR: 'simulator', LOG_LEVEL: 'warn' };
  try {
    const first = startProductChild({ ...env, ...crash, INNKEEPER_TRACE_FAILPOINTS: trace });
    if (crash.INNKEEPER_CRASH_AT) expect((await first.exited).signal).toBe('SIGKILL');
    else {
      await first.ready;
      first.kill();
      await first.exited;
    }
    const second = startProductChild(env);
    const url = await second.ready;
    const { customer } = JSON.parse(readFileSync(path.join(dataDir, 'demo.json'), 'utf8'));
    const headers = { token: customer.api_key, 'x-organization-id': String(customer.organization_id) };
    const works = (await fetch(`${url}/api/dashboard/services`, { headers })).status;
    second.kill();
    await second.exited;
    const count = async (table: string) =>
      (await sql<{ n: number }>({ databaseUrl: database.url }, `select count(*)::int as n from ${table}`))[0]
        ?.n;
    const passed = readFileSync(trace, 'utf8').split('\n').filter(Boolean);
    return { passed, works, users: await count('users'), pools: await count('address_pools') };
  } finally {
    await database.drop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}
