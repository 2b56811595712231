/** The page of a node that does not answer, and whose machines are made anew elsewhere, in a real browser. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { certificates } from '../test/clusters.ts';
import { runningVps } from '../test/orders.ts';
import { sql } from '../test/sql.ts';
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
  const { ours } = await certificates();
  // Nobody speaks to it, so what is asked of its members waits.
  const [row] = await sql<{ id: number }>(
    product,
    `with cluster as (insert into clusters (name, engine, location, endpoints, project, pool, bridge, fingerprint, certificate, credential,
         check_state, created_at)
       values ('ams1', 'incus', 'AMS', '{https://192.0.2.1:8443}', 'innkeeper', 'local', 'br0', repeat('5f', 32), $1, '', 'ok', now())
       returning id), members as (
     insert into nodes (name, location, cpu_cores, memory_mib, disk_gib, seen_at, created_at, cluster_id, member, reachable, capabilities)
     select 'ams1/' || member, 'AMS', 8, 65536, 1000, now(), now(), id, member, member <> 'n1', '{snapshots,backups,serial}'
     from cluster, unnest('{n1,n2}'::text[]) as member returning id, member)
     select max(id) filter (where member = 'n1')::int as id, max(id) filter (where member = 'n2')::int as other from members`,
    ours.certificate,
  );
  node = Number(row?.id);
  await sql(product, 'update machines set node_id = $1 where service_id = any($2)', node, [service, bare]);
  await sql(
    product,
    `insert into vps_snapshots (service_id, organization_id, name, kind, state, created_at, promised_gib, kept_on)
     select service_id, organization_id, 'backup-2026-01-31', 'backup', 'ready', '2026-01-31T03:00:00Z', 0,
       (select id from nodes where name = 'ams1/n2') from machines where service_id = $1`,
    service,
  );
}, 120_000);
afterEach(() => bed.closeWindows());
afterAll(() => bed?.close());

it('says of each machine which moment it goes back to or why it cannot, and begins once the name is typed', async () => {
  const { page, complaints } = await bed.openStaff();
  const dialog = page.getByRole('dialog');
  await page.goto(`/staff/nodes/${node}`);
  const row = page.getByRole('row', { name: new RegExp(String(service)) });
  await row.getByText('Can be made anew').waitFor();
  await row.getByText('ams1/n2').waitFor();
  await page
    .getByRole('row', { name: new RegExp(String(bare)) })
    .getByText('It has no backup')
    .waitFor();
  await row.getByRole('button', { name: 'Make anew elsewhere', exact: true }).click();
  const go = dialog.getByRole('button', { name: 'Make anew elsewhere', exact: true });
  expect(await go.isDisabled()).toBe(true);
  await dialog.getByRole('textbox').fill('ams1/n1');
  await go.click();
  await dialog.waitFor({ state: 'detached' });
  const read = async () =>
    (await bed.product.staff.get(`/staff/nodes/${node}/recovery`)).body.data.recovery.machines;
  await expect
    .poll(async () => (await read()).map(({ state }: { state: string }) => state).sort())
    .not.toContain('possible');
  expect(complaints()).toEqual([]);
});

it('breaks no rule of WCAG 2.2 AA and needs no moving sideways', { timeout: 120_000 }, async () => {
  expect(await lookAt(bed, [`/staff/nodes/${node}`])).toEqual([]);
});
