/** The typed client against the product: what it takes, answers, repeats and refuses. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runningVps, vpsCart } from '../test/orders.ts';
import { startTestProduct, type TestProduct } from '../test/product.ts';
import { ApiError, Client, UnreachableError } from './index.ts';

let product: TestProduct;
beforeAll(async () => {
  product = await startTestProduct();
});
afterAll(() => product.stop());

function clientOf(send?: typeof fetch): Client {
  const { api_key: token, organization_id: id } = product.demo.customer;
  return new Client({ url: `${product.url}/api`, token, organization: () => id, fetch: send });
}

it('orders, pays, waits for an action, and reads a list to its end', async () => {
  const client = clientOf();
  const { invoice_id, service_ids } = await client.post('/cart/checkout/invoice', {
    body: vpsCart(product.demo, { domain: 'typed.example.com' }) as never,
  });
  const { invoice } = await client.post('/dashboard/invoices/{id}/pay', {
    path: { id: invoice_id },
    body: { method: 'credit' },
  });
  expect(invoice.status).toBe('paid');
  const id = service_ids[0] ?? 0;
  await expect
    .poll(async () => (await client.get('/dashboard/services/{id}', { path: { id } })).service.status, {
      timeout: 20_000,
    })
    .toBe('active');
  const { action } = await client.post('/dashboard/service/{id}/vps/stop', { path: { id }, body: {} });
  expect((await client.waitForAction(id, action.id)).status).toBe('success');
  const seen: number[] = [];
  const actions = client.all('/dashboard/service/{id}/vps/history', 'actions', {
    path: { id },
    query: { limit: 1 },
  });
  for await (const each of actions) seen.push(each.id);
  expect(seen).toContain(action.id);
  expect(new Set(seen).size).toBe(seen.length);
  expect(seen.length).toBeGreaterThan(1);
});

it('refuses with a code, the fields, and the id to quote', async () => {
  const refused = await clientOf()
    .post('/dashboard/tickets/create', { body: { subject: '', department: 'support' } as never })
    .catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(ApiError);
  expect(refused).toMatchObject({ status: 400, code: 'invalid_request', retryAfter: null });
  expect((refused as ApiError).details.map(({ field }) => field)).toContain('message');
  expect((refused as ApiError).requestId).not.toBe('');
});

it('gives what stands beside the data, such as warnings', async () => {
  const { serviceId } = await runningVps(product, product.customer);
  const client = clientOf();
  const { ips } = await client.get('/shield/v2/ips');
  const destination = ips.find((ip) => ip.service_id === serviceId)?.address ?? '';
  const rule = { destination, action: 'deny', protocol: 17, order: 1 } as const;
  const { data, beside } = await client.whole('post', '/shield/v2/rules', { body: rule });
  expect(data.rule_id).toBeGreaterThan(0);
  expect(beside.warnings.map(({ code }) => code)).toContain('drops_answers');
});

it('does once what it asked twice, since the first answer was lost', async () => {
  let isLost = false;
  const lossy: typeof fetch = async (target, init) => {
    const answer = await fetch(target, init);
    if (isLost || !String(target).endsWith('/create')) return answer;
    isLost = true;
    throw new TypeError('the connection was reset');
  };
  const draft = { subject: 'Lost once', department: 'support', priority: 'low', message: 'Hello' } as const;
  const { ticket } = await clientOf(lossy).post('/dashboard/tickets/create', { body: draft });
  expect(isLost).toBe(true);
  const { tickets } = await clientOf().get('/dashboard/tickets', { query: { search: 'Lost' } });
  expect(tickets.map(({ tid }) => tid)).toEqual([ticket.tid]);
});

it('does once what is asked for again, since no answer came to any try; and again what was answered, or is another thing', async () => {
  const draft = { department: 'support', priority: 'low', message: 'Hello' } as const;
  const keys: (string | null)[] = [];
  let isDown = true;
  const deaf: typeof fetch = async (target, init) => {
    const answer = await fetch(target, init);
    if (!String(target).endsWith('/create')) return answer;
    keys.push(new Headers(init?.headers).get('idempotency-key'));
    if (isDown) throw new TypeError('the connection was reset');
    return answer;
  };
  const client = clientOf(deaf);
  const open = (subject: string) => client.post('/dashboard/tickets/create', { body: { ...draft, subject } });
  const called = async (search: string) => {
    const { tickets } = await clientOf().get('/dashboard/tickets', { query: { search } });
    return tickets.map(({ tid }) => tid).length;
  };
  await expect(open('Pressed twice')).rejects.toBeInstanceOf(UnreachableError);
  expect(keys).toHaveLength(3);
  await expect(open('Pressed otherwise')).rejects.toBeInstanceOf(UnreachableError);
  isDown = false;
  await open('Pressed twice');
  expect(new Set(keys.slice(0, 3).concat(keys.slice(6)))).toEqual(new Set([keys[0]]));
  expect(new Set(keys)).toHaveProperty('size', 2);
  expect([await called('Pressed twice'), await called('Pressed otherwise')]).toEqual([1, 1]);
  // It is answered: who asks for the same now wants another.
  await open('Pressed twice');
  expect(await called('Pressed twice')).toBe(2);
});

it('keeps a key as long as nobody knows, and has another for what is wished anew', async () => {
  const keys: (string | null)[] = [];
  let answers: number[] = [];
  const told: typeof fetch = (_target, init) => {
    keys.push(new Headers(init?.headers).get('idempotency-key'));
    const status = answers.shift() ?? 200;
    const face = { success: false, error: '', message: 'No', code: 'unavailable', request_id: 'r' };
    const body = status === 200 ? { success: true, data: {} } : face;
    // Longer than anybody waits: one try each.
    const headers = { 'retry-after': '3600' };
    return Promise.resolve(new Response(JSON.stringify(body), { status, headers }));
  };
  const client = clientOf(told);
  const press = async (what: 'start' | 'stop') => {
    await client
      .post(`/dashboard/service/{id}/vps/${what}`, { path: { id: 1 }, body: {} })
      .catch((error: unknown) => expect(error).toBeInstanceOf(ApiError));
    return keys.at(-1);
  };
  // Whether it was committed is not known; who is sent away at the door says nothing of it.
  answers = [503, 429, 401, 503, 200];
  const first = await press('start');
  expect([await press('start'), await press('start'), await press('start')]).toEqual([first, first, first]);
  expect(await press('start')).toBe(first);
  const second = await press('start');
  expect(second).not.toBe(first);
  // Stopped meanwhile, a start is another wish.
  answers = [503, 200];
  const third = await press('start');
  await press('stop');
  expect(await press('start')).not.toBe(third);
});

it('changes nothing that somebody else has changed since it was read', async () => {
  const client = clientOf();
  const { data, tag } = await client.getTagged('/dashboard/billing/profile');
  const change = (order_number: string) =>
    client.patch('/dashboard/billing/profile', { body: { order_number }, ifMatch: tag });
  expect(data.profile.order_number).not.toBe('first');
  await change('first');
  await expect(change('second')).rejects.toMatchObject({ status: 412, code: 'precondition_failed' });
  expect((await client.get('/dashboard/billing/profile')).profile.order_number).toBe('first');
});

it('waits as long as it is told, when that is not long, and says so otherwise', async () => {
  const answers = [429, 503, 200];
  let asked = 0;
  const limited: typeof fetch = (target, init) => {
    const status = answers[asked++] ?? 200;
    if (status === 200) return fetch(target, init);
    const body = { success: false, error: '', message: 'Wait', code: 'rate_limited', request_id: 'r' };
    return Promise.resolve(new Response(JSON.stringify(body), { status, headers: { 'retry-after': '0' } }));
  };
  await clientOf(limited).get('/dashboard/account');
  expect(asked).toBe(3);
  const long: typeof fetch = () => {
    const body = { success: false, error: '', message: 'Wait', code: 'rate_limited', request_id: 'r' };
    const init = { status: 429, headers: { 'retry-after': '3600' } };
    return Promise.resolve(new Response(JSON.stringify(body), init));
  };
  await expect(clientOf(long).get('/dashboard/account')).rejects.toMatchObject({ retryAfter: 3600 });
});

it('asks once what a refused call lacked, and sends the same call again', async () => {
  const keys: (string | null)[] = [];
  const unproven: typeof fetch = async (target, init) => {
    keys.push(new Headers(init?.headers).get('idempotency-key'));
    if (keys.length > 1) return fetch(target, init);
    const face = { success: false, error: '', message: 'Prove it', request_id: 'r' };
    return Response.json({ ...face, code: 'reauthentication_required' }, { status: 403 });
  };
  const { api_key: token, organization_id: id } = product.demo.customer;
  const asked: string[] = [];
  const clientAsking = (answer: boolean) =>
    new Client({
      ...{ url: `${product.url}/api`, token, organization: () => id, fetch: unproven },
      onRefused: async ({ code }, { path }) => {
        asked.push(`${code} of ${path}`);
        return answer;
      },
    });
  const body = { subject: 'Proven', department: 'support', priority: 'low', message: 'Hello' } as const;
  const { ticket } = await clientAsking(true).post('/dashboard/tickets/create', { body });
  expect(ticket.subject).toBe('Proven');
  expect(asked).toEqual(['reauthentication_required of /dashboard/tickets/create']);
  expect(keys[1]).toBe(keys[0]);
  keys.length = 0;
  const refused = clientAsking(false).post('/dashboard/tickets/create', { body });
  await expect(refused).rejects.toMatchObject({ code: 'reauthentication_required' });
  expect(keys).toHaveLength(1);
});

it('says that nobody answered, also when a proxy did', async () => {
  const down: typeof fetch = () => Promise.reject(new TypeError('connect ECONNREFUSED'));
  const failure = clientOf(down).get('/dashboard/account');
  await expect(failure).rejects.toBeInstanceOf(UnreachableError);
  const proxy: typeof fetch = () => Promise.resolve(new Response('<h1>Not here</h1>', { status: 404 }));
  await expect(clientOf(proxy).get('/dashboard/account')).rejects.toMatchObject({ status: 404 });
});
