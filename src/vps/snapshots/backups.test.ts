import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runningVps } from '../../../test/orders.ts';
import { newCustomer } from '../../../test/people.ts';
import { startTestProduct, type TestProduct, until } from '../../../test/product.ts';
import { settled, sql } from '../../../test/sql.ts';

const hour = 3_600_000;
const day = 24 * hour;
const delaysMs = { keep: 0 };
let product: TestProduct;
let ids: number[];

const tonight = () => `backup-${product.clock.now().toISOString().slice(0, 10)}`;
const periodic = () => product.periodic('vps.backups');

async function underWay(): Promise<number> {
  const open = `select 1 from vps_actions where command = 'create_backup' and status in ('queued', 'running')`;
  return (await sql(product, open)).length;
}

async function backedUp(): Promise<number[]> {
  const ready = `select service_id from vps_snapshots where kind = 'backup' and state = 'ready' and name = $1`;
  const rows = await sql<{ service_id: number }>(product, ready, tonight());
  return rows.map((row) => row.service_id).sort((a, b) => a - b);
}

const allOf = (...some: number[]) => some.sort((a, b) => a - b);

beforeAll(async () => {
  product = await startTestProduct({ simulator: { delaysMs } });
  // An hour later is the same night, whenever the tests run.
  product.clock.travel(day - (product.clock.now().getTime() % day) + 12 * hour);
  ids = [];
  for (let number = 0; number < 6; number += 1) {
    const { serviceId } = await runningVps(product, product.customer);
    const auto_backup = { enabled: true, hour: 0, keep: 7 };
    await product.customer.patch(`/dashboard/service/${serviceId}/vps/settings`, { auto_backup });
    ids.push(serviceId);
  }
});
afterAll(() => product.stop());

describe('nightly backups', () => {
  it('have names that no snapshot of a customer gets', async () => {
    const vps = `/dashboard/service/${ids[0]}/vps`;
    const refused = await product.customer.post(`${vps}/snapshots`, { name: tonight() });
    expect([refused.status, refused.body.code]).toEqual([400, 'invalid_request']);
    expect(refused.body.details).toMatchObject([{ field: 'name', message: /^must not begin with backup-/ }]);
  });

  it('go on past machines that fail, and come back to those an hour later', async () => {
    const [well, alsoWell, ...failing] = ids as [number, number, ...number[]];
    // A snapshot of that name, from before such names were refused. Whoever was never backed up comes first.
    await sql(
      product,
      `insert into vps_snapshots (service_id, organization_id, name, state, created_at)
       select id, organization_id, $2, 'ready', now() from services where id = any($1)`,
      failing,
      tonight(),
    );
    await sql(product, `update machines set backed_up_at = '2000-01-01' where service_id = any($1)`, [
      well,
      alsoWell,
    ]);
    for (const _ of [1, 2, 3]) await periodic();
    await until(underWay, (count) => count === 0);
    expect(await backedUp()).toEqual(allOf(well, alsoWell));

    await sql(product, `delete from vps_snapshots where kind = 'snapshot'`);
    await periodic();
    expect(await underWay()).toBe(0);
    product.clock.travel(hour);
    await periodic();
    await until(underWay, (count) => count === 0);
    expect((await backedUp()).length).toBeGreaterThan(2);
  });

  it('are two at a time of one owner and four of a node, however often the periodic job comes', async () => {
    const settings = { auto_backup: { enabled: true, hour: 0, keep: 7 } };
    const others: number[] = [];
    for (const _ of [1, 2, 3]) {
      const other = await newCustomer(product, { creditMinor: 10_000 });
      const { serviceId } = await runningVps(product, other);
      await other.patch(`/dashboard/service/${serviceId}/vps/settings`, settings);
      others.push(serviceId);
    }
    await sql(product, 'update machines set backup_enabled = service_id = any($1)', [ids]);
    product.clock.travel(24 * hour);
    delaysMs.keep = 10_000;
    for (const _ of [1, 2, 3]) await periodic();
    expect(await underWay()).toBe(2);
    // Neighbours need not wait for them.
    await sql(product, 'update machines set backup_enabled = true');
    delaysMs.keep = 2_000;
    for (const _ of [1, 2, 3]) await periodic();
    expect(await underWay()).toBe(4);
    await until(
      async () => (await backedUp()).some((id) => others.includes(id)),
      (made) => made,
    );
    delaysMs.keep = 0;
    await expect
      .poll(
        async () => {
          await periodic();
          return backedUp();
        },
        { timeout: 60_000, interval: 200 },
      )
      .toEqual(allOf(...ids, ...others));
  }, 120_000);

  const attention = async () => (await product.staff.get('/staff/attention')).body.data;
  const late = async () =>
    (await attention()).concerns.filter(({ kind }: { kind: string }) => kind === 'backup.late');

  it('that are missed stand in staff’s list and in its figures, and leave them with the next good one', async () => {
    const [id = 0] = ids;
    await sql(product, 'update machines set backup_enabled = service_id = $1', id);
    expect(await late()).toEqual([]);
    product.clock.travel(37 * hour);
    expect(await late()).toMatchObject([
      { subject: { type: 'service', id }, message: expect.stringContaining('no nightly backup') },
    ]);
    expect((await attention()).house.backups).toEqual({ late: 1 });
    await periodic();
    await until(underWay, (count) => count === 0);
    expect(await late()).toEqual([]);
    product.clock.travel(60_000);
    expect((await attention()).house.backups).toEqual({ late: 0 });
  });

  it('are not missed by moving the hour, nor while the service was suspended', async () => {
    const [id = 0] = ids;
    const vps = `/dashboard/service/${id}/vps`;
    const move = (at: number) =>
      product.customer.patch(`${vps}/settings`, { auto_backup: { enabled: true, hour: at, keep: 7 } });
    await sql(product, 'update machines set backup_enabled = service_id = $1', id);
    await move(0);
    const untilMidnight = () => day - (product.clock.now().getTime() % day);
    product.clock.travel(untilMidnight() + hour / 12);
    await periodic();
    await expect.poll(backedUp).toEqual([id]);
    await move(23);
    product.clock.travel(46.5 * hour); // the next evening, an hour before its turn
    expect(await late()).toEqual([]);
    product.clock.travel(13 * hour);
    expect(await late()).toMatchObject([{ subject: { type: 'service', id } }]);

    const staff = (verb: string, body?: object) => product.staff.post(`/staff/services/${id}/${verb}`, body);
    expect((await staff('suspend', { reason: 'a question' })).status).toBe(200);
    await settled(product);
    product.clock.travel(5 * day);
    expect((await staff('unsuspend')).status).toBe(200);
    await settled(product);
    expect(await late()).toEqual([]);
    product.clock.travel(37 * hour);
    expect(await late()).toMatchObject([{ subject: { type: 'service', id } }]);
  });

  it('that failed take no place of one that is good, and go when there is a newer one', async () => {
    const [id = 0] = ids;
    const vps = `/dashboard/service/${id}/vps`;
    const settings = { auto_backup: { enabled: true, hour: 0, keep: 1 } };
    const copies = async () => {
      const rows = await sql<{ name: string; state: string }>(
        product,
        `select name, state from vps_snapshots where service_id = $1 and kind = 'backup' order by created_at`,
        id,
      );
      return rows.map(({ name, state }) => `${name} ${state}`);
    };
    const untilKept = (...kept: string[]) =>
      expect
        .poll(async () => {
          await periodic();
          return copies();
        })
        .toEqual(kept);
    expect((await product.customer.patch(`${vps}/settings`, settings)).status).toBe(200);
    const good = tonight();
    await untilKept(`${good} ready`);
    // As one is left that was being made when the product had to be restored.
    await sql(
      product,
      `insert into vps_snapshots (service_id, organization_id, name, kind, state, created_at)
       select id, organization_id, 'backup-later', 'backup', 'error', $2 from services where id = $1`,
      ...[id, product.clock.now()],
    );
    for (const _ of [1, 2]) await periodic();
    await until(underWay, (count) => count === 0);
    expect(await copies()).toEqual([`${good} ready`, 'backup-later error']);
    product.clock.travel(24 * hour);
    await untilKept(`${tonight()} ready`);
  });

  it('go for none that cannot be read now, and not at all while the node of their machine does not answer', async () => {
    const [, id = 0] = ids;
    const settings = { auto_backup: { enabled: true, hour: 0, keep: 1 } };
    await product.customer.patch(`/dashboard/service/${id}/vps/settings`, settings);
    await sql(product, `delete from vps_snapshots where service_id = $1`, id);
    const copies = async () => {
      await periodic();
      await settled(product);
      const rows = await sql<{ name: string }>(
        product,
        `select name from vps_snapshots where service_id = $1 and name in ('backup-old', 'backup-new') order by name`,
        id,
      );
      return rows.map(({ name }) => name);
    };
    const [silent] = await sql<{ id: number }>(
      product,
      `insert into nodes (name, location, cpu_cores, memory_mib, disk_gib, created_at, reachable)
       values ('silent', 'elsewhere', 1, 1, 1, now(), false) returning id::int as id`,
    );
    await sql(
      product,
      'update machines set backed_up_at = $2 where service_id = $1',
      id,
      product.clock.now(),
    );
    const keep = (name: string, hoursAgo: number, on: number | null) =>
      sql(
        product,
        `insert into vps_snapshots (service_id, organization_id, name, kind, state, created_at, kept_on)
         select id, organization_id, $2, 'backup', 'ready', $3, $4::bigint from services where id = $1`,
        ...[id, name, new Date(product.clock.now().getTime() - hoursAgo * hour), on],
      );
    // The newest lies on a node that does not answer: the one before it is all that there is.
    await keep('backup-old', 30, null);
    await keep('backup-new', 6, silent?.id ?? 0);
    expect(await copies()).toEqual(['backup-new', 'backup-old']);
    // It answers, but the machine's own does not.
    const answers = (where: string, is: boolean) =>
      sql(product, `update nodes set reachable = $1 where ${where}`, is);
    await answers(`name = 'silent'`, true);
    await answers(`name <> 'silent'`, false);
    expect(await copies()).toEqual(['backup-new', 'backup-old']);
    await answers('true', true);
    await expect.poll(copies).toEqual(['backup-new']);
    await sql(product, 'update vps_snapshots set kept_on = null');
    await sql(product, `delete from nodes where name = 'silent'`);
  });

  it('of a node that is away keep none of the others waiting, however many machines are there', async () => {
    const [id = 0] = ids;
    // 520 machines of 260 organizations, which were never backed up: they have waited longest.
    await sql(
      product,
      `with away as (insert into nodes (name, location, cpu_cores, memory_mib, disk_gib, created_at)
         values ('away', 'elsewhere', 1, 1, 1, now()) returning id),
       founded as (insert into organizations (id, name, created_at)
         select 7000000 + n, 'Away ' || n, now() from generate_series(1, 260) n),
       sold as (insert into services select (jsonb_populate_record(s, jsonb_build_object(
           'id', 8000000 + n, 'organization_id', 7000001 + n / 2, 'position', 1 + n % 2))).*
         from services s, generate_series(0, 519) n where s.id = $1)
       insert into machines select (jsonb_populate_record(m, jsonb_build_object(
           'service_id', 8000000 + n, 'organization_id', 7000001 + n / 2, 'node_id', away.id,
           'mac', '02ff0000' || lpad(to_hex(n), 4, '0'), 'backed_up_at', null))).*
       from machines m, away, generate_series(0, 519) n where m.service_id = $1`,
      id,
    );
    await sql(
      product,
      'update machines set backup_enabled = service_id = $1 or service_id between 8000000 and 8000519',
      id,
    );
    const hang = (count: number) =>
      sql(
        product,
        `insert into vps_actions (id, organization_id, service_id, command, status, initiator_type, created_at)
         select 9000000 + n, 7000001 + n, 8000000 + 2 * n, 'create_backup', 'running', 'system', now()
         from generate_series(1, $1::int) n`,
        count,
      );
    const isBackedUp = async () => {
      product.clock.travel(24 * hour);
      const made = async () => {
        await periodic();
        return backedUp();
      };
      await expect.poll(made, { timeout: 20_000, interval: 200 }).toEqual([id]);
    };
    await hang(4);
    await isBackedUp();
    // Room is left there, but all of them are one person's, who has their share.
    await sql(product, `delete from vps_actions where id between 9000001 and 9000004`);
    await sql(
      product,
      `insert into memberships (organization_id, user_id, role, joined_at)
       select o.id, m.user_id, 'owner', now() from organizations o, (select min(user_id) as user_id from memberships) m
       where o.id between 7000001 and 7000260`,
    );
    await hang(2);
    await isBackedUp();
  }, 60_000);
});
