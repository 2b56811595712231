/** Passkeys on the pages of the dashboard: Chromium with a device of its own. */
import type { Route } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { addPasskeyDevice } from '../test/browser.ts';
import { until } from '../test/product.ts';
import { sql } from '../test/sql.ts';
import { type Bed, openBed, signIn, type Visitor } from './testbed.ts';

let bed: Bed;
beforeAll(async () => {
  bed = await openBed();
});
afterEach(() => bed.closeWindows());
afterAll(() => bed?.close());

interface Owner extends Visitor {
  /** Whether the device answers by itself; else it waits for somebody who touches it. */
  answers(itself: boolean): Promise<void>;
  /** The passkeys that the device keeps. */
  kept(): Promise<string[]>;
  /** What the browser was told to forget. */
  forgotten: { rpId: string; credentialId: string }[];
  /** How many challenges its pages have asked for, and how often one was answered. */
  asked(): { options: number; verified: number };
}

const forgetFactors = async () => {
  for (const table of ['passkeys', 'recovery_codes']) await sql(bed.product, `delete from ${table}`);
};

/** A browser whose device has a passkey of the demonstration's customer, and in which nobody is signed in. */
async function openOwner(): Promise<Owner> {
  await forgetFactors();
  const visitor = await bed.open();
  const { page } = visitor;
  const { devtools, authenticatorId } = await addPasskeyDevice(page);
  // Not every browser of tests does what it is told: the device forgets by our hand.
  const forgotten: Owner['forgotten'] = [];
  await page.exposeFunction('forget', async (told: { rpId: string; credentialId: string }) => {
    forgotten.push(told);
    const credentialId = Buffer.from(told.credentialId, 'base64url').toString('base64');
    await devtools.send('WebAuthn.removeCredential', { authenticatorId, credentialId });
  });
  await page.addInitScript(`if (window.PublicKeyCredential)
    PublicKeyCredential.signalUnknownCredential = (told) => window.forget(told)`);
  await signIn(bed, visitor, '/account/security');
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByText('Keep these recovery codes').waitFor();
  await page.context().clearCookies();
  const asked = { options: 0, verified: 0 };
  page.on('request', (request) => {
    if (request.url().endsWith('/auth/passkeys/options')) asked.options += 1;
    if (request.url().endsWith('/auth/passkeys/verify')) asked.verified += 1;
  });
  return {
    ...visitor,
    answers: async (enabled) => {
      await devtools.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId, enabled });
    },
    kept: async () => {
      const { credentials } = await devtools.send('WebAuthn.getCredentials', { authenticatorId });
      return credentials.map(({ credentialId }) => Buffer.from(credentialId, 'base64').toString('base64url'));
    },
    forgotten,
    asked: () => ({ ...asked }),
  };
}

const where = '**/api/auth/passkeys/options';

/** Has the device answer from the moment on at which a page asks what it is to sign: what was offered before has ended then. */
const touched = (answers: Owner['answers']) => async (route: Route) => {
  await answers(true);
  await route.continue();
};

/** How the newest session was signed in to. */
async function newestMethod(): Promise<string | undefined> {
  const [newest] = await sql<{ method: string }>(
    bed.product,
    'select method from sessions order by created_at desc, id desc limit 1',
  );
  return newest?.method;
}

it('the browser offers passkeys where the address is typed in, and the one that is chosen signs in', async () => {
  const { page, complaints, asked } = await openOwner();
  await page.goto('/sign-in');
  // Nobody types, and nobody presses a button.
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  expect(await newestMethod()).toBe('passkey');
  expect(asked()).toEqual({ options: 1, verified: 1 });
  expect(complaints()).toEqual([]);
});

it('the button asks for one although one is offered, and after a refusal they are offered again', async () => {
  const { page, complaints, answers, asked } = await openOwner();
  await answers(false);
  await page.goto('/sign-in');
  await until(
    async () => asked(),
    ({ options }) => options === 1,
  );
  const button = page.getByRole('button', { name: 'Sign in with a passkey' });
  const face = { success: false, error: 'Forbidden', code: 'forbidden', message: 'No', request_id: 'x' };
  const refuse = (route: Route) => route.fulfill({ status: 403, json: face });
  await page.route(where, refuse, { times: 1 });
  await button.click();
  await page.getByRole('alert').waitFor();
  await until(
    async () => asked(),
    ({ options }) => options === 3,
  );
  complaints(); // of the one that came to nothing
  await page.route(where, touched(answers), { times: 1 });
  await button.click();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  expect(await newestMethod()).toBe('passkey');
  expect(asked().verified).toBe(1);
  expect(complaints()).toEqual([]);
});

it('what is offered on a page that stays open is still good when it is chosen', async () => {
  const { page, complaints, answers, asked } = await openOwner();
  await answers(false);
  await page.clock.install();
  await page.goto('/sign-in');
  await until(
    async () => asked(),
    ({ options }) => options === 1,
  );
  bed.product.clock.travel(6 * 60_000);
  await page.route(where, touched(answers), { times: 1 });
  await page.clock.runFor(4 * 60_000);
  await page.clock.resume();
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  expect(await newestMethod()).toBe('passkey');
  expect(asked()).toEqual({ options: 2, verified: 1 });
  expect(complaints()).toEqual([]);
});

it('after one that its person stopped, and one that was refused, they are offered again without a reload', async () => {
  const { page, asked } = await openOwner();
  // As when somebody closes what the browser asks.
  await page.addInitScript(`if (navigator.credentials) {
    const get = navigator.credentials.get.bind(navigator.credentials);
    let isStopped = false;
    navigator.credentials.get = (wanted) => {
      if (isStopped || wanted.mediation !== 'conditional') return get(wanted);
      isStopped = true;
      return Promise.reject(new DOMException('stopped', 'NotAllowedError'));
    };
  }`);
  const face = {
    success: false,
    error: 'Unauthorized',
    code: 'invalid_passkey',
    message: 'No',
    request_id: 'x',
  };
  await page.route('**/api/auth/passkeys/verify', (route) => route.fulfill({ status: 401, json: face }), {
    times: 1,
  });
  await page.goto('/sign-in');
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  expect(await newestMethod()).toBe('passkey');
  expect(asked()).toEqual({ options: 3, verified: 2 });
});

it('a device is told to forget a passkey that is known no more, and one that was just removed', async () => {
  const { page, kept, forgotten } = await openOwner();
  const rpId = new URL(bed.url).hostname;
  const [first = ''] = await kept();
  await forgetFactors();
  await page.goto('/sign-in');
  await expect.poll(() => forgotten).toEqual([{ rpId, credentialId: first }]);
  expect(await kept()).toEqual([]);

  await signIn(bed, { page } as Visitor, '/account/security');
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByText('Keep these recovery codes').waitFor();
  const [second = ''] = await kept();
  await page.goto('/account/security');
  await page
    .getByRole('region', { name: 'Passkeys' })
    .or(page.locator('section').filter({ hasText: 'Passkeys' }))
    .first()
    .getByRole('button', { name: /^Remove / })
    .click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click();
  await expect.poll(() => forgotten.at(-1)).toEqual({ rpId, credentialId: second });
  expect(await kept()).toEqual([]);
});

it.each([
  ['knows no offers', 'delete PublicKeyCredential.isConditionalMediationAvailable'],
  ['knows no passkeys', 'delete window.PublicKeyCredential'],
  ['knows them otherwise', 'delete PublicKeyCredential.parseRequestOptionsFromJSON'],
])('nothing is asked and nothing said in a browser that %s', async (_name, lacking) => {
  const visitor = await bed.open();
  const { page, complaints } = visitor;
  await forgetFactors();
  await page.addInitScript(lacking);
  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  await signIn(bed, visitor);
  await page.getByRole('heading', { name: 'Overview' }).waitFor();
  expect(asked).toContain('/api/auth/login');
  expect(asked.filter((path) => path.includes('passkeys'))).toEqual([]);
  expect(complaints()).toEqual([]);
});
