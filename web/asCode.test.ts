/** Forms as code: what they would ask, which really does it, and no secret in it. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { buildTool } from '../cli/build.ts';
import { Client } from '../client/index.ts';
import {
  asCurl,
  asTypeScript,
  type Call,
  callOf,
  noteLookedAt,
  send,
  withoutSecrets,
} from './src/data/asCode.ts';
import { asCommand } from './src/data/asCommand.ts';
import { type Bed, openBed, signIn } from './testbed.ts';

let bed: Bed;
beforeAll(async () => {
  bed = await openBed();
});
afterEach(() => bed.closeWindows());
afterAll(() => bed?.close());

it('shows what would be sent, sends nothing, and does the same when somebody runs it', async () => {
  const visitor = await bed.open();
  const { page } = visitor;
  await signIn(bed, visitor, '/tickets/new');
  const subject = `Shown as code, by "me" & 'you' $HOME ${randomBytes(6).toString('hex')}`;
  await page.getByLabel('Subject').fill(subject);
  await page.getByRole('textbox', { name: 'Message' }).fill('One line\nand another');
  await page.getByRole('button', { name: 'Show the API call' }).click();
  const shown = page.getByRole('dialog').locator('pre');
  await shown.first().waitFor();
  const [curl = '', command = '', typescript = ''] = await shown.allInnerTexts();
  expect(typescript).toContain('client.post("/dashboard/tickets/create"');
  expect(await visitor.faults()).toEqual([]);
  const titles = async () =>
    (await bed.product.customer.get('/dashboard/tickets')).body.data.tickets.map(
      (ticket: { subject: string }) => ticket.subject,
    );
  expect(await titles()).not.toContain(subject);
  const env = { ...process.env, INNKEEPER_API_KEY: bed.product.demo.customer.api_key };
  await promisify(execFile)('/bin/sh', ['-c', `${curl} -fsS`], { env });
  expect(await titles()).toContain(subject);
  expect(command).toMatch(/^inn tickets create \\\n/);
  const program = `inn() { '${process.execPath}' '${await buildTool()}' "$@"; }`;
  const shell = ['-c', `${program}\n${command}`];
  await promisify(execFile)('/bin/sh', shell, { env: { ...env, INNKEEPER_URL: bed.product.url } });
  expect((await titles()).filter((title: string) => title === subject)).toHaveLength(2);
  await page.keyboard.press('Escape');
  expect(await page.getByLabel('Subject').inputValue()).toBe(subject);
  expect(visitor.complaints()).toEqual([]);
});

it('names the places of a path, and leaves out what nobody else may read', () => {
  const call: Call = {
    ...{
      method: 'PATCH',
      path: '/dashboard/services/{id}',
      given: { id: '45' },
      organization: '4965573804380742',
    },
    ...{
      address: '/api/dashboard/services/45',
      body: { note: 'x', password: 'hidden', tags: [{ token: 'hidden' }] },
    },
  };
  for (const code of [
    asCurl(call, 'https://a.example'),
    asTypeScript(call, 'https://a.example'),
    asCommand(call),
  ])
    expect(code).not.toContain('hidden');
  expect(asTypeScript(call, 'https://a.example')).toContain('path: { id: 45 },');
  expect(asTypeScript(call, 'https://a.example')).toContain('() => 4965573804380742,');
  expect(asCommand(call)).toBe(
    [
      'inn services update 45',
      ...['--note x', '--password', `--tags.token`, '--organization 4965573804380742'],
    ].join(' \\\n  '),
  );
  const secrets = { recovery_code: 'a', secret: null, totp_secret: 'b', isPassword: true };
  expect(withoutSecrets(secrets, '/dashboard/account')).toEqual({
    ...{ recovery_code: '…', secret: null, totp_secret: '…', isPassword: true },
  });
  const address = { postal_code: '1017 AB', country_code: 'NL' };
  const codes = { couponcode: 'SPRING', address, code: '123456', recovery_codes: ['a'] };
  expect(withoutSecrets(codes, '/dashboard/account/2fa/enable')).toEqual({
    ...{ couponcode: 'SPRING', address, code: '…', recovery_codes: '…' },
  });
});

it('shows the code of a coupon, which is made to be given away, and of a second factor nowhere', () => {
  const call = { method: 'POST', given: {}, organization: null };
  const coupon = { ...call, path: '/staff/coupons', address: '/api/staff/coupons', body: { code: 'SPRING' } };
  expect(asCommand(coupon)).toBe('inn staff coupons create \\\n  --code SPRING');
  expect(asCurl(coupon, 'https://a.example')).toContain('{"code":"SPRING"}');
  const where = '/dashboard/account/2fa/disable';
  const factor = { ...call, path: where, address: `/api${where}`, body: { code: '123456' } };
  for (const code of [asCommand(factor), asCurl(factor, ''), asTypeScript(factor, '')])
    expect(code).not.toContain('123456');
  expect(asCommand(factor)).toMatch(/ --code$/);
});

it('names a file that is sent, and nothing of what is in it', async () => {
  const path = '/staff/bank-statements';
  const staff = new Client({
    ...{ url: '/api', fetch: send },
    onRefused: async (refusal, call) => {
      noteLookedAt(refusal.requestId, call);
      return false;
    },
  });
  const call = await callOf(() => staff.upload(path, new Blob(['<Document/>']), 'application/xml'));
  if (call === null) throw new Error('no call was seen');
  expect(asCommand(call)).toBe('inn staff bank-statements create \\\n  --file FILE');
  expect(asCurl(call, 'https://a.example')).toContain(
    "-H 'content-type: application/xml' \\\n  --data-binary @FILE",
  );
  expect(asTypeScript(call, 'https://a.example')).toContain("openAsBlob('FILE'), 'application/xml')");
});

it('waits for files before it looks: what others ask meanwhile is done, and is not what is shown', async () => {
  const made = await bed.product.customer.post('/dashboard/tickets/create', {
    ...{ subject: 'With a file', department: 'support', priority: 'low', message: 'Hello' },
  });
  const visitor = await bed.open();
  const { page } = visitor;
  await signIn(bed, visitor, `/tickets/${made.body.data.ticket.tid}`);
  await page.getByRole('textbox', { name: 'Message' }).fill('See the file');
  const file = { name: 'trace.txt', mimeType: 'text/plain', buffer: Buffer.from('one hop') };
  await page.locator('input[type=file]').setInputFiles(file);
  // It lies on a slow disk: it is read when somebody says so.
  await page.evaluate(`
    const read = FileReader.prototype.readAsDataURL;
    FileReader.prototype.readAsDataURL = function (file) {
      window.isReading = true;
      window.goOn = () => read.call(this, file);
    };`);
  await page.getByRole('button', { name: 'Show the API call' }).click();
  await expect.poll(() => page.evaluate('window.isReading')).toBe(true);
  const spoken = page.waitForResponse(/\/api\/dashboard\/account\/preferences$/);
  await page.locator('button[aria-haspopup=menu]').click();
  await page.getByRole('menuitem', { name: 'Deutsch' }).click();
  expect((await spoken).status()).toBe(200);
  await page.evaluate('window.goOn()');
  await page.getByRole('dialog').locator('pre').first().waitFor();
  const [curl = ''] = await page.getByRole('dialog').locator('pre').allInnerTexts();
  expect(curl).toContain(`/api/dashboard/tickets/${made.body.data.ticket.tid}'`);
  expect(curl).toContain('"name":"trace.txt"');
  expect(visitor.complaints()).toEqual([]);
  await bed.product.customer.post('/dashboard/account/preferences', { language: 'en' });
});

it('says beside the keys how all is called, and where the command line is, which a package brings along', async () => {
  const visitor = await bed.open();
  const { page } = visitor;
  await signIn(bed, visitor, '/developers');
  const about = page
    .getByRole('region', { name: 'API and command line' })
    .or(page.locator('section', { hasText: 'API and command line' }));
  const link = about.getByRole('link', { name: 'all calls, with examples' });
  expect(await link.getAttribute('href')).toBe('/api/docs');
  expect((await page.request.get('/api/docs')).status()).toBe(200);
  expect(await about.locator('code').count()).toBe(0);
  await page.route('**/developers', async (route) => {
    const response = await route.fetch();
    const text = await response.text();
    const body = text.replace('name="command-line" content=""', 'name="command-line" content="/inn.mjs"');
    await route.fulfill({ response, body });
  });
  await page.reload();
  await about.locator('code').first().waitFor();
  const origin = new URL(bed.url).origin;
  expect(await about.locator('code').allInnerTexts()).toEqual([
    `curl -fsSo ~/.local/bin/inn ${origin}/inn.mjs && chmod +x ~/.local/bin/inn`,
    `inn login --url ${origin}`,
  ]);
  expect([...(await visitor.faults()), ...visitor.complaints()]).toEqual([]);
});

it('is asked by one action: what others ask while it ends is done, and a look that begins meanwhile is another', async () => {
  const { url, demo } = bed.product;
  const client = new Client({
    ...{ url: `${url}/api`, token: demo.customer.api_key, fetch: send },
    organization: () => demo.customer.organization_id,
    onRefused: async (refusal, call) => {
      noteLookedAt(refusal.requestId, call);
      return false;
    },
  });
  const subject = `Asked beside it ${randomBytes(6).toString('hex')}`;
  const ticket = { subject, department: 'support', priority: 'low', message: 'Hello' } as const;
  const add = (name: string) =>
    client.post('/dashboard/webhooks', { body: { url: `https://${name}.example` } });
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  const first = callOf(() => add('first').finally(() => ended));
  const { ticket: made } = await client.post('/dashboard/tickets/create', { body: ticket });
  expect(made.subject).toBe(subject);
  // One that reads before it asks; once it has asked, what others ask is theirs.
  const { promise: read, resolve: hasRead } = Promise.withResolvers<void>();
  const second = callOf(async () => {
    await client.get('/dashboard/webhooks');
    const asking = add('second');
    hasRead();
    await asking.finally(() => ended);
  });
  await read;
  const { ticket: other } = await client.post('/dashboard/tickets/create', {
    body: { ...ticket, subject: `${subject}, again` },
  });
  expect(other.subject).toBe(`${subject}, again`);
  end();
  expect((await first)?.body).toEqual({ url: 'https://first.example' });
  expect((await second)?.body).toEqual({ url: 'https://second.example' });
  const { webhooks } = (await bed.product.customer.get('/dashboard/webhooks')).body.data;
  expect(JSON.stringify(webhooks)).not.toMatch(/(first|second)\.example/);
});
