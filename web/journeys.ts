import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import { HypervisorError } from '../src/drivers/hypervisor/index.ts';
import { addPasskeyDevice } from '../test/browser.ts';
import { orderVps, runningVps } from '../test/orders.ts';
import { newCustomer } from '../test/people.ts';
import type { Hands } from './hands.ts';
import { openStaffBed, type StaffBed } from './staffBed.ts';
import { type Bed, grantCredit, linkIn, type Visitor } from './testbed.ts';

/** A bed on which disks can be made to break. */
export interface JourneysBed extends StaffBed {
  diskFails: boolean;
}

export async function openJourneysBed(): Promise<JourneysBed> {
  const broken = () => new HypervisorError('disk_failed', 'the disk is broken', { permanent: true });
  const fate = { diskFails: false };
  const bed = await openStaffBed({
    simulator: { failure: (call) => (fate.diskFails && call === 'createDisk' ? broken() : null) },
  });
  return Object.assign(fate, bed, {
    open: patient(bed.open),
    openStaff: patient(bed.openStaff),
  });
}

/** A journey has many steps, on a machine that others may be using too: one of them may take its time. */
function patient(open: Bed['open']): Bed['open'] {
  return async (options) => {
    const visitor = await open(options);
    visitor.page.setDefaultTimeout(60_000);
    return visitor;
  };
}

interface Journey {
  name: string;
  go(bed: JourneysBed, hands: Hands): Promise<void>;
}

/** A word that no other try of a journey has. */
const newWord = () => randomBytes(4).toString('hex');

async function signIn({ press, type }: Hands, page: Page, person: { email: string; password: string }) {
  await type(page.getByLabel('E-mail address'), person.email);
  await type(page.locator('input[name=password]'), person.password);
  await press(page.getByRole('button', { name: 'Sign in', exact: true }));
}

async function openAs(
  bed: JourneysBed,
  hands: Hands,
  where: string,
  person: { email: string; password: string },
): Promise<Visitor> {
  const visitor = await bed.open(hands.window);
  await visitor.page.goto(where);
  await signIn(hands, visitor.page, person);
  await visitor.page.locator('nav').first().waitFor({ state: 'attached' });
  return visitor;
}

/** Nothing was complained of, and nothing has to be moved sideways or breaks a rule. */
async function look(...visitors: Visitor[]): Promise<void> {
  // A picture of the screen that is asked for while a machine boots or goes off is refused, which is nobody's concern.
  const isFault = (line: string) => !/status of 409/.test(line);
  for (const visitor of visitors)
    expect([...(await visitor.faults()), ...visitor.complaints().filter(isFault)]).toEqual([]);
}

async function payFromCredit({ press }: Hands, page: Page): Promise<void> {
  await press(page.getByRole('button', { name: /from credit$/ }));
  await page.getByText('Thank you, the invoice is paid.').waitFor();
}

const passkeys = '**/api/auth/passkeys/options';

/** What people do from its beginning to its end, by whatever hands. */
export const journeys = {
  registration: {
    name: 'somebody registers, signs in with a passkey, orders and pays, and has a machine',
    async go(bed, hands) {
      const { press, type } = hands;
      const visitor = await bed.open(hands.window);
      const { page } = visitor;
      const { devtools, authenticatorId } = await addPasskeyDevice(page);
      const answers = (enabled: boolean) =>
        devtools.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled });
      const person = { email: `${newWord()}@example.com`, password: 'seven green lanterns' };
      await page.goto('/register');
      await type(page.getByLabel('First name'), 'Zoe');
      await type(page.getByLabel('Last name'), 'Brand');
      await type(page.getByLabel('E-mail address'), person.email);
      await type(page.locator('input[name=password]'), person.password);
      await hands.choose(page.getByLabel('Country'), 'Austria');
      await press(page.getByRole('button', { name: 'Create account' }));
      await page.getByRole('heading', { name: 'Look into your mail' }).waitFor();
      await page.goto(await linkIn(bed, person.email, 'account.registered'));
      await press(page.getByRole('link', { name: 'Sign in' }));
      await signIn(hands, page, person);
      await page.getByRole('heading', { name: 'Overview' }).waitFor();

      await hands.goTo(page, 'Account');
      await hands.turnTo(page, 'Security');
      await press(page.getByRole('button', { name: 'Add a passkey' }));
      await page.getByText('Keep these recovery codes').waitFor();
      await answers(false);
      await press(page.getByRole('button', { name: 'Zoe Brand' }));
      await press(page.getByRole('menuitem', { name: 'Sign out' }));
      const withPasskey = page.getByRole('button', { name: 'Sign in with a passkey' });
      await withPasskey.waitFor();
      await page.route(
        passkeys,
        async (route) => {
          await answers(true);
          await route.continue();
        },
        { times: 1 },
      );
      await press(withPasskey);
      await page.getByRole('heading', { name: 'Overview' }).waitFor();

      await grantCredit(bed.product, person.email);
      const name = `${newWord()}.example.com`;
      await hands.goTo(page, 'Order');
      await type(page.getByLabel('Name', { exact: true }), name);
      await press(page.getByRole('button', { name: 'Make one up' }));
      await press(page.getByRole('button', { name: /^Order for / }));
      await page.waitForURL(/\/invoices\/\d+/);
      await payFromCredit(hands, page);
      await hands.goTo(page, 'Services');
      await press(page.getByRole('link', { name }));
      await page.getByText('Running', { exact: true }).waitFor();
      await look(visitor);
    },
  },
  invitation: {
    name: 'somebody is invited with a role, joins, and is told what the role may not do',
    async go(bed, hands) {
      const { press, type } = hands;
      const [host, invited] = [
        await newCustomer(bed.product, { creditMinor: 5_000 }),
        await newCustomer(bed.product),
      ];
      const domain = `${newWord()}.example.com`;
      await runningVps(bed.product, host, { domain });
      const owner = await openAs(bed, hands, '/organization/members', host);
      await type(owner.page.getByLabel('E-mail address'), invited.email);
      await hands.choose(owner.page.getByLabel('Role', { exact: true }), 'Technician');
      await press(owner.page.getByRole('button', { name: 'Invite', exact: true }));
      await owner.page.getByText(`A mail is on its way to ${invited.email}.`).waitFor();

      const guest = await bed.open(hands.window);
      const { page } = guest;
      await page.goto(await linkIn(bed, invited.email, 'member.invited'));
      await press(page.getByRole('link', { name: 'Sign in' }));
      await signIn(hands, page, invited);
      await press(page.getByRole('button', { name: 'Accept' }));
      await press(page.getByRole('link', { name: 'Go to the overview' }));
      // Untouched: the owner's page has heard of it.
      await owner.page.getByText('No invitation waits for an answer.').waitFor();

      await press(page.getByRole('link', { name: domain }).first());
      await page.getByRole('heading', { level: 1, name: domain }).waitFor();
      await hands.turnTo(page, 'Contract');
      await hands.ask(page.getByRole('button', { name: 'Renew now' }));
      await page.getByRole('tooltip').filter({ hasText: 'Your role does not allow this.' }).waitFor();
      await look(owner, guest);
    },
  },
  ticket: {
    name: 'a ticket with a file goes to staff, whose answer is on the page that was left open',
    async go(bed, hands) {
      const { press, type } = hands;
      const person = await newCustomer(bed.product);
      const subject = `Slow since ${newWord()}`;
      const customer = await openAs(bed, hands, '/tickets', person);
      const { page } = customer;
      await press(page.getByRole('link', { name: 'New ticket' }).first());
      await page.getByRole('option', { name: 'Support' }).waitFor({ state: 'attached' });
      await type(page.getByLabel('Subject'), subject);
      await type(page.getByRole('textbox', { name: 'Message' }), 'See the trace.');
      const file = { name: 'trace.txt', mimeType: 'text/plain', buffer: Buffer.from('12 hops\n') };
      await hands.attach(page.locator('input[type=file]'), file);
      await press(page.getByRole('button', { name: 'Send' }));
      await page.getByRole('heading', { level: 1, name: subject }).waitFor();

      const staff = await bed.openStaff(hands.window);
      await staff.page.goto('/staff');
      await staff.page.getByRole('heading', { level: 1 }).waitFor();
      await hands.goTo(staff.page, 'Ticket queue');
      await press(staff.page.getByRole('link', { name: subject }));
      const saving = staff.page.waitForEvent('download');
      await press(staff.page.getByRole('button', { name: /^trace\.txt/ }));
      expect(await readFile(await (await saving).path(), 'utf8')).toBe('12 hops\n');
      await type(staff.page.getByLabel('Your answer, which the customer gets'), 'A cable was loose.');
      await press(staff.page.getByRole('button', { name: 'Send the answer' }));

      await page.getByText('A cable was loose.').waitFor();
      await page.getByText('Answered', { exact: true }).waitFor();
      await look(customer, staff);
    },
  },
  renewal: {
    name: 'a machine is renewed and paid, and is then paid for longer',
    async go(bed, hands) {
      const { press } = hands;
      const person = await newCustomer(bed.product, { creditMinor: 10_000 });
      const { serviceId } = await runningVps(bed.product, person, { domain: `${newWord()}.example.com` });
      const paidUntil = async () =>
        Date.parse((await person.get(`/dashboard/services/${serviceId}`)).body.data.service.duedate);
      const before = await paidUntil();
      const visitor = await openAs(bed, hands, `/services/${serviceId}`, person);
      const { page } = visitor;
      await hands.turnTo(page, 'Contract');
      await hands.pick(page.getByRole('radio', { name: /^Every three months/ }));
      await press(page.getByRole('button', { name: 'Renew now' }));
      await page.waitForURL(/\/invoices\/\d+/);
      await payFromCredit(hands, page);
      await expect.poll(paidUntil).toBeGreaterThan(before);
      await look(visitor);
    },
  },
  impersonation: {
    name: 'staff sees what a customer sees under a banner that says so, and is themselves again',
    async go(bed, hands) {
      const { press, type } = hands;
      const person = await newCustomer(bed.product, { creditMinor: 5_000 });
      const domain = `${newWord()}.example.com`;
      await runningVps(bed.product, person, { domain });
      const staff = await bed.openStaff(hands.window);
      const { page } = staff;
      await page.goto('/staff');
      await page.getByRole('heading', { level: 1 }).waitFor();
      await hands.goTo(page, 'People');
      await type(page.getByLabel('Search'), person.email);
      await press(page.getByRole('link', { name: person.email }));
      await press(page.getByRole('button', { name: 'See what they see' }));
      const dialog = page.getByRole('dialog');
      await type(dialog.getByLabel('Reason'), 'Ticket a1b2c3d4');
      await press(dialog.getByRole('button', { name: 'See what they see' }));
      await page.getByText(`You see what ${person.email} sees, until`).waitFor();
      await page.getByRole('link', { name: domain }).first().waitFor();
      await press(page.getByRole('button', { name: 'End it' }));
      await page.getByRole('button', { name: 'See what they see' }).waitFor();
      await look(staff);
    },
  },
  repair: {
    name: 'what could not be built is tried again by staff, and turns green on the page that was left open',
    async go(bed, hands) {
      const { press } = hands;
      const person = await newCustomer(bed.product, { creditMinor: 5_000 });
      const domain = `${newWord()}.example.com`;
      const { invoiceId, serviceId } = await orderVps(bed.product, person, { domain });
      const customer = await openAs(bed, hands, `/services/${serviceId}`, person);
      bed.diskFails = true;
      try {
        await person.post(`/dashboard/invoices/${invoiceId}/pay`, { method: 'credit' });
        const failed = customer.page.getByText('It could not be built. We know about it and look after it.');
        await failed.waitFor();
        bed.diskFails = false;
        const staff = await bed.openStaff(hands.window);
        await staff.page.goto('/staff');
        await staff.page.getByRole('heading', { level: 1 }).waitFor();
        await hands.goTo(staff.page, 'Services');
        await press(staff.page.getByRole('link', { name: domain }));
        await press(staff.page.getByRole('button', { name: 'Try again' }));
        await customer.page.getByText('Running', { exact: true }).waitFor();
        await failed.waitFor({ state: 'detached' });
        await look(customer, staff);
      } finally {
        bed.diskFails = false;
      }
    },
  },
} as const satisfies Record<string, Journey>;
