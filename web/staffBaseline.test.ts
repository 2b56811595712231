/** Pages by which staff says how servers of a profile have to be, and what becomes of one that differs, in a real browser. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { sql } from '../test/sql.ts';
import { lookAt, openStaffBed, type StaffBed } from './staffBed.ts';

let bed: StaffBed;
let [id, profileId] = [0, 0];

const observed = {
  ...{ firmware: '2.14.0', boot: 'uefi', bmc_firmware: '9.08' },
  disk_firmware: [{ model: 'MZQL2960HCJR', version: 'GDC5602Q' }],
  ...{ boot_order: ['disk', 'network'], bmc_users: [], cipher_suites: [3, 17], services: null },
};
const differences = ['its boot order is disk, network, and the baseline says network, disk'];

beforeAll(async () => {
  bed = await openStaffBed({ env: { HYPERVISOR: 'simulator' } });
  const { staff } = bed.product;
  const profile = await staff.post('/staff/server-profiles', { name: 'AX-16', threads: 16 });
  const server = await staff.post('/staff/servers', { name: 'ams2-07', serial: 'CZJ9380B7V' });
  [id, profileId] = [server.body.data.server.id, profile.body.data.profile.id];
  await sql(
    bed.product,
    `update servers set state = 'quarantined', reason = $2, profile_id = $3, observed = $4::jsonb, observed_at = created_at, differences = $5::jsonb where id = $1`,
    ...[id, 'it differs', profileId, JSON.stringify(observed), JSON.stringify(differences)],
  );
}, 120_000);
afterEach(() => bed.closeWindows());
afterAll(() => bed?.close());

const baseline = async () =>
  (await bed.product.staff.get(`/staff/server-profiles/${profileId}`)).body.data.profile.baseline;

it('writes one by hand, where nobody is somebody else than anybody', async () => {
  const { page, complaints } = await bed.openStaff();
  await page.goto('/staff/server-profiles');
  const form = page.getByRole('dialog');
  const save = async () => {
    await form.getByRole('button', { name: 'Baseline' }).click();
    await form.waitFor({ state: 'detached' });
  };
  await page.getByRole('row', { name: /AX-16/ }).getByRole('button', { name: 'Baseline' }).click();
  await form.getByLabel('Boot order').fill('network, disk');
  await form.getByLabel('Users of the BMC').fill('ADMIN operator\nthe other user');
  await form.getByLabel('Firmware of disks').fill('A: B: 1');
  await form.getByLabel('Cipher suites').fill('-');
  await save();
  await page.getByRole('row', { name: /AX-16.*Written by hand/ }).waitFor();
  const written = {
    ...{ firmware: null, boot: null, bmc_firmware: null, services: null },
    ...{
      boot_order: ['network', 'disk'],
      disk_firmware: [{ model: 'A: B', version: '1' }],
      cipher_suites: [],
    },
    bmc_users: [
      { name: 'ADMIN', access: 'operator' },
      { name: 'the other', access: 'user' },
    ],
  };
  expect(await baseline()).toEqual(written);
  // What is not touched stays as it was.
  await page.getByRole('row', { name: /AX-16/ }).getByRole('button', { name: 'Baseline' }).click();
  await form.getByLabel('Firmware of the BMC').fill('9.08');
  await save();
  expect(await baseline()).toEqual({ ...written, bmc_firmware: '9.08' });
  expect(complaints()).toEqual([]);
});

it('shows what differs, and takes the server as the baseline', async () => {
  const { page, complaints } = await bed.openStaff();
  await page.goto(`/staff/servers/${id}`);
  await page.getByText(differences[0] ?? '').waitFor();
  await page.getByRole('button', { name: 'Accept as baseline' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Accept as baseline' }).click();
  await page.getByRole('button', { name: 'Take as baseline' }).waitFor();
  expect(await baseline()).toEqual(observed);
  expect(complaints()).toEqual([]);
});

it('breaks no rule of WCAG 2.2 AA and needs no moving sideways', { timeout: 120_000 }, async () => {
  expect(await lookAt(bed, [`/staff/servers/${id}`, '/staff/server-profiles'])).toEqual([]);
});
