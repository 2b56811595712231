/** The page of a node whose machines go to others of its cluster, in a real browser. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { certificates } from '../test/clusters.ts';
import { runningVps } from '../test/orders.ts';
import { sql } from '../test/sql.ts';
import { lookAt, openStaffBed, type StaffBed } from './staffBed.ts';

let bed: StaffBed;
let node: number;
let service: number;

beforeAll(async () => {
  bed = await openStaffBed();
  const { product } = bed;
  ({ serviceId: service } = await runningVps(product, product.customer));
  const { ours } = await certificates();
  // Nobody speaks to it, so what is asked of its member waits.
  const [row] = await sql<{ id: number }>(
    product,
    `with cluster as (insert into clusters (name, engine, location, endpoints, project, pool, bridge, fingerprint, certificate, credential,
         check_state, created_at)
       values ('ams1', 'incus', 'AMS', '{https://192.0.2.1:8443}', 'innkeeper', 'local', 'br0', repeat('5f', 32), $1, '', 'ok', now())
       returning id)
     insert into nodes (name, location, cpu_cores, memory_mib, disk_gib, seen_at, created_at, cluster_id, member)
     select 'ams1/n1', 'AMS', 8, 65536, 1000, now(), now(), id, 'n1' from cluster returning id::int as id`,
    ours.certificate,
  );
  node = Number(row?.id);
  await sql(product, 'update machines set node_id = $1 where service_id = $2', node, service);
}, 120_000);
afterEach(() => bed.closeWindows());
afterAll(() => bed?.close());

it('empties a node, shows how far each machine is, stops it, and has it take machines again', async () => {
  const { page, complaints } = await bed.openStaff();
  const dialog = page.getByRole('dialog');
  const press = async (name: string) => {
    await page.getByRole('button', { name, exact: true }).click();
    await dialog.getByRole('button', { name, exact: true }).click();
    await dialog.waitFor({ state: 'detached' });
  };
  await page.goto('/staff/nodes');
  await page.getByRole('link', { name: 'ams1/n1' }).click();
  await page.getByText('Its machines were never taken away from it.').waitFor();
  await page.getByRole('button', { name: 'Evacuate', exact: true }).click();
  await dialog.getByLabel('Shut down those that cannot move while they run').check();
  await dialog.getByRole('button', { name: 'Evacuate', exact: true }).click();
  const row = page.getByRole('row', { name: new RegExp(String(service)) });
  await row.getByText('Waits').waitFor();
  const read = async () =>
    (await bed.product.staff.get(`/staff/nodes/${node}/evacuation`)).body.data.evacuation;
  expect(await read()).toMatchObject({ state: 'running', cold: true, waiting: 1 });

  await press('Stop');
  await row.getByText('Staff stopped it before its turn').waitFor();
  expect(await read()).toMatchObject({ state: 'stopped', stay: 1 });
  await press('Restore');
  await page.getByText('Takes machines', { exact: true }).waitFor();
  expect((await bed.product.staff.get(`/staff/nodes/${node}`)).body.data.node.state).toBe('active');
  expect(complaints()).toEqual([]);
});

it('breaks no rule of WCAG 2.2 AA and needs no moving sideways', { timeout: 120_000 }, async () => {
  expect(await lookAt(bed, [`/staff/nodes/${node}`])).toEqual([]);
});
