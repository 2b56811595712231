import type { Client } from './client.ts';
import type { TestProduct } from './product.ts';

/** Orders web hosting, 3.00 EUR a piece: an invoice that nothing has to be provisioned for. Returns its id. */
export async function newInvoice(product: TestProduct, client: Client, pieces = 1): Promise<number> {
  const item = { id: product.demo.products.hosting, cycle: 'monthly', type: 'Hosting' };
  const order = await client.post('/cart/checkout/invoice', { products: Array(pieces).fill(item) });
  if (order.status !== 200) throw new Error(`checkout answered ${JSON.stringify(order.body)}`);
  return order.body.data.invoice_id;
}

export function payByCredit(client: Client, invoiceId: number) {
  return client.post(`/dashboard/invoices/${invoiceId}/pay`, { method: 'credit' });
}
