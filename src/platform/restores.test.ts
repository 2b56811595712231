import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Context } from './context.ts';
import { fail } from './errors.ts';
import { watchCluster } from './installationCluster.ts';
import { type JobBed, jobBed, named } from './jobs/testbed.ts';
import { settleRestore } from './restores.ts';

let bed: JobBed;
beforeAll(async () => {
  bed = await jobBed();
});
afterAll(() => bed.close());

it('a restore is settled by one worker: what is begun after that is not held by another that started beside it', async () => {
  const saga = named('test.machine');
  const id = await bed.ask('test.machine');
  await bed.rows(
    'insert into restores (made_at, restored_at) values ($1, $1)',
    new Date(bed.clock.now().getTime() + 1_000),
  );
  const isHeld = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const first = settleRestore(bed.ctx, [saga], async () => {
    isHeld.resolve();
    await goOn.promise;
  });
  await isHeld.promise;
  expect(await bed.jobOf(id)).toMatchObject({ state: 'stuck' });
  let times = 0;
  let looks = 0;
  const hasTried = Promise.withResolvers<void>();
  const maybe: Context['db']['maybe'] = (asked, ...given) => {
    looks += 1;
    if (looks === 2) hasTried.resolve();
    return bed.ctx.db.maybe(asked, ...given);
  };
  const second = settleRestore({ ...bed.ctx, db: { ...bed.ctx.db, maybe } }, [saga], async () => {
    times += 1;
  });
  await hasTried.promise;
  // Staff retries what was held.
  await bed.rows(`update jobs set state = 'ready' where id = $1`, id);
  goOn.resolve();
  await Promise.all([first, second]);
  expect(times).toBe(0);
  expect(await bed.jobOf(id)).toMatchObject({ state: 'ready' });
  expect(await bed.rows('select from restores where settled_at is null')).toEqual([]);
});

it('a database that is away at the first look is not taken for one that does not tell where it is', async () => {
  const away = async () => {
    throw fail('unavailable');
  };
  const broken = { ...bed.ctx, db: { ...bed.ctx.db, one: away } };
  await expect(watchCluster(broken)).rejects.toMatchObject({ code: 'unavailable' });
  const forbidden = async () => {
    throw Object.assign(new Error('permission denied for function pg_control_system'), { code: '42501' });
  };
  const isWhereItWas = await watchCluster({ ...bed.ctx, db: { ...bed.ctx.db, one: forbidden } });
  expect(await isWhereItWas(bed.ctx)).toBe(true);
});
