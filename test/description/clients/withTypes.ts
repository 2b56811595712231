/** Orders, pays, waits for and stops a machine, with the types that openapi-typescript makes of the description. */
import type { components, operations } from './types.ts';

type Schemas = components['schemas'];
type Service = Schemas['Service'];
type Invoice = Schemas['Invoice'];
type Action = Schemas['Action'];

/** What an operation answers when all is well. */
type Data<O extends keyof operations> = operations[O]['responses'][200]['content'] extends {
  'application/json': { data: infer D };
}
  ? D
  : never;

const [url = '', token = '', organization = '', product = ''] = process.argv.slice(2);

async function call<O extends keyof operations>(
  method: string,
  path: string,
  body?: object,
): Promise<Data<O>> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { token, 'x-organization-id': organization, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  const answer = (await response.json()) as { success: true; data: Data<O> } | Schemas['Error'];
  if (!answer.success) throw new Error(`${answer.code}: ${answer.message}`);
  return answer.data;
}

async function order(): Promise<{ invoice: Invoice; service: number }> {
  const options = { option1: 1, option2: 10, option3: 1, option4: 1, option5: 0, option6: 'tiny' };
  const place = { option7: '1gbit', option8: 'AMS', domain: 'web1.example.com', password: 'Correct-Horse-7' };
  const cart: Schemas['Cart'] = {
    products: [{ id: Number(product), cycle: 'monthly', type: 'Hosting', options: { ...options, ...place } }],
  };
  const { invoice_id, service_ids } = await call<'checkout'>('POST', '/cart/checkout/invoice', cart);
  const payment: Schemas['InvoicePayment'] = { method: 'credit' };
  const { invoice } = await call<'payInvoice'>('POST', `/dashboard/invoices/${invoice_id}/pay`, payment);
  return { invoice, service: service_ids[0] ?? 0 };
}

async function wait<T>(ask: () => Promise<T>, isDone: (seen: T) => boolean): Promise<T> {
  for (;;) {
    const seen = await ask();
    if (isDone(seen)) return seen;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

const { invoice, service: id } = await order();
const service: Service = await wait(
  async () => (await call<'getServiceDetails'>('GET', `/dashboard/services/${id}`)).service,
  ({ status }) => status === 'active',
);
const manager = `/dashboard/service/${service.id}/vps`;
const stop: Action = (await call<'stopVps'>('POST', `${manager}/stop`, { force: true })).action;
const stopped = await wait(
  async () => (await call<'getVpsAction'>('GET', `${manager}/history/${stop.id}`)).action,
  ({ status }) => status === 'success' || status === 'error',
);
const { vps } = await call<'getVpsOverview'>('GET', `${manager}/overview`);
console.log(JSON.stringify([invoice.status, service.status, stopped.status, vps.state]));
