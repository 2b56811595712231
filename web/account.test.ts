/** Organization, account and keys in a real browser, against the product itself. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { newMember } from '../test/people.ts';
import { type Bed, openBed, signIn, type Visitor } from './testbed.ts';

let bed: Bed;
beforeAll(async () => {
  bed = await openBed();
});
afterEach(() => bed.closeWindows());
afterAll(() => bed?.close());

const ofOrganization = (rest = '') =>
  `/dashboard/organizations/${bed.product.demo.customer.organization_id}${rest}`;

async function invitationsOf() {
  const { body } = await bed.product.customer.get(ofOrganization('/invitations'));
  return body.data.invitations as { email: string; role: string }[];
}

describe('an organization', () => {
  it('gets another name, which the menu knows', async () => {
    const visitor = await bed.open();
    const { page } = visitor;
    await signIn(bed, visitor, '/organization');
    await page.getByLabel('Name', { exact: true }).first().fill('Novak & Daughters');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.').waitFor();
    await page.getByRole('heading', { level: 1, name: 'Novak & Daughters' }).waitFor();
    const { body } = await bed.product.customer.get(ofOrganization());
    expect(body.data.organization.name).toBe('Novak & Daughters');
    expect(visitor.complaints()).toEqual([]);
  });

  it('invites somebody, asks again, and takes it back', async () => {
    const visitor = await bed.open();
    const { page } = visitor;
    await signIn(bed, visitor, '/organization/members');
    await page.getByLabel('E-mail address').fill('carla@example.com');
    await page.getByLabel('Role', { exact: true }).selectOption('technical');
    await page.getByRole('button', { name: 'Invite', exact: true }).click();
    await page.getByText('A mail is on its way to carla@example.com.').waitFor();
    expect(await invitationsOf()).toMatchObject([{ email: 'carla@example.com', role: 'technical' }]);
    await page.getByRole('button', { name: 'Send again to carla@example.com' }).click();
    await page.getByRole('button', { name: 'Withdraw the invitation of carla@example.com' }).click();
    await page.getByText('No invitation waits for an answer.').waitFor();
    expect(await invitationsOf()).toEqual([]);
    expect(visitor.complaints()).toEqual([]);
  });

  it('says what each role may do, and gives a member another one', async () => {
    const { organization_id: id } = bed.product.demo.customer;
    const member = await newMember(bed.product, id, 'viewer');
    const visitor = await bed.open();
    const { page } = visitor;
    await signIn(bed, visitor, '/organization/members');
    const technician = page.getByRole('row', { name: /^Technician/ });
    await technician.getByText('Start and stop machines').waitFor();
    expect(await technician.getByText('Invite, change').count()).toBe(0);
    const row = page.getByRole('row').filter({ hasText: member.email });
    await row.getByRole('combobox').selectOption('billing');
    await page.getByRole('dialog').getByRole('button', { name: 'Change role' }).click();
    await expect
      .poll(
        async () => (await bed.product.customer.get(ofOrganization(`/members/${member.userId}`))).body.data,
      )
      .toMatchObject({ member: { role: 'billing' } });
    await row.getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await row.waitFor({ state: 'detached' });
    const left = await bed.product.customer.get(ofOrganization(`/members/${member.userId}`));
    expect(left.status).toBe(404);
  });

  it('shows what happened, and of one kind alone', async () => {
    await bed.product.customer.patch(ofOrganization(), { name: 'Novak Labs' });
    const visitor = await bed.open();
    const { page } = visitor;
    await signIn(bed, visitor, '/organization/activity');
    await page.getByRole('button', { name: 'organization_updated' }).first().click();
    await page.waitForURL(/action=organization_updated/);
    await page.getByText('Shown: organization_updated alone').waitFor();
    const actions = page.locator('tbody button');
    await expect
      .poll(async () => new Set(await actions.allInnerTexts()))
      .toEqual(new Set(['organization_updated']));
    await page.getByRole('button', { name: 'Show all' }).click();
    await expect.poll(async () => new Set(await actions.allInnerTexts()).size).toBeGreaterThan(1);
  });
});

const pages = ['/organization', '/organization/members', '/organization/activity'];
const corners = [
  { name: 'wide, light, English', viewport: { width: 1440, height: 900 }, colorScheme: 'light' },
  { name: 'narrow, dark, German', viewport: { width: 320, height: 640 }, colorScheme: 'dark' },
] as const;

describe('each of these pages', () => {
  it.each(corners)('breaks no rule of WCAG 2.2 AA and needs no moving sideways: $name', async (corner) => {
    const { customer } = bed.product;
    await customer.post(ofOrganization('/invitations'), {
      ...{ email: `${'long'.repeat(12)}@${'very-long-name'.repeat(3)}.example.com`, role: 'viewer' },
    });
    await customer.post('/dashboard/account/preferences', {
      language: corner.name.endsWith('German') ? 'de' : 'en',
    });
    const visitor = await bed.open(corner);
    await signIn(bed, visitor);
    const found: string[] = [];
    for (const where of pages) found.push(...(await look(visitor, where)));
    await customer.post('/dashboard/account/preferences', { language: 'en' });
    expect(found).toEqual([]);
  });
});

async function look({ page, faults, complaints }: Visitor, where: string): Promise<string[]> {
  await page.goto(where);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await expect
    .poll(() => page.locator('[aria-busy=true], .mantine-Skeleton-root').count(), { timeout: 20_000 })
    .toBe(0);
  const { WEB_SHOTS: shots } = process.env;
  if (shots) {
    const name = `${page.viewportSize()?.width}${where.replaceAll('/', '-')}.png`;
    await page.screenshot({ path: `${shots}/${name}`, fullPage: true });
  }
  return [...(await faults()), ...complaints()].map((fault) => `${where}: ${fault}`);
}
