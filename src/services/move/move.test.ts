import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newInvoice, payByCredit } from '../../../test/invoices.ts';
import { watchChanges } from '../../../test/noted.ts';
import { runningVps } from '../../../test/orders.ts';
import { newCustomer, newMember, type Person, signedIn } from '../../../test/people.ts';
import { putPoints } from '../../../test/points.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { contents, settled, sql } from '../../../test/sql.ts';
import { periods, resolutions } from '../../vps/chartParts.ts';

const changes = watchChanges();

let product: TestProduct;
beforeAll(async () => {
  product = await startTestProduct();
});
afterAll(() => product.stop());

const face = ({ status, body }: { status: number; body: { code?: string } }) => [status, body.code];
const pathOf = (serviceId: number) => `/dashboard/services/${serviceId}/move`;

async function joins(person: Person, { organizationId }: Person, role = 'owner') {
  await sql(
    product,
    `insert into memberships (organization_id, user_id, role, joined_at) values ($1, $2, $3, now())`,
    ...[organizationId, person.userId, role],
  );
}

/** Somebody who rules two organizations, with a machine in the first. */
async function ofTwo() {
  const owner = await newCustomer(product, { creditMinor: 50_000 });
  const other = await newCustomer(product, { creditMinor: 50_000 });
  await joins(owner, other, 'admin');
  const { serviceId, invoiceId } = await runningVps(product, owner);
  await settled(product);
  const here = await signedIn(product, owner);
  const move = (to: number = other.organizationId) => here.post(pathOf(serviceId), { organization_id: to });
  return { owner, other, serviceId, invoiceId, here, move };
}

async function creditOf(person: Person): Promise<string> {
  return (await person.get('/dashboard/invoices')).body.data.credit_balance;
}

describe('a service that moves to another organization', () => {
  it('is the other’s with its machine and addresses, stays paid by the first, and stands in both journals', async () => {
    const { owner, other, serviceId, invoiceId, move } = await ofTwo();
    await newInvoice(product, other);
    const before = (await owner.get(`/dashboard/services/${serviceId}`)).body.data.service;
    const machine = `/dashboard/service/${serviceId}/vps`;
    const { id: restart } = (await owner.post(`${machine}/restart`, {})).body.data.action;
    await settled(product);
    for (const period of periods) {
      const time = new Date(product.clock.now().getTime() - resolutions[period].intervalS * 1_000);
      await putPoints(product, {
        ...{ serviceId, organizationId: owner.organizationId, period, times: [time], cpu: 77 },
      });
    }
    const credits = [await creditOf(owner), await creditOf(other)];
    const moved = await move();
    expect(moved.status, JSON.stringify(moved.body)).toBe(200);
    expect(moved.body.data).toEqual({ moved: true, organization_id: other.organizationId });

    for (const path of [`/dashboard/services/${serviceId}`, `/dashboard/service/${serviceId}/vps/overview`])
      expect(face(await owner.get(path))).toEqual([403, 'forbidden']);
    const { service } = (await other.get(`/dashboard/services/${serviceId}`)).body.data;
    expect(service).toMatchObject({
      ...{ price: before.price, duedate: before.duedate, primary_ip: before.primary_ip, status: 'active' },
    });
    expect((await other.get(`/dashboard/service/${serviceId}/vps/overview`)).body.data.vps.state).toBe(
      'running',
    );
    expect(face(await other.get(`${machine}/history/${restart}`))).toEqual([404, 'not_found']);
    for (const period of ['hour', 'day', 'week', 'month', 'year']) {
      const { points } = (await other.get(`${machine}/charts?period=${period}`)).body.data;
      expect(points.filter(({ cpu }: { cpu: number }) => cpu === 77)).toEqual([]);
    }
    const { services } = (await other.get('/dashboard/services')).body.data;
    expect(services.map(({ id }: { id: number }) => id)).toContain(serviceId);
    expect((await owner.get(`/dashboard/invoices/${invoiceId}`)).status).toBe(200);
    expect(face(await other.get(`/dashboard/invoices/${invoiceId}`))).toEqual([403, 'forbidden']);
    expect([await creditOf(owner), await creditOf(other)]).toEqual(credits);

    const renewed = await other.post(`/dashboard/services/${serviceId}/renew`, { cycle: 'monthly' });
    expect((await other.get(`/dashboard/invoices/${renewed.body.data.invoice_id}`)).status).toBe(200);
    expect((await other.post(`/dashboard/service/${serviceId}/vps/stop`, { force: true })).status).toBe(200);
    await settled(product);
    for (const [person, action] of [
      [owner, 'service_moved_away'],
      [other, 'service_moved_in'],
    ] as const) {
      const path = `/dashboard/organizations/${person.organizationId}/activity?action=${action}`;
      expect((await person.get(path)).body.data.activity).toHaveLength(1);
      const mails = (await product.staff.get(`/staff/mails?recipient=${person.email}`)).body.data.mails;
      expect(mails.filter(({ subject }: { subject: string }) => /moved/.test(subject))).toHaveLength(1);
    }
    for (const table of ['services', 'machines', 'placements', 'addresses', 'vps_access', 'vps_snapshots'])
      expect([
        table,
        await sql(
          product,
          `select 1 from ${table} where ${table === 'services' ? 'id' : 'service_id'} = $1 and organization_id <> $2`,
          ...[serviceId, other.organizationId],
        ),
      ]).toEqual([table, []]);
  });

  it('shares no point of a chart with who had it before', async () => {
    const { owner, other, serviceId, move } = await ofTwo();
    await move();
    await settled(product);
    const sample = ({ organizationId }: Person, secondsAgo: number, cpu: number) => {
      const times = [new Date(product.clock.now().getTime() - secondsAgo * 1_000)];
      return putPoints(product, { serviceId, organizationId, times, cpu });
    };
    await sql(product, 'delete from vps_charts where service_id = $1', serviceId);
    await sample(owner, 40, 90);
    await sample(owner, 30, 90);
    await sample(other, 20, 10);
    await product.periodic('vps.charts');
    for (const period of ['day', 'week', 'month', 'year']) {
      const { data } = (await other.get(`/dashboard/service/${serviceId}/vps/charts?period=${period}`)).body;
      expect(
        data.points.map(({ cpu }: { cpu: number }) => cpu),
        period,
      ).toEqual([10]);
    }
  });

  it('gives what goes back to who paid it', async () => {
    const { owner, other, serviceId, move } = await ofTwo();
    await move();
    const credits = [Number(await creditOf(owner)), Number(await creditOf(other))];
    // What the other had paid is its own matter: the new one reads the sum, and none of its invoices.
    const { data: shown } = (await other.get(`/dashboard/services/${serviceId}/cancel`)).body;
    expect(Number(shown.immediate.refund.total)).toBeGreaterThan(0);
    expect(shown.immediate.refund.invoices).toEqual([]);
    const { body } = await other.post(`/dashboard/services/${serviceId}/cancel`, { type: 'immediate' });
    expect(body.data.refund).toEqual(shown.immediate.refund);
    expect(Number(await creditOf(owner))).toBeGreaterThan(credits[0] ?? 0);
    expect(Number(await creditOf(other))).toBe(credits[1]);
  });

  it('needs an owner or administrator of both, who proved who they are, and changes nothing otherwise', async () => {
    const { owner, other, serviceId, here, move } = await ofTwo();
    const viewer = await newCustomer(product);
    await joins(owner, viewer, 'technical');
    const stranger = await newCustomer(product);
    const technical = await newMember(product, owner.organizationId, 'technical');
    await joins(technical, other, 'owner');
    const there = await signedIn(product, technical);
    await settled(product);
    const before = await contents(product);
    for (const to of [viewer.organizationId, stranger.organizationId, 4242])
      expect(face(await move(to))).toEqual([403, 'permission_denied']);
    expect(face(await move(owner.organizationId))).toEqual([409, 'conflict']);
    const wish = { organization_id: other.organizationId };
    expect(face(await there.post(pathOf(serviceId), wish))).toEqual([403, 'permission_denied']);
    expect(face(await owner.post(pathOf(serviceId), wish))).toEqual([403, 'session_required']);
    expect(face(await here.post(pathOf(4242), wish))).toEqual([404, 'not_found']);
    expect(await contents(product)).toEqual(before);
    product.clock.travel(10 * 60_000);
    expect(face(await move())).toEqual([403, 'reauthentication_required']);
  });

  it('is given away by an owner alone, and not while its machine is protected', async () => {
    const { owner, other, serviceId, move } = await ofTwo();
    const admin = await newMember(product, owner.organizationId, 'admin');
    await joins(admin, other, 'owner');
    const there = await signedIn(product, admin);
    const wish = { organization_id: other.organizationId };
    expect(face(await there.post(pathOf(serviceId), wish))).toEqual([403, 'permission_denied']);
    const settings = `/dashboard/service/${serviceId}/vps/settings`;
    await owner.patch(settings, { protection: { delete: true } });
    const refused = await move();
    expect(face(refused)).toEqual([409, 'conflict']);
    expect(refused.body.message).toContain('turn protection.delete off');
    await owner.patch(settings, { protection: { delete: false } });
    expect((await move()).status).toBe(200);
  });

  it('gives nothing back to who is closed, who is asked before whether to give it up', async () => {
    const owner = await newCustomer(product, { creditMinor: 50_000 });
    const other = await newCustomer(product);
    await joins(owner, other, 'admin');
    const { serviceId, invoiceId } = await runningVps(product, owner);
    await settled(product);
    const here = await signedIn(product, owner);
    const moved = await here.post(pathOf(serviceId), { organization_id: other.organizationId });
    expect(moved.status, JSON.stringify(moved.body)).toBe(200);
    await settled(product);
    const close = (body: object) => here.post('/dashboard/account/close', body);
    await sql(
      product,
      `update memberships set role = 'viewer' where user_id = $1 and organization_id = $2`,
      ...[owner.userId, other.organizationId],
    );
    const refused = await close({});
    expect(face(refused)).toEqual([409, 'account_in_use']);
    expect(refused.body.details.map(({ field }: { field: string }) => field)).toContain(
      `services[${serviceId}]`,
    );
    expect((await close({ give_up_credit: true })).status).toBe(200);
    const shown = (await other.get(`/dashboard/services/${serviceId}/cancel`)).body.data;
    expect(shown.immediate.refund.total).toBe('0.00');
    const cancelled = await other.post(`/dashboard/services/${serviceId}/cancel`, { type: 'immediate' });
    expect(cancelled.status, JSON.stringify(cancelled.body)).toBe(200);
    const back = await product.staff.post(`/staff/invoices/${invoiceId}/refund`, {
      ...{ method: 'credit', reason: 'Asked for' },
    });
    expect(face(back)).toEqual([409, 'conflict']);
    const byHand = await product.staff.post('/staff/invoices', {
      ...{ organization_id: owner.organizationId, currency: 'EUR' },
      lines: [{ description: 'Work', unit_price: '8.00' }],
    });
    expect(face(byHand)).toEqual([409, 'conflict']);
    const notes = await sql(product, 'select 1 from invoices where corrects = $1', invoiceId);
    expect(notes).toEqual([]);
  });

  it('is not moved while something of it is open, or an organization is blocked', async () => {
    const { owner, other, serviceId, move } = await ofTwo();
    const { body } = await owner.post(`/dashboard/services/${serviceId}/renew`, { cycle: 'monthly' });
    const refused = await move();
    expect(face(refused)).toEqual([409, 'conflict']);
    expect(refused.body.message).toContain(String(body.data.invoice_id));
    await payByCredit(owner, body.data.invoice_id);
    await settled(product);
    await sql(
      product,
      `insert into vps_actions (id, organization_id, service_id, command, status, initiator_type, created_at)
       values (1, $1, $2, 'stop', 'running', 'system', now())`,
      ...[owner.organizationId, serviceId],
    );
    expect((await move()).body.message).toContain('stop');
    await sql(product, `delete from vps_actions where id = 1`);
    await product.staff.post(`/staff/organizations/${other.organizationId}/block`, { reason: 'Test' });
    expect(face(await move())).toEqual([403, 'organization_blocked']);
    await product.staff.post(`/staff/organizations/${other.organizationId}/unblock`);
    await owner.post(`/dashboard/services/${serviceId}/cancel`, { type: 'end_of_period' });
    expect(face(await move())).toEqual([409, 'conflict']);
  });

  it('while it is changed or renewed: one comes first, and no invoice is of who has it no more', async () => {
    for (let nth = 0; nth < 4; nth += 1) {
      const { owner, other, serviceId, move } = await ofTwo();
      const [moved, renewed, noted] = await Promise.all([
        move(),
        owner.post(`/dashboard/services/${serviceId}/renew`, { cycle: 'monthly' }),
        owner.patch(`/dashboard/services/${serviceId}/note`, { note: 'ours' }),
      ]);
      expect([200, 409]).toContain(moved.status);
      expect([200, 403]).toContain(renewed.status);
      expect([200, 403]).toContain(noted.status);
      const [row] = await sql<{ organization_id: number; note: string | null }>(
        product,
        'select organization_id, note from services where id = $1',
        serviceId,
      );
      const now = moved.status === 200 ? other : owner;
      expect(Number(row?.organization_id)).toBe(now.organizationId);
      expect(moved.status === 200 && renewed.status === 200).toBe(false);
      if (moved.status === 200) expect(row?.note).toBeNull();
    }
  });
});

describe('a change', () => changes.leaveEntries(() => product, ['moveService']));
