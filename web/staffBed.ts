import { Secret, TOTP } from 'otpauth';
import type { BrowserContextOptions } from 'playwright-core';
import type { TestOptions } from '../test/product.ts';
import { type Bed, openBed, type Visitor } from './testbed.ts';

/** A bed whose administrator has signed in once; what they sign in by is good for every window. */
export interface StaffBed extends Bed {
  /** The administrator's window. */
  openStaff(options?: BrowserContextOptions): Promise<Visitor>;
}

export async function openStaffBed(options: TestOptions = {}): Promise<StaffBed> {
  const bed = await openBed(options);
  const visitor = await bed.open();
  await signInStaff(bed, visitor);
  const storageState = await visitor.page.context().storageState();
  await bed.closeWindows();
  return { ...bed, openStaff: (window = {}) => bed.open({ storageState, ...window }) };
}

/** Signs the demonstration's administrator in by typing, as people do. */
export async function signInStaff({ product }: Bed, { page }: Visitor): Promise<void> {
  const { email, password, totp_secret: secret } = product.demo.staff;
  await page.goto('/');
  await page.getByLabel('E-mail address').fill(email);
  await page.locator('input[name=password]').fill(password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByLabel('Code').fill(new TOTP({ secret: Secret.fromBase32(secret) }).generate());
  await page.getByRole('button', { name: 'Go on' }).click();
  await page.locator('nav').first().waitFor({ state: 'attached' });
}

/** What runs where it should only be shown. */
export const hostile = '<img src=x onerror="document.title=1">"\'</td><script>document.title=2</script>{{t}}';

const corners = [
  {
    name: 'wide, light, English',
    viewport: { width: 1440, height: 900 },
    colorScheme: 'light',
    locale: 'en-GB',
  },
  {
    name: 'narrow, dark, German',
    viewport: { width: 320, height: 640 },
    colorScheme: 'dark',
    locale: 'de-DE',
  },
] as const;

/** What is wrong with pages of staff, in two opposite corners: rules that are broken, complaints, what runs that should not. */
export async function lookAt(bed: StaffBed, pages: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const corner of corners) {
    const language = corner.locale.slice(0, 2);
    await bed.product.staff.post('/dashboard/account/preferences', { language });
    const { page, ...visitor } = await bed.openStaff(corner);
    for (const where of pages) {
      await page.goto(where);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.locator('[aria-busy=true], .mantine-Skeleton-root').first().waitFor({ state: 'detached' });
      const isAlert = await page.getByRole('alert').count();
      const faults = [
        ...(await visitor.faults()),
        ...visitor.complaints(),
        ...(isAlert ? ['a refusal'] : []),
      ];
      if (/^\d$/.test(await page.title())) faults.push('something that was written ran');
      for (const fault of faults) found.push(`${corner.name}, ${where}: ${fault}`);
    }
    await bed.closeWindows();
  }
  await bed.product.staff.post('/dashboard/account/preferences', { language: 'en' });
  return found;
}
