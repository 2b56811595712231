import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { orderVps, runningVps } from '../../test/orders.ts';
import { newCustomer, newMember, newStaff } from '../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../test/product.ts';
import { sql } from '../../test/sql.ts';

let product: TestProduct;
let service: { serviceId: number; invoiceId: number };
let ip: string;
let number: string;
let tid: string;

type Client = TestProduct['customer'];
const found = async (who: Client, q: string, path = '/dashboard/search') => {
  const { status, body } = await who.get(`${path}?q=${encodeURIComponent(q)}`);
  expect(status, JSON.stringify(body)).toBe(200);
  return body.data.found.map(({ kind, id }: { kind: string; id: string }) => `${kind} ${id}`) as string[];
};

beforeAll(async () => {
  product = await startTestProduct();
  service = await runningVps(product, product.customer, { domain: 'palette.example.com' });
  const { body } = await product.customer.get(`/dashboard/services/${service.serviceId}`);
  ip = body.data.service.primary_ip;
  number = (await product.customer.get(`/dashboard/invoices/${service.invoiceId}`)).body.data.invoice.number;
  const draft = { department: 'support', priority: 'low', subject: 'Zeppelin', message: 'It does not fly' };
  tid = (await product.customer.post('/dashboard/tickets/create', draft)).body.data.ticket.tid;
});
afterAll(() => product.stop());

describe('a search', () => {
  it('finds a service by the beginning of its name, its address and its number', async () => {
    const expected = `service ${service.serviceId}`;
    for (const q of ['palet', 'PALETTE.example', 'example.com', ip, String(service.serviceId)])
      expect([q, await found(product.customer, q)]).toEqual([q, expect.arrayContaining([expected])]);
  });

  it('finds invoices by number, tickets by words and short code, members by name and address', async () => {
    expect(await found(product.customer, number)).toContain(`invoice ${service.invoiceId}`);
    expect(await found(product.customer, 'zeppelin')).toEqual([`ticket ${tid}`]);
    expect(await found(product.customer, `#${tid}`)).toEqual([`ticket ${tid}`]);
    const { email } = product.demo.customer;
    const [member] = await found(product.customer, email);
    expect(member).toMatch(/^member \d+$/);
    expect(await found(product.customer, 'Novak')).toContain(member);
  });

  it('finds nothing of another organization, and nothing that the role may not read', async () => {
    for (const q of ['palette', ip, String(service.serviceId), number, 'zeppelin', tid])
      expect([q, await found(product.other, q)]).toEqual([q, []]);
    const technical = await newMember(product, product.demo.customer.organization_id, 'technical');
    expect(await found(technical, number)).toEqual([]);
    expect(await found(technical, 'palette')).toEqual([`service ${service.serviceId}`]);
  });

  it('shows no address that is not paid yet, and finds nothing by it', async () => {
    const customer = await newCustomer(product, { creditMinor: 100_000 });
    const details = async (q: string) =>
      (await customer.get(`/dashboard/search?q=${encodeURIComponent(q)}`)).body.data.found
        .filter(({ kind }: { kind: string }) => kind === 'service')
        .map(({ id, detail }: { id: string; detail: string | null }) => [id, detail]);
    const reserved = async (serviceId: number) =>
      (
        await sql<{ ip: string }>(
          product,
          `select host(address) as ip from addresses where service_id = $1
           order by held desc, family(address), ordinal limit 1`,
          serviceId,
        )
      )[0]?.ip ?? '';
    const order = await orderVps(product, customer);
    const id = String(order.serviceId);
    expect(await details(id)).toEqual([[id, null]]);
    expect(await details(await reserved(order.serviceId))).toEqual([]);

    const running = await runningVps(product, customer);
    const its = String(running.serviceId);
    const { primary_ip } = (await customer.get(`/dashboard/services/${its}`)).body.data.service;
    const upgrade = { option4: 2 };
    const asked = await customer.post(`/dashboard/services/${its}/upgrade-vps`, upgrade);
    expect(asked.status, JSON.stringify(asked.body)).toBe(200);
    const held = await reserved(running.serviceId);
    expect(held).not.toBe(primary_ip);
    expect(await details(its)).toEqual([[its, primary_ip]]);
    expect(await details(held)).toEqual([]);
    expect(await details(primary_ip)).toEqual([[its, primary_ip]]);
  });

  it('takes everything that is typed for words', async () => {
    for (const q of [
      "'; drop table users; --",
      '%',
      '_',
      '\\',
      '::1%eth0',
      '99999999999999999999',
      '(((',
      'a & | !',
    ])
      expect([q, Array.isArray(await found(product.customer, q))]).toEqual([q, true]);
    for (const q of ['', ' ', 'x'.repeat(101)])
      expect((await product.customer.get(`/dashboard/search?q=${encodeURIComponent(q)}`)).status).toBe(400);
  });
});

describe("staff's search", () => {
  const asStaff = (q: string, who: Client = product.staff) => found(who, q, '/staff/search');

  it('finds everything of everybody', async () => {
    expect(await asStaff('palette')).toEqual([`service ${service.serviceId}`]);
    expect(await asStaff(ip)).toEqual([`service ${service.serviceId}`]);
    expect(await asStaff(number)).toContain(`invoice ${service.invoiceId}`);
    expect(await asStaff(tid)).toContain(`ticket ${tid}`);
    expect((await asStaff(product.demo.customer.email))[0]).toMatch(/^user \d+$/);
    const { body } = await product.staff.get('/staff/nodes');
    const [node] = body.data.nodes;
    expect(await asStaff(node.name)).toContain(`node ${node.id}`);
  });

  it('finds for each role what it may read', async () => {
    const operator = await newStaff(product, 'operator');
    expect(await asStaff(number, operator)).toEqual([]);
    expect(await asStaff(product.demo.customer.email, operator)).toEqual([]);
    expect(await asStaff('palette', operator)).toEqual([`service ${service.serviceId}`]);
    expect((await product.customer.get('/staff/search?q=x')).status).toBe(403);
  });
});
