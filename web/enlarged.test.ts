/** A few pages as those see them who enlarge twice and have colours of their own; `test:long` looks at all of them. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { runningVps } from '../test/orders.ts';
import { looksEnlarged } from './faults.ts';
import { openStaffBed, type StaffBed } from './staffBed.ts';
import { signIn } from './testbed.ts';

let bed: StaffBed;
beforeAll(async () => {
  bed = await openStaffBed();
});
afterEach(() => bed.closeWindows());
afterAll(() => bed?.close());

const eyes = { deviceScaleFactor: 2, forcedColors: 'active' } as const;

it('a customer reads their pages enlarged, in colours of their own', async () => {
  const { serviceId } = await runningVps(bed.product, bed.product.customer);
  const visitor = await bed.open(eyes);
  await signIn(bed, visitor);
  for (const where of ['/', '/order', `/services/${serviceId}`]) {
    await visitor.page.goto(where);
    await visitor.page.getByRole('heading', { level: 1 }).waitFor();
    await expect.poll(() => visitor.page.locator('[aria-busy=true], .mantine-Skeleton-root').count()).toBe(0);
    expect(await looksEnlarged(visitor.page), where).toEqual([]);
  }
});

it('staff reads lists of many columns enlarged, and how full a node is', async () => {
  const { page } = await bed.openStaff(eyes);
  for (const where of ['/staff', '/staff/people', '/staff/address-pools']) {
    await page.goto(where);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await expect.poll(() => page.locator('[aria-busy=true], .mantine-Skeleton-root').count()).toBe(0);
    expect(await looksEnlarged(page), where).toEqual([]);
  }
});
