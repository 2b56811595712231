import { randomUUID } from 'node:crypto';
/** The dashboard in a real browser, against the product itself. */
import { readFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { newInvoice } from '../test/invoices.ts';
import { orderVps, runningVps } from '../test/orders.ts';
import { newCustomer } from '../test/people.ts';
import { sql } from '../test/sql.ts';
import { type Bed, forgetShown, linkIn, openBed, signIn, signInAs } from './testbed.ts';

const hostile = '<img src=x onerror="document.title=1"> "</script><script>document.title=2</script>';

let bed: Bed;
beforeAll(async () => {
  bed = await openBed();
});
afterEach(() => bed.closeWindows());
afterAll(() => bed?.close());

describe('whoever is not signed in', () => {
  it('registers, confirms the address by the mail, signs in and finds an overview', async () => {
    const { page, complaints } = await bed.open();
    await page.goto('/register');
    await page.getByLabel('First name').fill('Zoë');
    await page.getByLabel('Last name').fill('Brand');
    await page.getByLabel('E-mail address').fill('zoe@example.com');
    await page.locator('input[name=password]').fill('seven green lanterns');
    await page.getByLabel('Country').selectOption({ label: 'Austria' });
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByRole('heading', { name: 'Look into your mail' }).waitFor();
    // They went through the whole form for one wrong letter; another mail is one press away.
    await page.getByRole('button', { name: 'I mistyped the address' }).click();
    expect(await page.getByLabel('Last name').inputValue()).toBe('Brand');
    await page.locator('input[name=password]').fill('seven green lanterns');
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByRole('button', { name: 'Send the mail again' }).click();
    await page.getByText('A mail is on its way.').waitFor();
    const link = await linkIn(bed, 'zoe@example.com', 'account.registered');
    await page.goto('/sign-in');
    await page.getByLabel('E-mail address').fill('zoe@example.com');
    await page.locator('input[name=password]').fill('seven green lanterns');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByText('or the address is not confirmed yet').waitFor();
    await page.getByRole('button', { name: 'Send the mail again' }).click();
    await page.getByText('A mail is on its way.').waitFor();
    expect(complaints()).toEqual([expect.stringContaining('401')]);
    await page.goto(link);
    await page.getByRole('heading', { name: 'Your address is confirmed' }).waitFor();
    expect(page.url()).not.toContain('token');
    const again = await bed.open();
    await again.page.goto(link);
    await again.page.getByRole('heading', { name: 'This link no longer works' }).waitFor();
    await again.page.getByRole('link', { name: 'Sign in' }).waitFor();
    await page.getByRole('link', { name: 'Sign in' }).click();
    await page.getByLabel('E-mail address').fill('zoe@example.com');
    await page.locator('input[name=password]').fill('seven green lanterns');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.getByText('No services yet.').waitFor();
    expect(complaints()).toEqual([]);
  });

  it('is told what is wrong, keeps what was typed, and goes on where they wanted to go', async () => {
    const { page } = await bed.open();
    await page.goto('/billing?status=unpaid');
    await page.getByLabel('E-mail address').fill(bed.product.demo.customer.email);
    await page.locator('input[name=password]').fill('not my password');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('alert').waitFor();
    expect(await page.getByLabel('E-mail address').inputValue()).toBe(bed.product.demo.customer.email);
    await page.locator('input[name=password]').fill(bed.product.demo.customer.password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('heading', { name: 'Billing' }).waitFor();
    expect(new URL(page.url()).search).toBe('?status=unpaid');
  });

  it('is never sent to another host after signing in', async () => {
    for (const next of ['//evil.example', 'https://evil.example', '/\\evil.example']) {
      const visitor = await bed.open();
      await signIn(bed, visitor, `/sign-in?next=${encodeURIComponent(next)}`);
      expect(new URL(visitor.page.url()).origin).toBe(new URL(bed.url).origin);
    }
  });

  it.each([
    ...['/verify-email', '/reset-password', '/confirm-email-change', '/revoke-email-change'],
    ...['/keep-second-factor', '/ticket-feedback', '/invitation'],
  ])('finds a page at %s, where mails lead, also when the link is cut off', async (where) => {
    const { page } = await bed.open();
    await page.goto(where);
    await page.getByRole('heading', { name: 'This link is incomplete' }).waitFor();
    await page.getByRole('link', { name: 'Go to the dashboard' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  });

  it('has another link sent where one to set a password no longer works', async () => {
    const { page } = await bed.open();
    await page.goto('/reset-password?token=0vX2m7Qy1cZ8sTtW5nB4kLhE9uRfJpGaDdYxKiMoQwA');
    await page.locator('input[name=password]').fill('seven green lanterns');
    await page.getByRole('button', { name: 'Set password' }).click();
    await page.getByRole('heading', { name: 'This link no longer works' }).waitFor();
    await page.getByRole('link', { name: 'Send the link' }).click();
    await page.getByLabel('E-mail address').fill('nobody@example.com');
    await page.getByRole('button', { name: 'Send the link' }).click();
    await page.getByRole('button', { name: 'Send it again, or to another address' }).waitFor();
    await page.getByRole('link', { name: 'Back to signing in' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  });

  it('comes by a mail to what it is about, also of another organization than they looked at last', async () => {
    const [one, other] = [await newCustomer(bed.product), await newCustomer(bed.product)];
    await sql(
      bed.product,
      `insert into memberships (organization_id, user_id, role, joined_at) values ($1, $2, 'billing', now())`,
      ...[other.organizationId, one.userId],
    );
    const invoiceId = await newInvoice(bed.product, other);
    const { page } = await bed.open();
    await page.goto('/');
    await signInAs(page, one);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    const chosen = () => page.evaluate(`localStorage.getItem('innkeeper.organization')`);
    expect(await chosen()).toBe(String(one.organizationId));
    await page.goto(`/invoices/${invoiceId}?organization=${other.organizationId}`);
    await page.getByRole('heading', { name: `Invoice ${invoiceId}` }).waitFor();
    expect(new URL(page.url()).search).toBe('');
    // To what they belong no more, or never did, nobody is led.
    await page.goto('/billing?organization=4242');
    await page.getByRole('heading', { name: 'Billing' }).waitFor();
    expect(await chosen()).toBe(String(other.organizationId));
  });
});

describe('a customer', () => {
  it('sees a machine stop that was stopped by a press, and start that somebody else started', async () => {
    const { serviceId } = await runningVps(bed.product, bed.product.customer, {
      domain: 'live.example.com',
    });
    const visitor = await bed.open();
    const { page } = visitor;
    await signIn(bed, visitor, `/services/${serviceId}`);
    await page.getByRole('heading', { name: 'live.example.com' }).waitFor();
    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Stop', exact: true }).click();
    await page.getByText('Stopped', { exact: true }).waitFor();
    await bed.product.customer.post(`/dashboard/service/${serviceId}/vps/start`, {});
    await page.getByText('Running', { exact: true }).waitFor();
    expect(visitor.complaints()).toEqual([]);
  });

  it('sees what changed after the page was read and before it followed what happens', async () => {
    const { body } = await bed.product.customer.post('/dashboard/tickets/create', {
      ...{ subject: 'Still open', department: 'support', priority: 'low', message: 'Hello' },
    });
    const { tid } = body.data.ticket;
    const visitor = await bed.open();
    const { page } = visitor;
    const { promise: changed, resolve: follow } = Promise.withResolvers<void>();
    await page.route('**/api/dashboard/events*', async (route) => {
      await changed;
      await route.continue();
    });
    await signIn(bed, visitor, `/tickets/${tid}`);
    await page.getByText('Hello', { exact: true }).waitFor();
    await bed.product.staff.post(`/staff/tickets/${tid}/replies`, { message: 'Already answered' });
    follow();
    await page.getByText('Already answered').waitFor();
  });

  it.each([
    { name: 'is told of', isLate: false },
    { name: 'has read anew, where the account took long,', isLate: true },
  ])(
    '$name what changed after the list was read and before the account said from where news is told',
    async ({ isLate }) => {
      const domain = `beside-${randomUUID()}.example.com`;
      const visitor = await bed.open();
      const { page } = visitor;
      // What the page before has asked for is not what is looked at.
      const listed = page.waitForResponse(/services\?limit=50/);
      await signIn(bed, visitor, '/services');
      await listed;
      await page.getByRole('heading', { level: 1, name: 'Services' }).waitFor();
      const { promise: changed, resolve: goOn } = Promise.withResolvers<void>();
      await page.route('**/api/dashboard/account', async (route) => {
        await changed;
        await route.continue();
      });
      // What is told helps nobody who has to read anew.
      if (isLate) await page.route('**/api/dashboard/events**', () => new Promise(() => undefined));
      const asked: string[] = [];
      page.on('request', (request) => {
        if (request.url().includes('/services?limit')) asked.push(request.url());
      });
      await forgetShown(page);
      const read = page.waitForResponse(/services\?limit=50/);
      await page.goto('/services', { waitUntil: 'commit' });
      // Its answer begins once it was read.
      await read;
      const readAt = (await page.evaluate('performance.now()')) as number;
      await orderVps(bed.product, bed.product.customer, { domain });
      if (isLate) await expect.poll(() => page.evaluate('performance.now()')).toBeGreaterThan(readAt + 2_100);
      goOn();
      await page.getByRole('link', { name: domain }).waitFor();
      // A third time where the page before still has the stream's lock: who is second reads all anew.
      if (isLate) expect(asked.length).toBeGreaterThanOrEqual(2);
      await page.unrouteAll({ behavior: 'ignoreErrors' });
    },
  );

  it('reads for the organization that is theirs, whichever was shown here last', async () => {
    const visitor = await bed.open();
    const { page } = visitor;
    await signIn(bed, visitor, '/services');
    await page.getByRole('heading', { level: 1, name: 'Services' }).waitFor();
    const theirs = await page.evaluate("localStorage.getItem('innkeeper.organization')");
    const domain = 'theirs.example.com';
    await orderVps(bed.product, bed.product.customer, { domain });
    // As of somebody who was taken out of it meanwhile.
    await page.evaluate("localStorage.setItem('innkeeper.organization', '4503599627370111')");
    await page.reload();
    await page.getByRole('link', { name: domain }).waitFor();
    expect(await page.evaluate("localStorage.getItem('innkeeper.organization')")).toBe(theirs);
  });

  it('sees in a second tab what changed before that tab heard of anything', async () => {
    const visitor = await bed.open();
    await signIn(bed, visitor, '/services');
    await visitor.page.getByRole('heading', { level: 1, name: 'Services' }).waitFor();
    const second = await visitor.page.context().newPage();
    const { promise: ordered, resolve: goOn } = Promise.withResolvers<void>();
    // The first script has asked for the list, and the others are still on their way.
    await second.route(/\/assets\/.*\.js$/, async (route) => {
      if (!/start/.test(route.request().url())) await ordered;
      await route.continue();
    });
    await forgetShown(second);
    const asked = second.waitForResponse(/services\?limit=50/);
    await second.goto('/services', { waitUntil: 'commit' });
    await asked;
    await orderVps(bed.product, bed.product.customer, { domain: 'between.example.com' });
    await visitor.page.getByRole('link', { name: 'between.example.com' }).waitFor();
    goOn();
    await second.getByRole('link', { name: 'between.example.com' }).waitFor();
  });

  it('is told by a button that is not allowed why, by keyboard too', async () => {
    const { serviceId } = await runningVps(bed.product, bed.product.customer, {
      domain: 'why.example.com',
    });
    const visitor = await bed.open();
    await signIn(bed, visitor, `/services/${serviceId}`);
    const start = visitor.page.getByRole('button', { name: 'Start', exact: true });
    await start.waitFor();
    await visitor.page.keyboard.press('Tab');
    await start.focus();
    await visitor.page.getByRole('tooltip').waitFor();
    expect(await visitor.page.getByRole('tooltip').innerText()).toContain('running');
  });

  it('pays an invoice from credit', async () => {
    const { invoiceId } = await orderVps(bed.product, bed.product.customer, { domain: 'pay.example.com' });
    const visitor = await bed.open();
    await signIn(bed, visitor, `/invoices/${invoiceId}`);
    await visitor.page.getByRole('button', { name: /from credit$/ }).click();
    await visitor.page.getByText('Thank you, the invoice is paid.').waitFor();
    await visitor.page.getByText('Paid', { exact: true }).waitFor();
    const { body } = await bed.product.customer.get(`/dashboard/invoices/${invoiceId}`);
    expect(body.data.invoice.status).toBe('paid');
  });

  it('writes a ticket, reads what staff answers untouched, and nothing that was written runs', async () => {
    const visitor = await bed.open();
    const { page } = visitor;
    await signIn(bed, visitor, '/tickets/new');
    await page.getByLabel('Subject').fill(hostile.slice(0, 60));
    await page.getByRole('textbox', { name: 'Message' }).fill(hostile);
    const file = { name: 'a trace.txt', mimeType: 'text/plain', buffer: Buffer.from('12 hops\n') };
    await page.locator('input[type=file]').setInputFiles(file);
    await page.getByRole('button', { name: 'Send' }).click();
    await page.waitForURL(/\/tickets\/(?!new)/);
    await page.getByText(hostile).waitFor();
    const saving = page.waitForEvent('download');
    await page.getByRole('button', { name: /trace.*\(8 byte\)/ }).click();
    expect(await readFile(await (await saving).path(), 'utf8')).toBe('12 hops\n');
    const tid = new URL(page.url()).pathname.split('/').at(-1);
    await bed.product.staff.post(`/staff/tickets/${tid}/replies`, { message: `Hello **Ada** ${hostile}` });
    await page.getByRole('listitem').getByText('Hello Ada').waitFor();
    expect(await page.title()).toContain('Innkeeper');
    expect(visitor.complaints()).toEqual([]);
  });

  it('whose session ended elsewhere signs in again and is back where they were', async () => {
    const visitor = await bed.open();
    await signIn(bed, visitor, '/tickets');
    await visitor.page.context().clearCookies();
    // The next thing that is asked tells, be it by this press or by what the page reads by itself.
    const billing = visitor.page.getByRole('link', { name: 'Billing' });
    await billing.click({ timeout: 2_000 }).catch(() => undefined);
    await visitor.page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await visitor.page.getByLabel('E-mail address').fill(bed.product.demo.customer.email);
    await visitor.page.locator('input[name=password]').fill(bed.product.demo.customer.password);
    await visitor.page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await visitor.page.getByRole('heading', { level: 1, name: /^(Billing|Tickets)$/ }).waitFor();
  });
});

describe('somebody in two organizations', () => {
  it('sees and writes for the one that is chosen, and nothing of the other one stays', async () => {
    const { email } = bed.product.demo.customer;
    const { body } = await bed.product.customer.post('/dashboard/organizations', { name: 'Second House' });
    expect(body.data.organization.name).toBe('Second House');
    await runningVps(bed.product, bed.product.customer, { domain: 'first.example.com' });
    const visitor = await bed.open();
    const { page } = visitor;
    await signIn(bed, visitor);
    await page.getByLabel('Organization').selectOption({ label: 'Second House' });
    await page.getByText('No services yet.').waitFor();
    expect(await page.getByLabel('Organization').locator('option:checked').innerText()).toBe('Second House');
    expect(await page.getByText('first.example.com').count()).toBe(0);
    await page.getByRole('link', { name: 'Tickets' }).click();
    await page.getByText('No tickets yet.').waitFor();
    expect([email, ...visitor.complaints()]).toEqual([email]);
  });
});

describe('somebody who is invited', () => {
  it('accepts after signing in, and acts for the organization; the token is in no address', async () => {
    const { organization_id: id } = bed.product.demo.other_customer;
    const { email } = bed.product.demo.customer;
    const invited = await bed.product.other.post(`/dashboard/organizations/${id}/invitations`, {
      email,
      role: 'technical',
    });
    expect(invited.status).toBe(200);
    const visitor = await bed.open();
    const { page } = visitor;
    await page.goto(await linkIn(bed, email, 'member.invited'));
    await page.getByRole('link', { name: 'Sign in' }).click();
    expect(page.url()).not.toContain('token');
    await page.getByLabel('E-mail address').fill(email);
    await page.locator('input[name=password]').fill(bed.product.demo.customer.password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('button', { name: 'Accept' }).click();
    await page.getByRole('link', { name: 'Go to the overview' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    // What a technician may not read has no place, and nothing is red.
    expect(await page.getByRole('link', { name: 'Billing' }).count()).toBe(0);
    expect(await page.getByRole('alert').count()).toBe(0);
  });
});

describe('what goes wrong', () => {
  it('is said where somebody writes, who is asked to sign in again when that is why', async () => {
    const visitor = await bed.open();
    const { page } = visitor;
    await signIn(bed, visitor, '/tickets/new');
    await page.getByLabel('Subject').fill('Hello');
    await page.getByRole('textbox', { name: 'Message' }).fill('Is anybody there?');
    await page.route('**/api/dashboard/tickets/create', (route) =>
      route.fulfill({
        status: 403,
        json: {
          ...{ success: false, error: 'Forbidden', message: 'Your role may not', code: 'permission_denied' },
          ...{ details: [{ field: 'x-organization-id', message: 'is one in which …' }], request_id: 'r-1' },
        },
      }),
    );
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('Your role does not allow this.').waitFor();
    expect(await page.getByRole('textbox', { name: 'Message' }).inputValue()).toBe('Is anybody there?');
    await page.unroute('**/api/dashboard/tickets/create');
    await page.context().clearCookies();
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  });

  it('leaves nobody to think that they are signed out', async () => {
    const visitor = await bed.open();
    const { page } = visitor;
    await signIn(bed, visitor);
    await page.route('**/api/auth/logout', (route) => route.abort());
    await page.getByRole('button', { name: 'Ada Novak' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByText('The server cannot be reached.').waitFor();
    await page.unroute('**/api/auth/logout');
    await page.getByRole('button', { name: 'Ada Novak' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.goto('/services');
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  });
});

describe('every page', { timeout: 240_000 }, () => {
  const corners = [
    { name: 'wide, light, English', viewport: { width: 1440, height: 900 }, colorScheme: 'light' },
    { name: 'narrow, dark, German', viewport: { width: 320, height: 640 }, colorScheme: 'dark' },
  ] as const;

  it.each(corners)('breaks no rule of WCAG 2.2 AA and needs no moving sideways: $name', async (corner) => {
    const { serviceId, invoiceId } = await runningVps(bed.product, bed.product.customer, {
      domain: 'very-long-name-of-a-machine-that-is-hard-to-break.example.com',
    });
    const draft = {
      subject: 'W'.repeat(100),
      department: 'support',
      priority: 'high',
      message: 'x'.repeat(900),
    };
    const { body } = await bed.product.customer.post('/dashboard/tickets/create', draft);
    const visitor = await bed.open(corner);
    const { page } = visitor;
    const found: string[] = [];
    const look = async (where: string) => {
      await page.goto(where);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await expect
        .poll(() => page.locator('[aria-busy=true], .mantine-Skeleton-root').count(), { timeout: 20_000 })
        .toBe(0);
      for (const fault of [...(await visitor.faults()), ...visitor.complaints()])
        found.push(`${where}: ${fault}`);
    };
    for (const where of ['/sign-in', '/register', '/forgot-password', '/reset-password?token=x', '/nowhere'])
      await look(where);
    await signIn(bed, visitor);
    if (corner.name.endsWith('German')) {
      await bed.product.customer.post('/dashboard/account/preferences', { language: 'de' });
    }
    const pages = ['/', '/services', `/services/${serviceId}`, '/billing', `/invoices/${invoiceId}`];
    for (const where of [
      ...pages,
      '/billing/payment-methods',
      '/tickets',
      '/tickets/new',
      '/account/security',
    ])
      await look(where);
    await look(`/tickets/${body.data.ticket.tid}`);
    expect(found).toEqual([]);
  });
});
