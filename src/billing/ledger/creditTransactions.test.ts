import { afterAll, beforeAll, expect, it } from 'vitest';
import { newInvoice, payByCredit } from '../../../test/invoices.ts';
import { newCustomer, newMember, type Person } from '../../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { newHosting } from '../../../test/products.ts';

let product: TestProduct;
beforeAll(async () => {
  product = await startTestProduct();
});
afterAll(() => product.stop());

interface Shown {
  number: number;
  kind: string;
  amount: string;
  balance: string;
  currency: string;
  invoice_id: number | null;
}

async function listed(person: Person, query = ''): Promise<Shown[]> {
  const answer = await person.get(`/dashboard/credit/transactions${query}`);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body.data.transactions;
}

function grant(person: Person, amount: string, currency = 'EUR') {
  const body = { amount, currency, description: 'A gift' };
  return product.staff.post(`/staff/organizations/${person.organizationId}/credit`, body);
}

it('shows all that changed the credit, each with the balance after it, newest first', async () => {
  const person = await newCustomer(product);
  await grant(person, '10.00');
  const id = await newInvoice(product, person, 2);
  await payByCredit(person, id);
  await product.staff.post(`/staff/invoices/${id}/refund`, { amount: '1.00', reason: 'x', method: 'credit' });
  const shown = await listed(person);
  expect(shown.map((each) => [each.number, each.kind, each.amount, each.balance, each.invoice_id])).toEqual([
    [3, 'invoice_refunded', '1.00', '5.00', id],
    [2, 'invoice_paid', '-6.00', '4.00', id],
    [1, 'credit_granted', '10.00', '10.00', null],
  ]);
  expect(await listed(person, '?sort=created_at')).toEqual(shown.toReversed());
});

it('keeps currencies apart and names them all', async () => {
  await newHosting(product, 300, { currency: 'JPY' });
  const person = await newCustomer(product);
  await grant(person, '5.00');
  await grant(person, '500', 'JPY');
  expect((await listed(person)).map(({ currency }) => currency)).toEqual(['EUR']);
  expect(await listed(person, '?currency=JPY')).toMatchObject([{ amount: '500', balance: '500', number: 1 }]);
  expect(await listed(person, '?currency=USD')).toEqual([]);
  const { credits } = (await person.get('/dashboard/credit/transactions')).body.data;
  expect(credits).toEqual([
    { balance: '5.00', currency: 'EUR' },
    { balance: '500', currency: 'JPY' },
  ]);
});

it('is the same by page and by cursor, however deep', async () => {
  const person = await newCustomer(product);
  for (let nth = 1; nth <= 7; nth += 1) await grant(person, `${nth}.00`);
  const numbers = [7, 6, 5, 4, 3, 2, 1];
  expect((await listed(person)).map(({ number }) => number)).toEqual(numbers);
  const byCursor: number[] = [];
  let cursor: string | null = null;
  do {
    const query: string = `?limit=3${cursor === null ? '' : `&cursor=${cursor}`}`;
    const { data } = (await person.get(`/dashboard/credit/transactions${query}`)).body;
    byCursor.push(...data.transactions.map(({ number }: Shown) => number));
    cursor = data.next_cursor;
  } while (cursor !== null);
  expect(byCursor).toEqual(numbers);
  expect((await listed(person, '?limit=3&page=3')).map(({ number }) => number)).toEqual([1]);
});

it('is empty where there never was any, and closed to who may not read bills', async () => {
  const person = await newCustomer(product);
  expect(await listed(person)).toEqual([]);
  const viewer = await newMember(product, person.organizationId, 'viewer');
  expect((await viewer.get('/dashboard/credit/transactions')).status).toBe(403);
});
