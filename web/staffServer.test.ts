/** The page of a server in a rack, whose power staff switches and whose sensors staff reads, in a real browser. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { openBmcs, simulatedRack } from '../src/drivers/bmc/index.ts';
import { lookAt, openStaffBed, type StaffBed } from './staffBed.ts';

const rack = simulatedRack();
let bed: StaffBed;
let id: number;

beforeAll(async () => {
  bed = await openStaffBed({
    env: { HYPERVISOR: 'simulator' },
    drivers: { bmc: openBmcs({ rack, offForMs: 0 }) },
  });
  rack.put('192.0.2.107', {
    events: [
      {
        id: '1',
        at: new Date('2026-01-31T21:02:11Z'),
        subject: 'Power Unit #0x01',
        message: 'Power off/down',
      },
    ],
  });
  const { status, body } = await bed.product.staff.post('/staff/servers', {
    ...{ name: 'ams2-07', serial: 'CZJ9380B7V', macs: ['52:54:00:12:34:56'] },
    bmc: { kind: 'simulated', address: '192.0.2.107', user: 'root', password: 'factory-1' },
  });
  expect(status, JSON.stringify(body)).toBe(200);
  id = body.data.server.id;
}, 120_000);
afterEach(() => bed.closeWindows());
afterAll(() => bed?.close());

it('starts a server, takes its power away with force, and reads what its BMC measures and has noted', async () => {
  const { page, complaints } = await bed.openStaff();
  const power = page.getByText('Power', { exact: true }).locator('xpath=following-sibling::*[1]');
  await page.goto(`/staff/servers/${id}`);
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await expect.poll(() => power.innerText()).toBe('On');

  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('How', { exact: true }).selectOption('With force: its power goes at once');
  await dialog.getByRole('button', { name: 'Stop', exact: true }).click();
  await expect.poll(() => power.innerText()).toBe('Off');
  expect(rack.at('192.0.2.107')?.power).toBe('off');

  await page.getByText('Nothing was measured yet.').waitFor();
  await page.getByRole('button', { name: 'Read now', exact: true }).click();
  await page.getByRole('row', { name: /CPU Temp.*34 °C.*Fine/ }).waitFor();
  await page.getByRole('row', { name: /Power Unit #0x01.*Power off\/down/ }).waitFor();
  expect(complaints()).toEqual([]);
});

it('breaks no rule of WCAG 2.2 AA and needs no moving sideways', { timeout: 120_000 }, async () => {
  expect(await lookAt(bed, [`/staff/servers/${id}`])).toEqual([]);
});
