import { expect } from 'vitest';
import { allPeriodicJobs } from '../../src/worker.ts';
import { until } from '../product.ts';
import { sql } from '../sql.ts';
import type { Order, Scenario } from './scenarios.ts';
import type { World } from './world.ts';

/** What a sweep did, for the line it prints. */
export interface Swept {
  failpoints: number;
  slowestReadyMs: number;
  slowestSettledMs: number;
}

/** From the moment the product is ready again; how long its start takes is the machine's affair, and printed. */
const recoveredWithinMs = 30_000;
const periodicJobs = allPeriodicJobs.map((periodic) => periodic.name);

/** Failpoints of a scenario in the order in which they are passed first, without what only the clock brings. */
export async function failpointsOf(world: World, scenario: Scenario): Promise<string[]> {
  await run(world, scenario);
  const passed = [...new Set(world.passed())];
  return passed.filter((name) => {
    const periodic = periodicJobs.find((each) => name.startsWith(`${each}:`));
    return periodic === undefined || scenario.periodic === periodic;
  });
}

/** Does the whole scenario, with what `before` arms between what it starts from and what people do. */
async function run(world: World, scenario: Scenario, before: () => void = () => undefined): Promise<void> {
  const given = await scenario.arrange(world);
  await world.settle();
  world.passed();
  before();
  await scenario.done(world, given, await scenario.start(world, given));
  await world.settle();
}

/** Kills the product at each of these failpoints of a scenario, and asks afterwards what is wrong. */
export async function sweepCrashes(
  world: World,
  scenario: Scenario,
  failpoints: readonly string[],
): Promise<Swept> {
  const swept: Swept = { failpoints: 0, slowestReadyMs: 0, slowestSettledMs: 0 };
  for (const failpoint of failpoints) {
    const deaths = world.deaths;
    await run(world, scenario, () => world.crashAt(failpoint));
    await expectWell(world, { failpoint, deaths: 1 }, { deaths: world.deaths - deaths });
    count(swept, world);
  }
  return swept;
}

function count(swept: Swept, world: World): void {
  swept.failpoints += 1;
  swept.slowestReadyMs = Math.max(swept.slowestReadyMs, world.recovery.readyMs);
  swept.slowestSettledMs = Math.max(swept.slowestSettledMs, world.recovery.settledMs);
  expect(world.recovery.settledMs - world.recovery.readyMs).toBeLessThan(recoveredWithinMs);
}

async function expectWell(world: World, wanted: object, seen: object, except?: string[]): Promise<void> {
  expect({ ...wanted, ...seen, wrong: await world.audit(except) }).toEqual({ ...wanted, wrong: [] });
}

/**
 * Every third, the first among them: a part of a sweep whose rest proves the same. Steps pass their points in pairs (after what
 * they did, after what remembers it), so every second one would be the same kind of death at each step, and never the other.
 */
export function everyThird(failpoints: readonly string[]): string[] {
  return failpoints.filter((_, at) => at % 3 === 0);
}

/** The steps among failpoints: `vps.provision/boot`. */
export function stepsOf(failpoints: readonly string[]): string[] {
  return failpoints.flatMap((name) => /^(.+): before do$/.exec(name)?.[1] ?? []);
}

/**
 * Has each of these steps fail for good: what it did is taken back, the failure stands where staff and customer see
 * it, and once the cause is gone staff's "retry" brings the scenario to its end. With `crashAt` the product also
 * dies at that failpoint on the way back.
 */
export async function sweepFailures(
  world: World,
  scenario: Scenario,
  cases: readonly { step: string; crashAt?: string }[],
): Promise<Swept> {
  const swept: Swept = { failpoints: 0, slowestReadyMs: 0, slowestSettledMs: 0 };
  for (const { step, crashAt } of cases) {
    const given = await scenario.arrange(world);
    await world.settle();
    const deaths = world.deaths;
    const known = (await failedJobs(world)).map(({ id }) => id);
    world.failAt(step);
    world.crashAt(crashAt ?? null);
    const started = await scenario.start(world, given);
    await world.settle();
    world.failAt(null);
    const seen = { deaths: world.deaths - deaths };
    await expectWell(world, { step, crashAt, deaths: crashAt ? 1 : 0 }, seen, whileFailed(step));
    const jobs = (await failedJobs(world)).filter(({ id }) => !known.includes(id));
    await expectTold(world, step, jobs);
    await retryAll(world, step, jobs);
    await scenario.done(world, given, started);
    await world.settle();
    await expectWell(world, { step, crashAt }, {});
    count(swept, world);
  }
  return swept;
}

/** A mail that could not be sent is missing until it is tried again; nothing else may be. */
function whileFailed(step: string): string[] {
  return step.startsWith('mail.') ? ['a mail that is missing or waits'] : [];
}

/** Staff sees the job with its reason; of a machine that could not be made the journal tells the customer. */
async function expectTold(world: World, step: string, failed: readonly FailedJob[]): Promise<void> {
  const [saga, name] = step.split('/');
  const jobs = failed.filter((job) => job.name === saga);
  expect(jobs).not.toEqual([]);
  for (const job of jobs) expect(job).toMatchObject({ error_step: name, state: 'failed' });
  if (saga !== 'vps.provision') return;
  const [entry] = await sql<{ reason: string }>(
    world,
    `select data->>'reason' as reason from journal where action = 'service.failed' order by id desc limit 1`,
  );
  expect(entry?.reason).toBe(`${name}: ${step} was made to fail`);
}

async function retryAll(world: World, step: string, failed: readonly FailedJob[]): Promise<void> {
  for (const { id, name } of failed) {
    if (!step.startsWith(`${name}/`)) continue;
    expect((await world.staff.post(`/staff/jobs/${id}/retry`)).status).toBe(200);
  }
  await world.settle();
}

interface FailedJob {
  id: number;
  name: string;
  state: string;
  error_step: string;
}

async function failedJobs(world: World): Promise<FailedJob[]> {
  return (await world.staff.get('/staff/jobs')).body.data.jobs;
}

/**
 * Has each of these steps of an action on a machine fail for good: the action ends as failed and says why, the
 * machine's lock is free, and asking again works.
 */
export async function sweepFailedActions(
  world: World,
  scenario: Scenario,
  steps: readonly string[],
): Promise<void> {
  for (const step of steps) {
    const given = await scenario.arrange(world);
    await world.settle();
    world.failAt(step);
    await scenario.start(world, given);
    await world.settle();
    world.failAt(null);
    // After a reinstall that failed the machine has no system, and says so until the next one. What an action did
    // before it failed, such as taking the power, the next comparison of the node puts right.
    const except = ['a machine in a state that should pass'];
    await until(
      () => world.audit(except),
      (wrong) => wrong.length === 0,
      30_000,
    );
    const [told] = await sql<{ customer: string; staff: string }>(
      world,
      `select
         (select data->>'reason' from journal where action = 'vps.action.failed' order by id desc limit 1) as customer,
         (select error_message from jobs where state = 'failed' order by finished_at desc limit 1) as staff`,
    );
    expect(told?.customer).toContain('our staff has been told');
    expect(told?.staff).toContain('was made to fail');
    if (await isPossible(world, given as Order, step)) {
      await scenario.done(world, given, await scenario.start(world, given));
      await world.settle();
    }
    await expectWell(world, { step }, {});
  }
}

/** Whether the action may be asked for again. One that failed after it had started the machine need not be. */
async function isPossible(world: World, { serviceId }: Order, step: string): Promise<boolean> {
  const overview = () => world.customer.get(`/dashboard/service/${serviceId}/vps/overview`);
  const idle = await until(overview, ({ body }) => body.data?.vps.locked === false, 30_000);
  const { state, actions } = idle.body.data.vps;
  const command = /^vps\.(\w+)\//.exec(step)?.[1] ?? '';
  const { allowed } = actions[command];
  if (!allowed) expect({ command, state }).toEqual({ command: 'start', state: 'running' });
  return allowed;
}

/** Failpoints that are passed on the way back when a step fails for good. */
export async function failpointsBack(world: World, scenario: Scenario, step: string): Promise<string[]> {
  const given = await scenario.arrange(world);
  await world.settle();
  world.passed();
  world.failAt(step);
  await scenario.start(world, given);
  await world.settle();
  world.failAt(null);
  const passed = [...new Set(world.passed())];
  await retryAll(world, step, await failedJobs(world));
  return passed.slice(passed.indexOf(`${step}: before do`) + 1).filter(isWayBack);
}

function isWayBack(name: string): boolean {
  return /undo|: failed: /.test(name);
}

/** The delivery of this order failed, and staff and customer can see it. */
export async function expectFailed(world: World, { serviceId }: { serviceId: number }): Promise<void> {
  const { body } = await world.customer.get(`/dashboard/services/${serviceId}`);
  expect(body.data.service).toMatchObject({ status: 'pending', provisioning_state: 'failed' });
}
