import { payByCredit } from '../test/invoices.ts';
import type { TestProduct } from '../test/product.ts';
import { handOver, newServerProduct, newServers, serverCart } from '../test/rack/stock.ts';
import { sql } from '../test/sql.ts';

/** A dedicated server that the demonstration's customer has. Its BMC was heard of a while ago, and does not answer now. */
export async function inhabitServer(product: TestProduct): Promise<void> {
  const { staff, customer, demo } = product;
  const { organization_id: id } = demo.customer;
  const given = { amount: '1000.00', currency: 'EUR', description: 'For a server' };
  await staff.post(`/staff/organizations/${id}/credit`, given);
  const productId = await newServerProduct(product);
  const { serverIds } = await newServers(product, productId, 1);
  await staff.patch(`/staff/servers/${serverIds[0]}`, {
    macs: ['52:54:00:00:1e:01'],
    bmc: { kind: 'simulated', address: '198.51.100.250', user: 'root', password: 'factory-1' },
  });
  const { status, body } = await customer.post('/cart/checkout/invoice', serverCart(productId));
  if (status !== 200) throw new Error(`no server could be ordered: ${JSON.stringify(body)}`);
  await payByCredit(customer, body.data.invoice_id);
  await handOver(product, body.data.service_ids[0]);
  await sql(
    product,
    `update server_bmcs set power = 'on', heard_at = now() - interval '2 hours', problem = 'the BMC did not answer in time',
       problem_since = now() - interval '1 hour' where server_id = $1`,
    serverIds[0],
  );
}

/** What there is of it in the dashboard. */
export async function pagesOfServer(product: TestProduct): Promise<string[]> {
  const [row] = await sql<{ id: number }>(
    product,
    `select service_id as id from servers where state = 'rented' order by id limit 1`,
  );
  if (row === undefined) throw new Error('nobody has a server');
  return ['', '/hardware', '/addresses', '/history'].map((page) => `/services/${row.id}${page}`);
}
