/** Passkeys in a real browser: Chromium with a virtual authenticator, from the page that the product itself serves. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { addPasskeyDevice, openBrowser, openDoor } from './browser.ts';
import { newCustomer } from './people.ts';
import { startTestProduct, type TestProduct } from './product.ts';

let product: TestProduct;
let door: Awaited<ReturnType<typeof openDoor>>;
let browser: Browser;
beforeAll(async () => {
  door = await openDoor(() => product.url);
  product = await startTestProduct({ env: { PUBLIC_URL: door.url } });
  browser = await openBrowser();
});
afterAll(async () => {
  await browser?.close();
  await product?.stop();
  await door?.close();
});

/** A page of the product, whose browser has a device for passkeys. */
async function openPage(): Promise<{ page: Page; authenticator: () => Promise<number> }> {
  const page = await (await browser.newContext()).newPage();
  const { devtools, authenticatorId } = await addPasskeyDevice(page);
  await page.goto(`${door.url}/api/docs`);
  const authenticator = async () =>
    (await devtools.send('WebAuthn.getCredentials', { authenticatorId })).credentials.length;
  return { page, authenticator };
}

interface Asked {
  method?: string;
  path: string;
  body?: object;
  organizationId: number;
}

/** Asks the product from within the page, with the browser's own cookies. */
// biome-ignore lint/suspicious/noExplicitAny: answers of every shape, and a wrong one fails the test
function ask(page: Page, asked: Asked): Promise<{ status: number; body: any }> {
  return page.evaluate(async ({ method = 'POST', path, body, organizationId }) => {
    const answer = await fetch(`/api${path}`, {
      method,
      headers: { 'content-type': 'application/json', 'x-organization-id': String(organizationId) },
      ...(method === 'GET' || method === 'DELETE' ? {} : { body: JSON.stringify(body ?? {}) }),
    });
    return { status: answer.status, body: await answer.json() };
  }, asked);
}

/** What the browser makes of our options, in its own words. */
function useDevice(page: Page, how: 'create' | 'get', options: object): Promise<object> {
  return page.evaluate(
    async ({ how, options }) => {
      // The page's own types, which this program's do not know.
      const { PublicKeyCredential: kind, navigator: here } = globalThis as never as {
        PublicKeyCredential: Record<string, (json: object) => object>;
        navigator: { credentials: Record<string, (asked: object) => Promise<{ toJSON(): object }>> };
      };
      const parse = how === 'create' ? 'parseCreationOptionsFromJSON' : 'parseRequestOptionsFromJSON';
      const made = await here.credentials[how]?.({ publicKey: kind[parse]?.(options) });
      return made?.toJSON() ?? {};
    },
    { how, options },
  );
}

it('a passkey is added, signs in by itself and after a password, and is removed', async () => {
  const { email, password, organizationId } = await newCustomer(product);
  const { page, authenticator } = await openPage();
  const send = (path: string, body?: object, method?: string) =>
    ask(page, { path, organizationId, ...(body ? { body } : {}), ...(method ? { method } : {}) });
  const passkeys = '/dashboard/account/passkeys';

  expect((await send('/auth/login', { email, password })).status).toBe(200);
  const creation = (await send(`${passkeys}/options`)).body.data.options;
  const made = await useDevice(page, 'create', creation);
  const added = await send(`${passkeys}/verify`, { credential: made, name: 'Chromium' });
  expect([added.status, added.body.data?.recovery_codes.length]).toEqual([200, 10]);
  expect(await authenticator()).toBe(1);
  // The same device makes no second one for the same account.
  const again = (await send(`${passkeys}/options`)).body.data.options;
  await expect(useDevice(page, 'create', again)).rejects.toThrow(/InvalidStateError/);
  expect((await send('/auth/logout')).status).toBe(200);
  expect((await send('/dashboard/account', undefined, 'GET')).status).toBe(401);

  const request = (await send('/auth/passkeys/options')).body.data.options;
  expect(request.allowCredentials).toEqual([]);
  const shown = await useDevice(page, 'get', request);
  const signedIn = await send('/auth/passkeys/verify', { credential: shown });
  expect(signedIn.body.data).toMatchObject({ user: { email } });
  expect((await send('/auth/passkeys/verify', { credential: shown })).body.code).toBe('invalid_passkey');
  expect((await send('/dashboard/account', undefined, 'GET')).body.data.passkeys[0].name).toBe('Chromium');
  expect((await send('/auth/logout')).status).toBe(200);

  expect((await send('/auth/login', { email, password })).body.data.methods).toContain('passkey');
  const second = (await send('/auth/passkeys/options', { second_factor: true })).body.data.options;
  const credential = await useDevice(page, 'get', second);
  expect((await send('/auth/passkeys/verify', { credential, second_factor: true })).status).toBe(200);

  const proof = (await send('/auth/reauthenticate/passkey/options')).body.data.options;
  const proven = { credential: await useDevice(page, 'get', proof) };
  expect((await send('/auth/reauthenticate/passkey', proven)).status).toBe(200);
  expect((await send(`${passkeys}/${added.body.data.passkey.id}`, undefined, 'DELETE')).status).toBe(200);
  const gone = (await send('/auth/passkeys/options')).body.data.options;
  const left = { credential: await useDevice(page, 'get', gone) };
  expect((await send('/auth/passkeys/verify', left)).body.code).toBe('invalid_passkey');
});

it('a passkey is of no use on a page of another host', async () => {
  const { page } = await openPage();
  const { options } = (await ask(page, { path: '/auth/passkeys/options', organizationId: 1 })).body.data;
  await page.goto(door.url.replace('localhost', 'elsewhere.localhost'));
  await expect(useDevice(page, 'get', options)).rejects.toThrow(/SecurityError/);
});
