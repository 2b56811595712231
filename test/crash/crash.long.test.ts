import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testDatabase } from '../database.ts';
import { sql } from '../sql.ts';
import { startProductChild } from './child.ts';
import { scenarioOf, scenarios } from './scenarios.ts';
import {
  boundariesBack,
  boundariesOf,
  stepsOf,
  sweepCrashes,
  sweepFailedActions,
  sweepFailures,
} from './sweep.ts';
import { openWorld, type World } from './world.ts';

const hour = 3_600_000;

/** Once each: what several scenarios pass is crashed in the first of them. */
const seen = new Set<string>();

for (const repeat of ['off', 'on']) {
  describe(`with every step done ${repeat === 'on' ? 'twice' : 'once'}, kill -9`, { timeout: hour }, () => {
    let world: World;
    beforeAll(async () => {
      seen.clear();
      world = await openWorld({ env: { INNKEEPER_REPEAT_STEPS: repeat } });
    });
    afterAll(() => world?.stop());

    it.each(scenarios)('at every boundary of: $name', async (scenario) => {
      const boundaries = (await boundariesOf(world, scenario)).filter((name) => !seen.has(name));
      for (const name of boundaries) seen.add(name);
      expect(await world.audit()).toEqual([]);
      const swept = await sweepCrashes(world, scenario, boundaries);
      console.log(`${scenario.name}, steps ${repeat}: ${JSON.stringify(swept)}`);
    });
  });
}

describe('kill -9 of a first start', { timeout: hour }, () => {
  it('leaves nothing half: the next start opens one company, with its keys', async () => {
    const traced = await firstStart({});
    const boundaries = [...new Set(traced.passed)].filter((name) => /commit$/.test(name));
    expect(boundaries).toContain('demo.fill: before commit');
    for (const boundary of boundaries.slice(0, 12)) {
      const { users, pools, works } = await firstStart({ INNKEEPER_CRASH_AT: boundary });
      expect({ boundary, users, pools, works }).toEqual({ boundary, users: 3, pools: 2, works: 200 });
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
    const first = startProductChild({ ...env, ...crash, INNKEEPER_TRACE_BOUNDARIES: trace });
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

describe('a step that fails for good', { timeout: hour }, () => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld({ env: { INNKEEPER_REPEAT_STEPS: 'on' } });
  });
  afterAll(() => world?.stop());

  it.each(['pay', 'expiry', 'refund'])('ends in a clean slate that staff can retry: %s', async (name) => {
    const scenario = scenarioOf(name);
    const steps = stepsOf(await boundariesOf(world, scenario));
    const swept = await sweepFailures(
      world,
      scenario,
      steps.map((step) => ({ step })),
    );
    console.log(`failures of ${name}: ${JSON.stringify(swept)}`);
  });

  it.each(['stop', 'start', 'restart', 'reinstall', 'snapshot', 'restore', 'password', 'keys'])(
    'of an action lets go of the machine, and the action can be asked for again: %s',
    async (name) => {
      const scenario = scenarioOf(name);
      const passed = await boundariesOf(world, scenario);
      const steps = stepsOf(passed).filter((step) => /^vps\.(?!provision)/.test(step));
      expect(steps.length).toBeGreaterThan(1);
      await sweepFailedActions(world, scenario, steps);
    },
  );

  it('does so when the product dies anywhere on the way back', async () => {
    const scenario = scenarioOf('pay');
    const step = 'vps.provision/forget';
    const back = await boundariesBack(world, scenario, step);
    const swept = await sweepFailures(
      world,
      scenario,
      back.map((crashAt) => ({ step, crashAt })),
    );
    console.log(`killed on the way back: ${JSON.stringify(swept)}`);
  });
});
