import { getEventListeners } from 'node:events';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../../test/product.ts';
import { transaction } from '../context.ts';
import type { Queryable } from '../database/index.ts';
import type { Drivers } from '../drivers.ts';
import { fail } from '../errors.ts';
import { enqueue, job, type Queue, saga, startWorker } from './index.ts';
import { servedClass } from './served.ts';
import { type JobBed, jobBed, type Payload } from './testbed.ts';

let bed: JobBed;
beforeAll(async () => {
  bed = await jobBed();
});
afterEach(() => bed.stopWorkers());
afterAll(() => bed.close());

describe('a job', () => {
  const noted: string[] = [];
  const note = saga<Payload>({
    name: 'test.note',
    steps: [{ name: 'only', do: async ({ payload }) => void noted.push(payload.key) }],
  });

  it('of a transaction that is rolled back never was', async () => {
    bed.work(note);
    const rolledBack = transaction(bed.ctx, 'test.rollback', async (tx) => {
      await enqueue(tx, note, { key: 'never' });
      throw new Error('no');
    });
    await expect(rolledBack).rejects.toThrow('no');
    await bed.ended(await bed.ask('test.note', 'after'), 'done');
    expect(noted).not.toContain('never');
  });

  it('waits for its time', async () => {
    bed.work(note);
    const id = await bed.ask('test.note', 'later', new Date(bed.clock.now().getTime() + 60_000));
    await bed.ended(await bed.ask('test.note', 'now'), 'done');
    expect((await bed.jobOf(id))?.state).toBe('ready');
    bed.clock.travel(60_001);
    await bed.ended(id, 'done');
  });

  it('that nobody here knows is left for who does', async () => {
    bed.work(note);
    const id = await bed.ask('test.unknown');
    await bed.ended(await bed.ask('test.note', 'known'), 'done');
    expect(await bed.jobOf(id)).toMatchObject({ state: 'ready', attempts: 0 });
    bed.work(saga<Payload>({ name: 'test.unknown', steps: [{ name: 'only', do: async () => undefined }] }));
    await bed.ended(id, 'done');
  });
});

describe('workers', () => {
  it('do not start with two jobs of one name, of which one would never run', () => {
    const twin = () => job<Payload>('test.twin', async () => undefined);
    expect(() => bed.work(twin(), twin())).toThrow('two jobs are called test.twin');
  });

  it('never run one job twice', async () => {
    const runs = new Map<string, number>();
    const counted = saga<Payload>({
      name: 'test.count',
      steps: [
        {
          name: 'only',
          do: async ({ payload }) => {
            runs.set(payload.key, (runs.get(payload.key) ?? 0) + 1);
            await new Promise((resolve) => setTimeout(resolve, 5));
          },
        },
      ],
    });
    for (let count = 0; count < 4; count += 1) bed.work(counted);
    const ids = await Promise.all(Array.from({ length: 80 }, (_, n) => bed.ask('test.count', String(n))));
    for (const id of ids) await bed.ended(id, 'done');
    expect([...runs.values()]).toEqual(Array(80).fill(1));
  });

  it('go on where one that died stood: done steps stay done, the one under way runs again', async () => {
    const runs: string[] = [];
    const hang = Promise.withResolvers<void>();
    bed.work(
      saga<Payload, { found: number }>({
        name: 'test.crash',
        steps: [
          {
            name: 'done',
            do: async () => {
              runs.push('done');
              return { found: 7 };
            },
          },
          {
            name: 'hangs',
            do: async ({ signal, state }) => {
              runs.push(`hangs with ${state.found}`);
              if (runs.length > 2) return;
              hang.resolve();
              await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
            },
          },
        ],
      }),
    );
    const id = await bed.ask('test.crash');
    await hang.promise;
    expect(await bed.cutWorkers()).toBe(1);
    const since = Date.now();
    await bed.ended(id, 'done');
    expect(Date.now() - since).toBeLessThan(3_000);
    expect(runs).toEqual(['done', 'hangs with 7', 'hangs with 7']);
  });

  it('that cannot show that they live leave no connection behind at each try', async () => {
    const blocker = new pg.Client({ connectionString: bed.url });
    await blocker.connect();
    await blocker.query('select pg_advisory_lock($1, $2)', [servedClass, 77]);
    const impatient = `${bed.url}${bed.url.includes('?') ? '&' : '?'}options=-c%20lock_timeout%3D50`;
    const note = job<Payload>('test.blocked', async () => undefined);
    const worker = startWorker(bed.ctx, impatient, { sagas: [note], drivers: {} as Drivers, nodes: [77] });
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    const open = await bed.rows(
      `select pid from pg_stat_activity where application_name = 'innkeeper worker' and datname = current_database()`,
    );
    expect(open.length).toBeLessThan(3);
    await blocker.end();
    await bed.ended(await bed.ask('test.blocked'), 'done');
    await worker.stop();
  });

  it('that lost their claim write nothing more', async () => {
    const hang = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const ends: string[] = [];
    const shared = (who: string, work: () => Promise<{ by: string }>) =>
      saga<Payload, { by: string }>({
        name: 'test.fence',
        steps: [{ name: 'only', do: work }],
        succeeded: async (_, __, state) => void ends.push(`${who} ended with ${state.by}`),
      });
    const first = bed.work(
      shared('first', async () => {
        hang.resolve();
        await release.promise; // deaf to the signal, as a call to the outside world may be
        return { by: 'first' };
      }),
    );
    const id = await bed.ask('test.fence');
    await hang.promise;
    await bed.cutWorkers();
    bed.work(shared('second', async () => ({ by: 'second' })));
    await bed.ended(id, 'done');
    release.resolve();
    await first.stop();
    const steps = 'select state, result from job_steps where job_id = $1';
    expect(await bed.rows(steps, id)).toEqual([{ state: 'done', result: { by: 'second' } }]);
    expect(ends).toEqual(['second ended with second']);
  });

  it('listen to the end of their life once, however often they look', async () => {
    const signals: AbortSignal[] = [];
    bed.work(
      saga<Payload>({
        name: 'test.listeners',
        steps: [{ name: 'only', do: async ({ signal }) => void signals.push(signal) }],
      }),
    );
    for (let turn = 0; turn < 20; turn += 1) {
      await bed.ended(await bed.ask('test.listeners', String(turn)), 'done');
    }
    expect(signals).toHaveLength(20);
    expect(getEventListeners(signals[19] as AbortSignal, 'abort')).toHaveLength(1);
  });

  it('look again at once when a job was asked for while they looked', async () => {
    let asked: Promise<number> | null = null;
    const many: Queryable['many'] = async (statement, ...given) => {
      const rows = await bed.ctx.db.many(statement, ...given);
      if (statement.name === 'jobs.look') asked ??= bed.ask('test.meanwhile'); // its answer has missed it
      await asked;
      return rows;
    };
    const meanwhile = saga<Payload>({
      name: 'test.meanwhile',
      steps: [{ name: 'only', do: async () => undefined }],
    });
    bed.workWith({ pollMs: 60_000, db: { many } }, meanwhile);
    const id = await until(
      async () => asked,
      (found) => found !== null,
    );
    await until(
      () => bed.jobOf(id ?? 0),
      (job) => job?.state === 'done',
      5_000,
    );
  });

  it('go on after a look that failed, without waiting for the jobs that run', async () => {
    const release = Promise.withResolvers<void>();
    const hang = Promise.withResolvers<void>();
    let isDown = false;
    const many: Queryable['many'] = async (statement, ...given) => {
      if (isDown && statement.name === 'jobs.claim') {
        isDown = false;
        throw fail('unavailable');
      }
      return bed.ctx.db.many(statement, ...given);
    };
    bed.workWith(
      { db: { many } },
      saga<Payload>({
        name: 'test.long',
        steps: [
          {
            name: 'only',
            do: () => {
              hang.resolve();
              return release.promise;
            },
          },
        ],
      }),
      saga<Payload>({ name: 'test.short', steps: [{ name: 'only', do: async () => undefined }] }),
    );
    const long = await bed.ask('test.long');
    await hang.promise;
    isDown = true;
    await bed.ended(await bed.ask('test.short'), 'done');
    expect(isDown).toBe(false);
    release.resolve();
    await bed.ended(long, 'done');
  });

  it('go on in a new life beside a job that did not hear of the old one ending, and do not repeat it yet', async () => {
    const release = Promise.withResolvers<void>();
    const hang = Promise.withResolvers<void>();
    let runs = 0;
    bed.work(
      saga<Payload>({
        name: 'test.deaf',
        steps: [
          {
            name: 'only',
            do: () => {
              runs += 1;
              hang.resolve();
              return release.promise;
            },
          },
        ],
      }),
      saga<Payload>({ name: 'test.other', steps: [{ name: 'only', do: async () => undefined }] }),
    );
    const deaf = await bed.ask('test.deaf');
    await hang.promise;
    await bed.cutWorkers();
    await bed.ended(await bed.ask('test.other'), 'done');
    await until(
      () => bed.jobOf(deaf),
      (job) => job?.state === 'ready',
    );
    await bed.ended(await bed.ask('test.other'), 'done');
    expect(runs).toBe(1);
    release.resolve();
    await bed.ended(deaf, 'done');
    expect(runs).toBe(2);
  });

  it('find a job again that they could not give back', async () => {
    let refusals = 0;
    const run: Queryable['run'] = (statement, ...given) => {
      if (!['jobs.postponeEnd', 'jobs.postpone'].includes(statement.name))
        return bed.ctx.db.run(statement, ...given);
      refusals += 1;
      return Promise.reject(fail('storage_full'));
    };
    let ends = 0;
    bed.workWith(
      { db: { run } },
      saga<Payload>({
        name: 'test.lost',
        steps: [{ name: 'only', do: async () => undefined }],
        succeeded: async () => {
          ends += 1;
          if (ends === 1) throw new Error('cannot write');
        },
      }),
    );
    await bed.ended(await bed.ask('test.lost'), 'done');
    expect([refusals, ends]).toEqual([1, 2]);
  });
});

describe('queues', () => {
  const slots = { quick: 2, charges: 2, machine: 4, bulk: 2, incoming: 2 };
  const endless = (name: string, queue: Queue, begun: string[], release: Promise<void>) =>
    saga<object>({
      name,
      queue,
      steps: [
        {
          name: 'only',
          do: () => {
            begun.push(name);
            return release;
          },
        },
      ],
    });

  it('keep jobs without an end from stopping those of other queues', async () => {
    const release = Promise.withResolvers<void>();
    const begun: string[] = [];
    const short = (name: string, queue?: Queue) =>
      saga<Payload>({ name, queue, steps: [{ name: 'only', do: async () => undefined }] });
    bed.workWith(
      { slots },
      endless('test.backup', 'bulk', begun, release.promise),
      short('test.start', 'machine'),
      short('test.paid'),
    );
    const backups = await Promise.all(Array.from({ length: 5 }, () => bed.ask('test.backup')));
    await until(
      async () => begun,
      ({ length }) => length === slots.bulk,
    );
    await bed.ended(await bed.ask('test.start'), 'done');
    await bed.ended(await bed.ask('test.paid'), 'done');
    expect(begun).toHaveLength(slots.bulk);
    release.resolve();
    for (const id of backups) await bed.ended(id, 'done');
  });

  it('give one organization half of their slots at most', async () => {
    const release = Promise.withResolvers<void>();
    const begun: string[] = [];
    bed.workWith({ slots }, endless('test.boot', 'machine', begun, release.promise));
    const many = await Promise.all(Array.from({ length: 6 }, () => bed.askFor(1, 'test.boot')));
    const others = [await bed.askFor(2, 'test.boot'), await bed.askFor(3, 'test.boot')];
    await until(
      async () => begun,
      ({ length }) => length === slots.machine,
    );
    const running = await bed.rows(
      `select organization_id::int as id from jobs where state = 'running' order by organization_id`,
    );
    expect(running).toEqual([{ id: 1 }, { id: 1 }, { id: 2 }, { id: 3 }]);
    release.resolve();
    for (const id of [...many, ...others]) await bed.ended(id, 'done');
  });
});
