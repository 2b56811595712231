import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newInvoice, payByCredit } from '../../../test/invoices.ts';
import { orderVps } from '../../../test/orders.ts';
import { newCustomer } from '../../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { sql } from '../../../test/sql.ts';

// A mail server that takes every connection and never says a word, until it is told to speak.
let server: Server;
const sockets: Socket[] = [];
let product: TestProduct;

beforeAll(async () => {
  server = createServer((socket) => {
    sockets.push(socket.on('error', () => undefined));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  product = await startTestProduct({ env: { SMTP_URL: `smtp://127.0.0.1:${port}` } });
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  server.close();
  await product.stop();
});

const sending = (name: string) =>
  sql(product, `select 1 from jobs where name = $1 and state = 'running'`, name);

it('a mail server that says nothing holds up neither what was paid nor the link that somebody waits for', async () => {
  const owner = await newCustomer(product, { creditMinor: 10_000 });
  const { invoiceId, serviceId } = await orderVps(product, owner);
  // More than any queue has places, of more organizations than one.
  const told = await Promise.all(Array.from({ length: 20 }, () => newCustomer(product)));
  for (const each of told) for (const _ of [1, 2]) await newInvoice(product, each);
  await expect.poll(() => sending('mail.send'), { timeout: 10_000 }).toHaveLength(4);

  await payByCredit(owner, invoiceId);
  const state = async () =>
    (await owner.get(`/dashboard/services/${serviceId}`)).body.data.service.provisioning_state;
  await expect.poll(state).toBe('done');
  expect(await sending('mail.send')).toHaveLength(4);

  await product.nobody.post('/auth/password/forgot', { email: owner.email });
  await expect.poll(() => sending('mail.sendLink')).toHaveLength(1);
  expect(await sending('mail.send')).toHaveLength(4);
});
