import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { newInvoice, payByCredit } from '../../test/invoices.ts';
import { orderVps, runningVps } from '../../test/orders.ts';
import { newCustomer, newMember, type Person, signedIn } from '../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../test/product.ts';
import { contents, settled, sql } from '../../test/sql.ts';
import { allRoutes } from '../api.ts';
import { listRoutes, type Route } from '../platform/http/index.ts';

let product: TestProduct;
let customer: Person;
beforeAll(async () => {
  product = await startTestProduct();
  customer = await newCustomer(product, { creditMinor: 50_000 });
});
afterAll(() => product.stop());

const face = ({ status, body }: { status: number; body: { code?: string } }) => [status, body.code];
const at = ({ organizationId }: Person, rest = '') => `/staff/organizations/${organizationId}${rest}`;
const reason = { reason: 'Complaint 4711' };

async function mailsTo(email: string): Promise<{ subject: string; body: string }[]> {
  await settled(product);
  return (await product.staff.get(`/staff/mails?recipient=${encodeURIComponent(email)}`)).body.data.mails;
}

/** What an organization that is blocked may do (decision 0092): it reads, and its people look after their own accounts. */
const whileBlocked = {
  changes: [
    'addPaymentMethod',
    'createTicket',
    'explainPacket',
    'payInvoice',
    'replyToTicket',
    'simulateShieldRules',
  ],
  notRead: ['getDedicatedConsole', 'getVpsConsole', 'getVpsScreen'],
};
const ofOrganizations = listRoutes(allRoutes).filter(({ auth }) => auth === 'organization');

describe('an organization that is blocked', () => {
  it('orders and changes nothing at any endpoint; what runs goes on, invoices are paid, and its owner is told', async () => {
    const { serviceId } = await runningVps(product, customer);
    const invoiceId = await newInvoice(product, customer);
    const blocked = await product.staff.post(at(customer, '/block'), reason);
    expect(blocked.status, JSON.stringify(blocked.body)).toBe(200);
    expect(blocked.body.data.organization).toMatchObject({ status: 'blocked', status_reason: reason.reason });
    const here = await signedIn(product, customer);
    await settled(product);
    const before = await contents(product);
    const refused: string[] = [];
    for (const route of ofOrganizations) {
      const path = route.path.replace(
        '/:id',
        route.path.includes('invoices') ? `/${invoiceId}` : `/${serviceId}`,
      );
      const client = route.fresh || route.sessionOnly ? here : customer;
      // Of no shape that any of them takes: who is let in is told of that.
      const answer = await client.request(
        route.method,
        `${path.replaceAll(/:\w+/g, '4242')}?nonsense=1`,
        route.method === 'GET' ? undefined : { nonsense: true },
      );
      if (answer.body?.code !== 'organization_blocked') expect([200, 400, 404]).toContain(answer.status);
      else refused.push(route.operation);
    }
    const isAllowed = (route: Route) =>
      whileBlocked.changes.includes(route.operation) ||
      (route.method === 'GET' && !whileBlocked.notRead.includes(route.operation)) ||
      route.organization === 'of-members';
    const wanted = ofOrganizations.filter((route) => !isAllowed(route)).map(({ operation }) => operation);
    expect(refused.sort()).toEqual(wanted.sort());
    expect(refused).toContain('getVpsConsole');
    expect(await contents(product)).toEqual(before);

    const state = (await customer.get(`/dashboard/service/${serviceId}/vps/overview`)).body.data.vps.state;
    expect(state).toBe('running');
    const { organizations } = (await customer.get('/dashboard/organizations')).body.data;
    expect(organizations).toMatchObject([{ id: customer.organizationId, status: 'blocked' }]);
    expect((await payByCredit(customer, invoiceId)).body.data.invoice.status).toBe('paid');
    const [mail] = (await mailsTo(customer.email)).filter(({ subject }) => /is blocked/.test(subject));
    expect(mail?.body).not.toContain(reason.reason);

    expect((await product.staff.post(at(customer, '/unblock'))).body.data.organization.status).toBe('active');
    expect((await orderVps(product, customer)).invoiceId).toBeGreaterThan(0);
    const told = await sql<{ action: string; actor_type: string }>(
      product,
      `select action, actor_type from journal where organization_id = $1 and action like 'organization.%blocked' order by id`,
      customer.organizationId,
    );
    expect(told).toEqual([
      { action: 'organization.blocked', actor_type: 'staff' },
      { action: 'organization.unblocked', actor_type: 'staff' },
    ]);
  });

  it('has no order that was under way when it was blocked', async () => {
    const person = await newCustomer(product);
    const answers = await Promise.all([
      orderVps(product, person).then(
        () => 'ordered',
        (error: Error) => error.message,
      ),
      product.staff.post(at(person, '/block'), reason),
    ]);
    const [said, block] = answers;
    expect(block.status).toBe(200);
    const invoices = await sql(
      product,
      'select 1 from invoices where organization_id = $1',
      person.organizationId,
    );
    expect(said === 'ordered' ? invoices.length : said).toEqual(
      said === 'ordered' ? 1 : expect.stringContaining('organization_blocked'),
    );
    await expect(orderVps(product, person)).rejects.toThrow('organization_blocked');
  });

  it('gets nothing by an order from before: it is held, and an upgrade is paid back', async () => {
    const person = await newCustomer(product, { creditMinor: 50_000 });
    const { serviceId } = await runningVps(product, person);
    await settled(product);
    const { invoiceId, serviceId: ordered } = await orderVps(product, person);
    const upgrade = { option1: 2 };
    const bigger = await person.post(`/dashboard/services/${serviceId}/upgrade-vps`, upgrade);
    expect(bigger.status, JSON.stringify(bigger.body)).toBe(200);
    const { options: size } = (await person.get(`/dashboard/services/${serviceId}`)).body.data.service;
    expect((await product.staff.post(at(person, '/block'), reason)).status).toBe(200);
    for (const id of [invoiceId, bigger.body.data.invoice_id])
      expect((await payByCredit(person, id)).status).toBe(200);
    await settled(product);
    expect((await person.get(`/dashboard/services/${ordered}`)).body.data.service.status).toBe('pending');
    const { order } = (await product.staff.get(`/staff/orders/${invoiceId}`)).body.data;
    expect(order.review).toMatchObject({ status: 'held', reasons: ['Its organization is blocked'] });
    const { invoice } = (await person.get(`/dashboard/invoices/${bigger.body.data.invoice_id}`)).body.data;
    expect(invoice.status).toBe('refunded');
    expect((await person.get(`/dashboard/services/${serviceId}`)).body.data.service.options).toEqual(size);
    const released = await product.staff.post(`/staff/orders/${invoiceId}/release`, {});
    expect(released.body.data.order.review.status).toBe('released');
  });

  it('takes nobody in: an invitation waits until it is let go on', async () => {
    const [person, guest] = [await newCustomer(product), await newCustomer(product)];
    const invited = await person.post(`/dashboard/organizations/${person.organizationId}/invitations`, {
      ...{ email: guest.email, role: 'viewer' },
    });
    expect(invited.status).toBe(200);
    const [mail] = await mailsTo(guest.email);
    const token = /\?token=([\w-]+)/.exec(mail?.body ?? '')?.[1];
    await product.staff.post(at(person, '/block'), reason);
    const accept = () => guest.post('/dashboard/invitations/accept', { token });
    expect(face(await accept())).toEqual([403, 'organization_blocked']);
    await product.staff.post(at(person, '/unblock'));
    expect((await accept()).status).toBe(200);
  });

  it('loses the console that it had open', async () => {
    const person = await newCustomer(product, { creditMinor: 50_000 });
    const { serviceId } = await runningVps(product, person);
    const { wss_url } = (await person.get(`/dashboard/service/${serviceId}/vps/console`)).body.data;
    await product.staff.post(at(person, '/block'), reason);
    const { pathname } = new URL(wss_url);
    const socket = new WebSocket(`${product.url.replace('http', 'ws')}${pathname}`);
    socket.on('error', () => undefined);
    const said = await new Promise((resolve) => {
      socket.once('unexpected-response', (_request, response) => resolve(response.statusCode));
      socket.once('open', () => resolve('open'));
    });
    expect(said).not.toBe('open');
  });

  it('is blocked once, and one that is closed is neither blocked nor corrected', async () => {
    const person = await newCustomer(product);
    expect(face(await product.staff.post(at(person, '/block'), {}))).toEqual([400, 'invalid_request']);
    expect(face(await product.staff.post(at(person, '/unblock')))).toEqual([409, 'conflict']);
    await product.staff.post(at(person, '/block'), reason);
    expect(face(await product.staff.post(at(person, '/block'), reason))).toEqual([409, 'conflict']);
    await sql(product, `update organizations set status = 'closed' where id = $1`, person.organizationId);
    for (const answer of [
      await product.staff.post(at(person, '/block'), reason),
      await product.staff.post(at(person, '/unblock')),
      await product.staff.patch(at(person), { name: 'Anew' }),
    ])
      expect(face(answer)).toEqual([409, 'conflict']);
    expect(face(await product.staff.post('/staff/organizations/4242/block', reason))).toEqual([
      404,
      'not_found',
    ]);
  });
});

describe('an organization that staff corrects', () => {
  it('says what it was corrected to, in its activity too, and its owner is told', async () => {
    const person = await newCustomer(product);
    const viewer = await newMember(product, person.organizationId, 'viewer');
    await sql(product, 'update organizations set require_2fa = true where id = $1', person.organizationId);
    expect(face(await person.get('/dashboard/services'))).toEqual([403, 'second_factor_required']);
    const change = { name: 'Fixed Ltd', country: 'NL', require_2fa: false };
    const corrected = await product.staff.patch(at(person), change);
    expect(corrected.body.data.organization).toMatchObject({ ...change, status: 'active' });
    expect((await person.get('/dashboard/services')).status).toBe(200);
    await product.staff.patch(at(person), { name: 'Fixed Ltd' });
    const path = `/dashboard/organizations/${person.organizationId}/activity`;
    const entries = (await person.get(`${path}?action=organization_corrected`)).body.data.activity;
    expect(entries).toHaveLength(1);
    expect((await mailsTo(person.email)).filter(({ subject }) => /corrected/.test(subject))).toHaveLength(1);
    expect((await mailsTo(viewer.email)).filter(({ subject }) => /corrected/.test(subject))).toEqual([]);
  });

  it.each([[{ require_2fa: true }], [{ name: ' ' }], [{ country: 'Netherlands' }], [{ status: 'active' }]])(
    'is not corrected to %j',
    async (body) => {
      expect(face(await product.staff.patch(at(customer), body))).toEqual([400, 'invalid_request']);
    },
  );
});
