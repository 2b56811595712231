/** Orders, pays, waits for and stops a machine, with the client that Hey API makes of the description. */
import { client } from './client/client.gen.ts';
import * as api from './client/index.ts';

const [url = '', token = '', organization = '', product = ''] = process.argv.slice(2);
client.setConfig({ baseUrl: url, auth: token, headers: { token } });
const headers = { 'x-organization-id': Number(organization) };

/** The data of an answer; throws the failure that it is otherwise. */
async function dataOf<T>(answer: Promise<{ data?: { data: T } | undefined; error?: unknown }>): Promise<T> {
  const { data, error } = await answer;
  if (data === undefined) throw new Error((error as api.Error).message);
  return data.data;
}

async function order(): Promise<{ invoice: api.Invoice; service: number }> {
  const options = { option1: 1, option2: 10, option3: 1, option4: 1, option5: 0, option6: 'tiny' };
  const place = { option7: '1gbit', option8: 'AMS', domain: 'web2.example.com', password: 'Correct-Horse-7' };
  const body: api.Cart = {
    products: [{ id: Number(product), cycle: 'monthly', type: 'Hosting', options: { ...options, ...place } }],
  };
  const { invoice_id, service_ids } = await dataOf(api.checkout({ headers, body }));
  const paid = api.payInvoice({ headers, path: { id: invoice_id }, body: { method: 'credit' } });
  const { invoice } = await dataOf(paid);
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
const path = { id };
const service: api.Service = await wait(
  async () => (await dataOf(api.getServiceDetails({ headers, path }))).service,
  ({ status }) => status === 'active',
);
const stop: api.Action = (await dataOf(api.stopVps({ headers, path, body: { force: true } }))).action;
const stopped = await wait(
  async () => (await dataOf(api.getVpsAction({ headers, path: { id, action_id: stop.id } }))).action,
  ({ status }) => status === 'success' || status === 'error',
);
const { vps } = await dataOf(api.getVpsOverview({ headers, path }));
console.log(JSON.stringify([invoice.status, service.status, stopped.status, vps.state]));
