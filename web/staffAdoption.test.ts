/** The page of a machine that a node has and the database does not know, in a real browser. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { HypervisorError } from '../src/drivers/hypervisor/index.ts';
import { runningVps } from '../test/orders.ts';
import { sql } from '../test/sql.ts';
import { lookAt, openStaffBed, type StaffBed } from './staffBed.ts';

let bed: StaffBed;
let service: number;
let later: number;
let nobodys: number;

beforeAll(async () => {
  bed = await openStaffBed();
  const { product } = bed;
  ({ serviceId: service } = await runningVps(product, product.customer));
  // A host beside it, to which nobody speaks, has what the machine has been since the backup that was restored.
  const rows = await sql<{ id: number; machine: string }>(
    product,
    `with node as (
       insert into nodes (name, location, cpu_cores, memory_mib, disk_gib, seen_at, created_at, state)
       select 'host-9', location, 8, 65536, 1000, now() + interval '1 day', now(), 'draining' from nodes returning id)
     insert into vps_unknown_machines (node_id, machine, service_id, addresses, found_at)
     select node.id, t.machine, t.service_id, '{}', now()
     from node, (values ('vps-' || $1::bigint || '-2', $1::bigint), ('vps-4242', 4242::bigint)) t (machine, service_id)
     returning id::int as id, machine`,
    service,
  );
  const of = (machine: string) => rows.find((row) => row.machine === machine)?.id ?? 0;
  [later, nobodys] = [of(`vps-${service}-2`), of('vps-4242')];
}, 120_000);
afterEach(() => bed.closeWindows());
afterAll(() => bed?.close());

it('is reached from what needs a person, says why it cannot be adopted, and adopts it once the silent node’s name is typed', async () => {
  const { page, complaints } = await bed.openStaff();
  const dialog = page.getByRole('dialog');
  const adopt = page.getByRole('button', { name: 'Adopt', exact: true });
  await page.goto('/staff');
  await page.locator(`a[href$="/staff/unknown-machines/${later}"]`).first().click();
  await page.getByRole('heading', { name: `vps-${service}-2` }).waitFor();
  await page
    .getByText(/runs on node-1, and may be what its customer uses now/)
    .first()
    .waitFor();
  expect(await adopt.isEnabled()).toBe(false);

  const { hypervisor } = bed.product;
  const { inspect } = hypervisor;
  hypervisor.inspect = async () => {
    throw new HypervisorError('host_not_ready', 'it is away', { waits: true });
  };
  await page.reload();
  await page.getByText('node-1 cannot say whether another copy runs there.').first().waitFor();
  await adopt.click();
  const go = dialog.getByRole('button', { name: 'Adopt', exact: true });
  expect(await go.isDisabled()).toBe(true);
  await dialog.getByRole('textbox').fill('node-1');
  await go.click();
  await page.waitForURL(`**/staff/services/${service}`);
  hypervisor.inspect = inspect;
  const [machine] = await sql<{ incarnation: number; node: string }>(
    bed.product,
    'select m.incarnation, n.name as node from machines m join nodes n on n.id = m.node_id where m.service_id = $1',
    service,
  );
  expect(machine).toEqual({ incarnation: 2, node: 'host-9' });
  expect(complaints()).toEqual([]);
});

it('says of one that is nobody’s that it is, and offers nothing', async () => {
  const { page, complaints } = await bed.openStaff();
  await page.goto(`/staff/unknown-machines/${nobodys}`);
  await page.getByText(/No service that the database knows has it/).waitFor();
  expect(await page.getByRole('button', { name: 'Adopt', exact: true }).count()).toBe(0);
  expect(complaints()).toEqual([]);
});

it('breaks no rule of WCAG 2.2 AA and needs no moving sideways', { timeout: 120_000 }, async () => {
  expect(await lookAt(bed, [`/staff/unknown-machines/${nobodys}`])).toEqual([]);
});
