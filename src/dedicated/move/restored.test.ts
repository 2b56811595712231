import { describe, expect, it } from 'vitest';
import { until } from '../../../test/product.ts';
import { type Another, movingBed } from '../../../test/rack/moving.ts';
import type { RentedPlayed } from '../../../test/rack/stocked.ts';
import { settled, sql } from '../../../test/sql.ts';
import { settleRestore } from '../../platform/index.ts';
import { jobsOfCustomers } from '../../worker.ts';

const bed = movingBed();
const {
  staff,
  serverOf,
  moveOf,
  another,
  asked,
  readAction,
  ended,
  isFree,
  plugged,
  rented,
  startedMute,
  waitsTooLong,
} = bed;
const q = (text: string, ...values: unknown[]) =>
  sql<Record<string, string>>(bed.world.product, text, ...values);

/** Keeps all that is known of a move, as a backup does. */
async function backup({ serviceId, id }: RentedPlayed, to: Another): Promise<void> {
  const which: Record<string, string> = {
    jobs: `name = 'dedicated.move' and payload ->> 'serviceId' = '${serviceId}'`,
    job_steps: `job_id in (select id from jobs where name = 'dedicated.move' and payload ->> 'serviceId' = '${serviceId}')`,
    servers: `id in (${id}, ${to.id})`,
    server_assignments: `server_id = ${to.id}`,
    dedicated_moves: `service_id = ${serviceId}`,
    dedicated_actions: `service_id = ${serviceId}`,
  };
  for (const [table, rows] of Object.entries(which)) {
    await q(`drop table if exists bk_${table}`);
    await q(`create table bk_${table} as select * from ${table} where ${rows}`);
  }
}

/** Brings that back, with the job held as a restore holds it, and releases the restore. Gives the job's id. */
async function restore({ id }: RentedPlayed, to: Another): Promise<string> {
  for (const server of [to.id, id])
    await q(
      `update servers t set state = b.state, service_id = b.service_id, move_service_id = b.move_service_id, customer_work = b.customer_work, was_on = b.was_on,
         reason = b.reason, state_since = b.state_since from bk_servers b where b.id = t.id and t.id = $1`,
      server,
    );
  await q(
    `update server_assignments t set state = b.state, plan = b.plan, ended_at = b.ended_at, heard_at = b.heard_at, powered_at = b.powered_at, step = b.step,
       erasures = b.erasures, failure = b.failure, failure_code = b.failure_code, tries = b.tries from bk_server_assignments b where b.id = t.id`,
  );
  await q(
    `update dedicated_moves t set ended_at = b.ended_at, moved = b.moved, problem = b.problem, password = b.password from bk_dedicated_moves b where b.id = t.id`,
  );
  await q(
    `update dedicated_actions t set status = b.status, progress = b.progress, finished_at = b.finished_at from bk_dedicated_actions b where b.id = t.id`,
  );
  await q('delete from job_steps where job_id in (select id from bk_jobs)');
  await q('insert into job_steps select * from bk_job_steps');
  await q(
    `update jobs t set state = 'ready', worker = null, direction = b.direction, attempts = 0, finished_at = null, error_code = null, error_step = null,
       error_message = null, run_at = now() + interval '10 days' from bk_jobs b where b.id = t.id`,
  );
  await asRestored();
  const [job] = await q('select id::text as id, state from jobs where id in (select id from bk_jobs)');
  expect(job).toMatchObject({ state: 'stuck' });
  return job?.id ?? '';
}

/** A restore of now, which staff has released. */
async function asRestored(): Promise<void> {
  const now = bed.world.product.clock.now();
  await q('insert into restores (made_at, restored_at) values ($1, $1)', now);
  await settleRestore(bed.world.product.ctx, jobsOfCustomers, async () => undefined);
  await q('update restores set released_at = $1', now);
}

async function retried(job: string, state: 'done' | 'stuck') {
  expect((await staff().post(`/staff/jobs/${job}/retry`)).status).toBe(200);
  const [found] = await until(
    () => q('select state, stuck_reason from jobs where id = $1', job),
    ([each]) => each?.state === 'done' || each?.state === 'stuck' || each?.state === 'failed',
    60_000,
  );
  expect(found, JSON.stringify(found)).toMatchObject({ state });
  return found?.stuck_reason ?? '';
}

/** Waits for a move whose other server was started, and keeps what a backup of then has. Its server greets after that, if it may. */
async function keptOnceStarted(server: RentedPlayed, to: Another): Promise<number> {
  const id = await startedMute(server, to);
  await backup(server, to);
  return id;
}

describe('a move that a backup brought back', () => {
  it('of which the service had come to its end is written down, and nothing is switched, plugged or wiped', async () => {
    const server = await rented();
    const to = await another(server);
    const found = await plugged(server, to, [101, 102]);
    const vlans = () => found.ports.map(({ vlan }) => vlan);
    const id = await keptOnceStarted(server, to);
    to.does = {};
    to.reboot();
    expect(await ended(server, id)).toMatchObject({ status: 'success' });
    await isFree(server.id);
    await settled(bed.world.product);
    const [fromStarts, toStarts] = [server.bmc.starts.length, to.bmc.starts.length];
    expect([server.wipes, server.bmc.power, to.bmc.power, vlans()]).toEqual([2, 'off', 'on', [102, 101]]);

    const job = await restore(server, to);
    expect(await readAction(server, id)).toMatchObject({
      ...{ status: 'error', error: { message: expect.stringMatching(/^Our database was restored/) } },
    });
    expect(await serverOf(server.id)).toMatchObject({ state: 'rented', service_id: server.serviceId });
    await retried(job, 'done');
    await settled(bed.world.product);
    expect(await serverOf(to.id)).toMatchObject({ state: 'rented', service_id: server.serviceId });
    // Since the backup it may have been sold, and what is on it be somebody's.
    expect(await serverOf(server.id)).toMatchObject({
      ...{ state: 'quarantined', service_id: null, move_service_id: null },
      reason: expect.stringMatching(/may be somebody’s. Look what is on it/),
    });
    expect([server.bmc.starts.length, to.bmc.starts.length]).toEqual([fromStarts, toStarts]);
    expect([server.wipes, to.wipes, server.bmc.power, to.bmc.power, vlans()]).toEqual([
      ...[2, 1, 'off', 'on'],
      [102, 101],
    ]);
  }, 240_000);

  it('of which nobody can say where the service is waits for a person, in words, and does as they say', async () => {
    const server = await rented();
    const to = await another(server);
    const id = await keptOnceStarted(server, to);
    // Also right before it was to be written down somebody looks first.
    for (const step of ['ready', 'disarm'])
      await q(
        `insert into bk_job_steps (job_id, step, state, result, finished_at) select id, $1, 'done', '{}', now() from bk_jobs`,
        step,
      );
    // It failed since, and its server was put right by hand.
    waitsTooLong();
    await ended(server, id);
    await until(
      async () => [server.bmc.power, to.bmc.power],
      ([one, other]) => one === 'on' && other === 'off',
      60_000,
    );
    await settled(bed.world.product);
    to.bmc.power = 'on';
    const job = await restore(server, to);
    const [fromStarts, toStarts] = [server.bmc.starts.length, to.bmc.starts.length];
    const reason = await retried(job, 'stuck');
    expect(reason).toMatch(
      /nobody can say on which server it is: .* is on, .* is on, .*retry this job: it switches and wipes nothing/,
    );
    to.bmc.power = 'off';
    await retried(job, 'done');
    await settled(bed.world.product);
    expect((await moveOf(server.id)).last).toMatchObject({
      moved: false,
      problem: expect.stringMatching(/ask for the move anew/),
    });
    expect(await serverOf(server.id)).toMatchObject({ state: 'rented', service_id: server.serviceId });
    expect(await serverOf(to.id)).toMatchObject({
      ...{ state: 'quarantined', move_service_id: null },
      reason: expect.stringMatching(/may have come there since, with all that its customer has/),
    });
    expect([server.bmc.starts.length, to.bmc.starts.length]).toEqual([fromStarts, toStarts]);
    expect([server.wipes, to.wipes]).toEqual([1, 1]);
  }, 240_000);

  it('while the new server was being installed installs nothing anew', async () => {
    const server = await rented();
    const to = await another(server);
    const kept = Promise.withResolvers<void>();
    to.does = {
      at: async (step) => {
        if (step !== 'write') return;
        to.does = {};
        await backup(server, to);
        kept.resolve();
      },
    };
    const id = await asked(server);
    await kept.promise;
    expect(await ended(server, id)).toMatchObject({ status: 'success' });
    await isFree(server.id);
    await settled(bed.world.product);
    // Its customer has it off, and that is all that they have.
    to.bmc.power = 'off';
    to.bmc.changed?.('off', null);
    const job = await restore(server, to);
    expect(await retried(job, 'stuck')).toMatch(/nobody can say on which server it is: .* is off, .* is off/);
    expect([to.wipes, to.bmc.power, to.system]).toEqual([1, 'off', [server.ip]]);
    to.bmc.power = 'on';
    to.bmc.changed?.('on', 'disk');
    await until(
      async () => bed.world.greets.has(server.ip),
      (greets) => greets,
    );
    await retried(job, 'done');
    expect(await serverOf(to.id)).toMatchObject({ state: 'rented', service_id: server.serviceId });
    expect([to.wipes, to.bmc.power]).toEqual([1, 'on']);
  }, 240_000);
});

describe('a move after a restore', () => {
  it('from a server that staff calls unplugged wipes nothing there while it is on: it may be somebody else’s', async () => {
    const server = await rented();
    const to = await another(server);
    await asRestored();
    server.bmc.failing = { silent: 'before' };
    to.does = {
      at: async (step) => {
        if (step === 'boot') server.bmc.failing = {};
      },
    };
    expect(await ended(server, await asked(server, { unplugged: true }))).toMatchObject({
      status: 'success',
    });
    const [job] = await until(
      () =>
        q(
          `select state, error_message from jobs where name = 'dedicated.return' and payload ->> 'leftBy' = $1`,
          String(server.serviceId),
        ),
      ([each]) => each?.state === 'failed' || each?.state === 'done' || each?.state === 'stuck',
      60_000,
    );
    expect(job).toMatchObject({
      state: 'failed',
      error_message: expect.stringMatching(/is on and is left alone/),
    });
    expect([server.wipes, server.bmc.power, server.told.at(-1)]).toEqual([1, 'on', 'disk']);
    expect(await serverOf(server.id)).toMatchObject({ state: 'returning' });
  }, 120_000);
});
