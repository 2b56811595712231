/** The page of a host of our own whose machines go into a cluster, in a real browser. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { certificates } from '../test/clusters.ts';
import { runningVps } from '../test/orders.ts';
import { settled, sql } from '../test/sql.ts';
import { lookAt, openStaffBed, type StaffBed } from './staffBed.ts';

let bed: StaffBed;
let node: number;
let service: number;
let bare: number;

beforeAll(async () => {
  bed = await openStaffBed();
  const { product } = bed;
  ({ serviceId: service } = await runningVps(product, product.customer));
  ({ serviceId: bare } = await runningVps(product, product.customer));
  await product.customer.post(`/dashboard/service/${service}/vps/snapshots`, { name: 'mine' });
  await settled(product);
  const [own] = await sql<{ id: number }>(product, 'select id::int as id from nodes');
  node = Number(own?.id);
  const { ours } = await certificates();
  // Nobody speaks to it, so what is asked of its members waits.
  await sql(
    product,
    `with cluster as (insert into clusters (name, engine, location, endpoints, project, pool, bridge, fingerprint, certificate, credential,
         check_state, generation, fit_generation, created_at)
       select 'ams1', 'incus', location, '{https://192.0.2.1:8443}', 'innkeeper', 'local', 'br0', repeat('5f', 32), $1, '', 'ok', 1, 1, now()
       from nodes returning id, location), image as (
     insert into cluster_images (cluster_id, slug, state) select c.id, i.slug, 'ready' from cluster c, images i)
     insert into nodes (name, location, cpu_cores, memory_mib, disk_gib, seen_at, created_at, cluster_id, member, reachable, capabilities)
     select 'ams1/n1', location, 8, 65536, 1000, now(), now(), id, 'n1', true, '{snapshots,backups,serial}' from cluster`,
    ours.certificate,
  );
}, 120_000);
afterEach(() => bed.closeWindows());
afterAll(() => bed?.close());

it('says of each machine what it would lose, asks about copies, and begins', async () => {
  const { page, complaints } = await bed.openStaff();
  const dialog = page.getByRole('dialog');
  await page.goto(`/staff/nodes/${node}`);
  const row = page.getByRole('row', { name: new RegExp(String(service)) });
  await row.getByText(/Its 1 snapshot; .*The rescue system/).waitFor();
  await page
    .getByRole('row', { name: new RegExp(String(bare)) })
    .getByText('Can go')
    .waitFor();
  await row.getByRole('button', { name: 'Take there', exact: true }).click();
  await dialog.getByText('What the list names of their snapshots and backups is lost.').waitFor();
  await dialog.getByRole('checkbox').check();
  await dialog.getByRole('button', { name: 'Take there', exact: true }).click();
  await dialog.waitFor({ state: 'detached' });
  const read = async () =>
    (await bed.product.staff.get(`/staff/nodes/${node}/evacuation`)).body.data.evacuation;
  expect(await read()).toMatchObject({ kind: 'evacuate', cold: true, machines: [{ service_id: service }] });
  await page.getByRole('button', { name: 'Stop', exact: true }).waitFor();
  expect(complaints()).toEqual([]);
});

it('breaks no rule of WCAG 2.2 AA and needs no moving sideways', { timeout: 120_000 }, async () => {
  expect(await lookAt(bed, [`/staff/nodes/${node}`])).toEqual([]);
});
