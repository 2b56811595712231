/** More than one page at once, and pages of somebody whose network or clock is not as it should be. */
import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { runningVps } from '../test/orders.ts';
import { newCustomer, newMember } from '../test/people.ts';
import { type Bed, forgetShown, holdShutdowns, openBed, signIn, signInAs } from './testbed.ts';

let bed: Bed;
beforeAll(async () => {
  bed = await openBed();
});
afterEach(() => bed.closeWindows());
afterAll(() => bed?.close());

/** A ticket of the demonstration's customer, by its short code. */
async function newTicket(): Promise<{ tid: string; subject: string; createdAt: string }> {
  const subject = `Read by several ${randomBytes(4).toString('hex')}`;
  const draft = { subject, department: 'support', priority: 'low', message: 'Hello' };
  const { body } = await bed.product.customer.post('/dashboard/tickets/create', draft);
  return { tid: body.data.ticket.tid, subject, createdAt: body.data.ticket.created_at };
}

const answer = async (tid: string, message: string) =>
  expect((await bed.product.staff.post(`/staff/tickets/${tid}/replies`, { message })).status).toBe(200);

describe('two tabs of a browser', () => {
  it('hear of everything by one stream, and whichever is closed, the other one goes on', async () => {
    const { tid, subject } = await newTicket();
    const { page: first, ...visitor } = await bed.open();
    const context = first.context();
    const holders: unknown[] = [];
    context.on('request', (request) => {
      if (request.url().includes('/dashboard/events')) holders.push(request.frame().page());
    });
    await signIn(bed, { page: first, ...visitor }, `/tickets/${tid}`);
    await first.getByRole('heading', { level: 1, name: subject }).waitFor();
    const second = await context.newPage();
    await second.goto(`/tickets/${tid}`);
    await second.getByRole('heading', { level: 1, name: subject }).waitFor();
    await answer(tid, 'Both hear of this.');
    for (const page of [first, second]) await page.getByText('Both hear of this.').waitFor();
    expect(holders).toEqual([first]);
    await first.close();
    await answer(tid, 'The one that is left hears of this.');
    await second.getByText('The one that is left hears of this.').waitFor();
    expect(holders).toEqual([first, second]);
    expect(visitor.complaints()).toEqual([]);
  });
});

describe('two people on the page of one machine', () => {
  it('see what either of them does begin and end, untouched', async () => {
    const { product } = bed;
    const { serviceId: id } = await runningVps(product, product.customer, { domain: 'shared.example.com' });
    const colleague = await newMember(product, product.demo.customer.organization_id, 'technical');
    const [mine, theirs] = [await bed.open(), await bed.open()];
    await signIn(bed, mine, `/services/${id}`);
    await theirs.page.goto(`/services/${id}`);
    await signInAs(theirs.page, colleague);
    const pages = [mine.page, theirs.page];
    for (const page of pages) await page.getByText('Running', { exact: true }).waitFor();
    const release = holdShutdowns(bed);
    await theirs.page.getByRole('button', { name: 'Stop', exact: true }).click();
    await theirs.page.getByRole('dialog').getByRole('button', { name: 'Stop', exact: true }).click();
    for (const page of pages) {
      await page.getByRole('status').filter({ hasText: '⟳ Stop' }).waitFor();
      // What cannot be done meanwhile says why.
      const restart = page.getByRole('button', { name: 'Restart', exact: true });
      await expect.poll(() => restart.getAttribute('aria-disabled')).toBe('true');
    }
    release();
    for (const page of pages) await page.getByText('Stopped', { exact: true }).waitFor();
    // A picture of the screen that is asked for while the machine goes off is refused, which is nobody's concern.
    const heard = [...mine.complaints(), ...theirs.complaints()];
    expect(heard.filter((line) => !/status of 409/.test(line))).toEqual([]);
  });
});

describe('a session that is ended from elsewhere', () => {
  it('is signed in to again in place, and what was typed is sent once', async () => {
    const person = await newCustomer(bed.product);
    const subject = `Typed before ${randomBytes(4).toString('hex')}`;
    const [here, elsewhere] = [await bed.open(), await bed.open()];
    await here.page.goto('/tickets/new');
    await signInAs(here.page, person);
    await here.page.getByRole('option', { name: 'Support' }).waitFor({ state: 'attached' });
    await here.page.getByLabel('Subject').fill(subject);
    await here.page.getByRole('textbox', { name: 'Message' }).fill('It was typed with care.');
    await elsewhere.page.goto('/account/security');
    await signInAs(elsewhere.page, person);
    const others = elsewhere.page.getByRole('table').getByRole('button', { name: 'Sign out', exact: true });
    await others.click();
    // Nobody touches the page: its stream ends with the session.
    const asked = here.page.getByRole('dialog', { name: 'Sign in' });
    await asked
      .getByText('Your session has ended. Sign in to go on: nothing that you typed is lost.')
      .waitFor();
    await asked.locator('input[name=password]').fill(person.password);
    await asked.getByRole('button', { name: 'Sign in', exact: true }).click();
    await asked.waitFor({ state: 'detached' });
    expect(await here.page.getByLabel('Subject').inputValue()).toBe(subject);
    await here.page.getByRole('button', { name: 'Send' }).click();
    await here.page.getByRole('heading', { level: 1, name: subject }).waitFor();
    const { body } = await person.get('/dashboard/tickets');
    expect(body.data.tickets).toHaveLength(1);
  });
});

describe('a clock that is wrong', () => {
  it.each([
    ['an hour ahead', 1],
    ['an hour behind', -1],
  ])('makes no time false and no news late: %s', async (_name, hours) => {
    const { tid, subject, createdAt } = await newTicket();
    const visitor = await bed.open({ timezoneId: 'Europe/Vienna' });
    const { page } = visitor;
    await page.clock.install({ time: Date.now() + hours * 3_600_000 });
    await signIn(bed, visitor, `/tickets/${tid}`);
    await page.getByRole('heading', { level: 1, name: subject }).waitFor();
    expect(Math.abs(Number(await page.evaluate('Date.now()')) - Date.now())).toBeGreaterThan(3_000_000);
    const said = new Intl.DateTimeFormat('en-GB', {
      ...({ dateStyle: 'medium', timeStyle: 'short', timeZone: 'Europe/Vienna' } as const),
    }).format(new Date(createdAt));
    await page.getByText(said).first().waitFor();
    await answer(tid, 'It is heard at once.');
    await page.getByText('It is heard at once.').waitFor();
    await page.reload();
    await page.getByText('It is heard at once.').waitFor();
    expect(await page.getByText('No connection.').count()).toBe(0);
    expect(visitor.complaints()).toEqual([]);
  });
});

describe('a slow network', () => {
  it('shows a list waiting in its final shape, and then what is in it', async () => {
    await runningVps(bed.product, bed.product.customer, { domain: 'slow.example.com' });
    const visitor = await bed.open();
    const { page, complaints } = visitor;
    await signIn(bed, visitor, '/account');
    await forgetShown(page);
    const devtools = await page.context().newCDPSession(page);
    await devtools.send('Network.enable');
    // What Chromium calls slow 3G: two seconds until anything comes, and then fifty kilobytes a second.
    await devtools.send('Network.emulateNetworkConditions', {
      ...{ offline: false, latency: 2_000, downloadThroughput: 50_000, uploadThroughput: 50_000 },
    });
    await page.goto('/services', { waitUntil: 'commit' });
    const head = page.getByRole('table').locator('thead');
    await page.locator('table[aria-busy=true]').waitFor();
    const waiting = await head.boundingBox();
    await page.getByRole('link', { name: 'slow.example.com' }).waitFor();
    const full = await head.boundingBox();
    expect(waiting).toMatchObject({ x: full?.x, y: full?.y, width: full?.width });
    expect(await page.getByRole('alert').count()).toBe(0);
    expect(complaints()).toEqual([]);
  });
});
