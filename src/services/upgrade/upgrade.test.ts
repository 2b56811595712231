import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { audit } from '../../../test/crash/audit.ts';
import { payByCredit } from '../../../test/invoices.ts';
import { watchChanges } from '../../../test/noted.ts';
import { runningVps } from '../../../test/orders.ts';
import { newCustomer, newMember, type Person } from '../../../test/people.ts';
import { startTestProduct, type TestProduct, until } from '../../../test/product.ts';
import { broken, contents, settled, sql } from '../../../test/sql.ts';
import { addProduct } from '../../catalog/index.ts';
import { demoProducts } from '../../demo/products.ts';
import { transaction } from '../../platform/index.ts';

const changes = watchChanges();

// Web hosting 3.00 a month, "Large" 9.00; the VPS 4.00, "VPS Plus" 10.00 with 4 GB of memory and 20 GB of storage.
let product: TestProduct;
let owner: Person;
let id: number;
let large: number;
let small: number;
let plus: number;
let narrow: number;
let both: number;

beforeAll(async () => {
  const capacity = { cpuCores: 100, memoryMib: 1_000_000, diskGib: 10_000, acceleration: 'none' as const };
  product = await startTestProduct({ simulator: { capacity } });
  const { hosting, vps } = demoProducts('AMS');
  const monthly = (minor: number) => [{ cycle: 'monthly' as const, priceMinor: minor, setupFeeMinor: 500 }];
  const from = (memory: number, disk: number, most: number) =>
    vps.options.map((option) => {
      if (option.kind !== 'integer') return option;
      if (option.key === 'option1') return { ...option, min: memory, max: most };
      return option.key === 'option2' ? { ...option, min: disk, max: 100 } : option;
    });
  const add = (made: typeof vps) => transaction(product.ctx, 'test.addProduct', (tx) => addProduct(tx, made));
  large = await add({ ...hosting, name: 'Large', prices: monthly(900), stock: 5 });
  small = await add({ ...hosting, name: 'Small', prices: monthly(100) });
  plus = await add({ ...vps, name: 'VPS Plus', prices: monthly(1_000), options: from(4, 20, 8) });
  const cycles = [...monthly(900), { cycle: 'annually' as const, priceMinor: 9_000, setupFeeMinor: 0 }];
  both = await add({ ...hosting, name: 'Both', prices: cycles });
  narrow = await add({ ...vps, name: 'VPS Narrow', prices: monthly(200), options: from(1, 10, 1) });
});
afterAll(() => product.stop());
beforeEach(async () => {
  await at('2027-04-01T09:30:00Z'); // April has 30 days
  owner = await newCustomer(product, { creditMinor: 100_000 });
  id = await delivered();
});

const upgrade = (body: object, of = id, by = owner) => by.post(`/dashboard/services/${of}/upgrade`, body);
const offers = async (of = id) => (await owner.get(`/dashboard/services/${of}/upgrade`)).body.data;
const service = async (of = id) => (await owner.get(`/dashboard/services/${of}`)).body.data.service;
const invoice = async (of: number) => (await owner.get(`/dashboard/invoices/${of}`)).body.data.invoice;
const stock = async () =>
  (await sql<{ stock: number }>(product, 'select stock from products where id = $1', large))[0]?.stock;

async function at(moment: string): Promise<void> {
  product.clock.set(new Date(moment));
  await product.periodic('fleet.watchNodes');
}

async function delivered(couponcode?: string): Promise<number> {
  const item = { id: product.demo.products.hosting, cycle: 'monthly', type: 'Hosting' };
  const { data } = (await owner.post('/cart/checkout/invoice', { products: [item], couponcode })).body;
  await payByCredit(owner, data.invoice_id);
  await settled(product);
  await product.staff.post(`/staff/services/${data.service_ids[0]}/deliver`, {});
  await settled(product);
  return data.service_ids[0];
}

async function paid(invoiceId: number): Promise<void> {
  expect((await payByCredit(owner, invoiceId)).status).toBe(200);
  await settled(product);
}

async function refused(ask: () => ReturnType<typeof upgrade>, status: number, code: string) {
  await settled(product);
  const before = await held();
  const answer = await ask();
  expect([answer.status, answer.body.code], JSON.stringify(answer.body)).toEqual([status, code]);
  expect(await held()).toEqual(before);
  return answer.body as { message: string };
}

/** All but what the calendar looks at again because the clock went back between tests. */
async function held() {
  const { service_calendar: _, ...rest } = await contents(product);
  return rest;
}

describe('another product', () => {
  it('is offered with what it costs for the days that remain, and what the invoice then asks', async () => {
    await at('2027-04-16T09:30:00Z'); // 15 of 30 days are left
    const { service: shown, availableProducts } = await offers();
    expect(shown).toEqual(await service());
    const found = availableProducts.find((each: { id: number }) => each.id === large);
    expect(found).toMatchObject({
      name: 'Large',
      cycle: 'monthly',
      prorated_charge: '3.00', // 9.00 × 15 / 30 − 3.00 × 15 / 30
      credit: '1.50',
      new_price: '9.00',
      total: '3.00',
      currency: 'EUR',
      effective: 'on_payment',
    });
    expect(availableProducts.map((each: { id: number }) => each.id).toSorted()).toEqual(
      [large, small, both].toSorted(),
    );
    const tried = (await upgrade({ product_id: large, dry_run: true })).body.data;
    const asked = (await upgrade({ product_id: large })).body.data;
    expect({ ...asked, invoice_id: null }).toEqual(tried);
    expect(await invoice(asked.invoice_id)).toMatchObject({
      kind: 'upgrade',
      total: '3.00',
      items: [
        {
          service_id: id,
          product_id: large,
          description: 'Web hosting: Web hosting → Large, until 2027-05-01',
        },
      ],
    });
  });

  it('counts once it is paid, and staff is told what to do', async () => {
    const before = await stock();
    const { invoice_id: invoiceId } = (await upgrade({ product_id: large })).body.data;
    expect(await service()).toMatchObject({ price: '3.00', product: { name: 'Web hosting' } });
    expect(await stock()).toBe(Number(before) - 1);
    await paid(invoiceId);
    expect(await service()).toMatchObject({
      price: '9.00',
      duedate: '2027-05-01',
      product: { name: 'Large' },
    });
    expect(await stock()).toBe(Number(before) - 1);
    const { concerns } = (await product.staff.get('/staff/attention')).body.data;
    const about = concerns.filter(({ kind }: { kind: string }) => kind === 'service.byHand');
    expect(about.map(({ subject }: { subject: { id: number } }) => subject.id)).toContain(id);
    const done = await product.staff.post(`/staff/services/${id}/done`, { task: 'change' });
    expect(done.status, JSON.stringify(done.body)).toBe(200);
  });

  it('that nobody pays leaves the service as it was, and gives its stock and coupon back', async () => {
    await sql(
      product,
      `insert into coupons (code, percent, max_uses, created_at) values ('ONCE', 50, 1, now()) on conflict do nothing`,
    );
    const [before, was] = [await stock(), await service()];
    const asked = (await upgrade({ product_id: large, couponcode: 'once' })).body.data;
    expect(asked).toMatchObject({ prorated_charge: '6.00', discount: '3.00', total: '3.00' });
    await refused(
      () => upgrade({ product_id: large, couponcode: 'once', dry_run: true }),
      400,
      'invalid_coupon',
    );
    await owner.post(`/dashboard/invoices/${asked.invoice_id}/cancel`);
    await settled(product);
    expect(await service()).toEqual(was);
    expect(await stock()).toBe(before);
    expect((await upgrade({ product_id: large, couponcode: 'once', dry_run: true })).status).toBe(200);
  });

  it('that nobody pays gives its coupon back to who asked for it, and not to who ordered the service', async () => {
    await sql(
      product,
      `insert into coupons (code, percent, max_uses_per_customer, created_at) values ('EACH', 50, 1, now())`,
    );
    const other = await newMember(product, owner.organizationId, 'admin');
    const used = (by: Person) =>
      sql(
        product,
        `select uses from coupon_uses_of_people where user_id = $1
           and coupon_id = (select id from coupons where code = 'EACH')`,
        by.userId,
      );
    const { body } = await upgrade({ product_id: large, couponcode: 'each' }, id, other);
    expect([await used(other), await used(owner)]).toEqual([[{ uses: 1 }], []]);
    await owner.post(`/dashboard/invoices/${body.data.invoice_id}/cancel`);
    await settled(product);
    expect([await used(other), await used(owner)]).toEqual([[{ uses: 0 }], []]);
    expect((await upgrade({ product_id: large, couponcode: 'each' }, id, other)).status).toBe(200);
  });

  it('that costs less counts at once, and nothing is paid out', async () => {
    const credit = async () => (await owner.get('/dashboard/invoices')).body.data.credit_balance;
    const before = await credit();
    expect((await upgrade({ product_id: small })).body.data).toMatchObject({
      ...{ invoice_id: null, prorated_charge: '0.00', credit: '1.00', new_price: '1.00', total: '0.00' },
      effective: 'now',
    });
    expect(await service()).toMatchObject({
      price: '1.00',
      product: { name: 'Small' },
      duedate: '2027-05-01',
    });
    const back = (await upgrade({ product_id: product.demo.products.hosting })).body.data;
    expect(back.prorated_charge).toBe('2.00');
    await paid(back.invoice_id);
    expect(await credit()).toBe((Number(before) - 2).toFixed(2));
  });

  it('that costs less waits for the next period where the product says so, and can be taken back by another', async () => {
    const later = (downgrade: string) =>
      product.staff.patch(`/staff/products/${product.demo.products.hosting}`, { downgrade });
    expect((await later('period_end')).status).toBe(200);
    try {
      expect((await upgrade({ product_id: small })).body.data).toMatchObject({
        ...{ invoice_id: null, effective: 'period_end', effective_on: '2027-05-01', new_price: '1.00' },
      });
      expect(await service()).toMatchObject({ price: '3.00', product: { name: 'Web hosting' } });
      const { invoice_id: renewal } = (
        await owner.post(`/dashboard/services/${id}/renew`, { cycle: 'monthly' })
      ).body.data;
      expect(await invoice(renewal)).toMatchObject({ total: '1.00' });
      await paid(renewal);
      expect(await service()).toMatchObject({ price: '3.00', duedate: '2027-06-01' });
      await refused(() => upgrade({ product_id: large }), 409, 'conflict');
      await at('2027-04-30T23:59:59Z');
      await product.periodic('services.applyDueChanges');
      expect((await service()).product.name).toBe('Web hosting');
      // It may have been called off since the backup that the database was restored from: that waits for staff. The restore is there
      // before the day comes, or the product's own turn would be faster.
      const [restore] = await sql<{ id: number }>(
        product,
        `insert into restores (made_at, restored_at, settled_at) values ($1::timestamptz - interval '1 day', $1, $1)
         returning id::int`,
        product.clock.now(),
      );
      await at('2027-05-01T00:00:00Z');
      await product.periodic('services.applyDueChanges');
      expect((await service()).product.name).toBe('Web hosting');
      const { message } = await refused(() => upgrade({ product_id: large }), 409, 'conflict');
      expect(message).toContain('waits until our staff has looked through what was restored');
      expect((await product.staff.post(`/staff/restores/${restore?.id}/release`, {})).status).toBe(200);
      await product.periodic('services.applyDueChanges');
      await product.periodic('services.applyDueChanges');
      expect(await service()).toMatchObject({
        price: '1.00',
        product: { name: 'Small' },
        duedate: '2027-06-01',
      });
    } finally {
      await later('now');
    }
  });

  it('that cannot count on its day keeps none of the others waiting, and is tried again', async () => {
    const other = await delivered();
    const later = (downgrade: string) =>
      product.staff.patch(`/staff/products/${product.demo.products.hosting}`, { downgrade });
    await later('period_end');
    try {
      for (const each of [id, other]) expect((await upgrade({ product_id: small }, each)).status).toBe(200);
      await broken(product, 'services', id);
      await at('2027-05-01T00:00:00Z');
      await product.periodic('services.applyDueChanges');
      expect((await service(other)).product.name).toBe('Small');
      expect((await service()).product.name).toBe('Web hosting');
      const kinds = (await product.staff.get('/staff/attention')).body.data.concerns;
      expect(kinds).toContainEqual(
        expect.objectContaining({ kind: 'job.set_aside', subject: { type: 'row', id } }),
      );
      await sql(product, 'drop trigger is_broken on services');
      // Set aside by a clock that was ahead, it is tried again all the same once the clock is right.
      await sql(product, `update set_aside set again_at = '2028-05-01' where row_id = $1`, id);
      await at('2027-05-01T01:01:00Z');
      await product.periodic('services.applyDueChanges');
      expect((await service()).product.name).toBe('Small');
    } finally {
      await later('now');
    }
  });

  it('that waits for its day is not renewed for another cycle, whose price it would not have', async () => {
    const later = (downgrade: string) =>
      product.staff.patch(`/staff/products/${product.demo.products.hosting}`, { downgrade });
    await later('period_end');
    try {
      expect((await upgrade({ product_id: small })).body.data.effective).toBe('period_end');
      const renew = (cycle: string) => owner.post(`/dashboard/services/${id}/renew`, { cycle });
      const cycles = (await owner.get(`/dashboard/services/${id}/renew`)).body.data.cycles;
      expect(cycles.map(({ cycle }: { cycle: string }) => cycle)).toEqual(['monthly']);
      const year = await renew('annually');
      expect([year.status, year.body.code]).toEqual([409, 'conflict']);
      expect(year.body.message).toContain('2027-05-01');
      await at('2027-05-01T00:00:00Z');
      await product.periodic('services.applyDueChanges');
      // The small one is sold by the month alone.
      expect((await renew('annually')).body.code).toBe('invalid_configuration');
      expect(await service()).toMatchObject({ price: '1.00', billingCycle: 'monthly' });
    } finally {
      await later('now');
    }
  });

  it('asked for again is the same invoice, and for something else is refused until that is settled', async () => {
    const first = (await upgrade({ product_id: large })).body.data;
    await settled(product);
    const mails = await sql<{ subject: string; body: string }>(
      product,
      'select subject, body from mails where recipient = $1 and subject like $2',
      ...[owner.email, `%invoice ${first.invoice_id}`],
    );
    expect(mails.map(({ subject }) => subject)).toEqual([`Your upgrade: invoice ${first.invoice_id}`]);
    expect(mails[0]?.body).not.toContain('cancelled');
    expect((await upgrade({ product_id: large })).body.data).toEqual(first);
    await refused(() => upgrade({ product_id: small }), 409, 'conflict');
    await paid(first.invoice_id);
    expect((await upgrade({ product_id: small })).status).toBe(200);
  });

  it('is paid once and applied once, however many ask and pay', async () => {
    const answers = await Promise.all(Array.from({ length: 6 }, () => upgrade({ product_id: large })));
    const ids = new Set(answers.map(({ body }) => body.data.invoice_id));
    expect(ids.size).toBe(1);
    const [invoiceId] = ids;
    await Promise.all([payByCredit(owner, invoiceId), payByCredit(owner, invoiceId)]);
    await settled(product);
    const told = `select 1 from journal where action = 'service.product_changed' and subject_id = $1`;
    expect(await sql(product, told, id)).toHaveLength(1);
  });
});

describe('a machine', () => {
  it('has the size of its new product once that is paid, in the saga of every resize', async () => {
    const { serviceId: vps } = await runningVps(product, owner);
    const { availableProducts } = await offers(vps);
    expect(availableProducts.map((each: { id: number }) => each.id).toSorted()).toEqual(
      [plus, narrow].toSorted(),
    );
    const asked = (await upgrade({ product_id: plus }, vps)).body.data;
    expect(asked).toMatchObject({
      prorated_charge: '6.00',
      new_price: '10.00',
      options: { option1: 4, option2: 20 },
    });
    const held = await sql(product, 'select memory_mib, disk_gib from placements where service_id = $1', vps);
    expect(held).toEqual([{ memory_mib: 4_096, disk_gib: 20 }]);
    const other = await owner.post(`/dashboard/services/${vps}/upgrade-vps`, { option3: 2 });
    expect(other.body).toMatchObject({
      code: 'conflict',
      message: expect.stringContaining(String(asked.invoice_id)),
    });
    await paid(asked.invoice_id);
    const machine = () =>
      sql(product, 'select memory_mib, disk_gib from machines where service_id = $1', vps);
    await until(machine, ([row]) => JSON.stringify(row) === '{"memory_mib":4096,"disk_gib":20}');
    expect(await service(vps)).toMatchObject({ price: '10.00', options: { option1: 4, option2: 20 } });
    // Smaller again, with the disk it has: storage never shrinks.
    await settled(product);
    const narrower = (await offers(vps)).availableProducts.map((each: { id: number }) => each.id);
    expect(narrower).not.toContain(narrow);
    await refused(() => upgrade({ product_id: narrow }, vps), 400, 'invalid_configuration');
  });

  it('is neither changed nor renewed while a size that was paid does not count yet', async () => {
    const { serviceId: vps } = await runningVps(product, owner);
    const resize = await owner.post(`/dashboard/services/${vps}/upgrade-vps`, { option3: 2 });
    const { invoice_id: invoiceId } = resize.body.data;
    // As it is between the payment and the job that it enqueued.
    const become = (state: string) =>
      sql(product, 'update vps_upgrades set state = $2 where invoice_id = $1', invoiceId, state);
    await become('expired');
    await paid(invoiceId);
    await become('waiting');
    const renew = () => owner.post(`/dashboard/services/${vps}/renew`, { cycle: 'monthly' });
    await refused(() => upgrade({ product_id: plus }, vps), 409, 'conflict');
    await refused(renew, 409, 'conflict');
  });

  it('gives back what it was held when nobody pays', async () => {
    const { serviceId: vps } = await runningVps(product, owner);
    const asked = (await upgrade({ product_id: plus }, vps)).body.data;
    await owner.post(`/dashboard/invoices/${asked.invoice_id}/cancel`);
    await settled(product);
    const held = await sql(product, 'select memory_mib, disk_gib from placements where service_id = $1', vps);
    expect(held).toEqual([{ memory_mib: 1_024, disk_gib: 10 }]);
  });
});

describe('another product together with another cycle', () => {
  it('begins a new period today, of which the days that remain have paid a part', async () => {
    await at('2027-04-16T09:30:00Z'); // 15 of 30 days are left: 1.50
    const { availableProducts } = (await owner.get(`/dashboard/services/${id}/upgrade?cycle=annually`)).body
      .data;
    const offered = {
      prorated_charge: '88.50',
      credit: '1.50',
      new_price: '90.00',
      cycle: 'annually',
      new_duedate: '2028-04-16',
      effective: 'on_payment',
    };
    expect(availableProducts).toMatchObject([{ id: both, ...offered }]);
    const tried = (await upgrade({ product_id: both, cycle: 'annually', dry_run: true })).body.data;
    const asked = (await upgrade({ product_id: both, cycle: 'annually' })).body.data;
    expect(asked).toMatchObject(offered);
    expect({ ...asked, invoice_id: null }).toEqual(tried);
    expect((await upgrade({ product_id: both, cycle: 'annually' })).body.data).toEqual(asked);
    await refused(() => upgrade({ product_id: both }), 409, 'conflict');
    expect(await invoice(asked.invoice_id)).toMatchObject({
      total: '88.50',
      items: [{ description: 'Web hosting: Web hosting → Both, annually, from 2027-04-16 to 2028-04-16' }],
    });
    // Who pays later has the same period.
    await at('2027-04-18T20:00:00Z');
    await paid(asked.invoice_id);
    expect(await service()).toMatchObject({
      product: { name: 'Both' },
      billingCycle: 'annually',
      price: '90.00',
      duedate: '2028-04-16',
    });
    const { cycles } = (await owner.get(`/dashboard/services/${id}/renew`)).body.data;
    expect(cycles).toContainEqual(
      expect.objectContaining({ cycle: 'annually', price: '90.00', new_duedate: '2029-04-16' }),
    );
  });

  it('takes off what was paid for the days that remain, and not what they would have cost', async () => {
    await sql(
      product,
      `insert into coupons (code, percent, created_at) values ('HALF', 50, now()), ('ALL', 100, now())`,
    );
    const [half, all] = [await delivered('HALF'), await delivered('ALL')];
    await at('2027-04-16T09:30:00Z');
    const tried = async (of: number) =>
      (await upgrade({ product_id: both, cycle: 'annually', dry_run: true }, of)).body.data;
    expect(await tried(half)).toMatchObject({ credit: '0.75', prorated_charge: '89.25' });
    expect(await tried(all)).toMatchObject({ credit: '0.00', prorated_charge: '90.00' });
  });

  it('is taken off the calendar of the day on which it would have been due, and is in none until the new one', async () => {
    await at('2027-04-20T09:30:00Z');
    await product.periodic('services.calendar');
    await settled(product);
    const asked = (await upgrade({ product_id: both, cycle: 'annually' })).body.data;
    await paid(asked.invoice_id);
    expect(await sql(product, 'select 1 from service_calendar where service_id = $1', id)).toEqual([]);
    await at('2027-05-20T09:30:00Z');
    await product.periodic('services.calendar');
    await settled(product);
    expect(await service()).toMatchObject({ status: 'active', duedate: '2028-04-20' });
    const { invoices } = (await owner.get('/dashboard/invoices')).body.data;
    expect(invoices.filter(({ status }: { status: string }) => status === 'unpaid')).toEqual([]);
  });

  it('begins anew also where periods were renewed ahead, and the next one is renewed and given back as any', async () => {
    for (let month = 0; month < 13; month += 1) await renewed('monthly');
    await at('2027-05-01T09:30:00Z');
    const asked = (await upgrade({ product_id: both, cycle: 'annually' })).body.data;
    await paid(asked.invoice_id);
    expect(await service()).toMatchObject({ duedate: '2028-05-01' });
    // On the day on which one of those that were renewed before would have begun.
    const next = await renewed('annually');
    expect(await service()).toMatchObject({ duedate: '2029-05-01' });
    const refund = { reason: 'A slip', method: 'credit' };
    expect((await product.staff.post(`/staff/invoices/${next}/refund`, refund)).status).toBe(200);
    await settled(product);
    expect(await service()).toMatchObject({ duedate: '2028-05-01' });
  });

  it('that nobody pays leaves cycle and due date as they were', async () => {
    const was = await service();
    const asked = (await upgrade({ product_id: both, cycle: 'annually' })).body.data;
    await owner.post(`/dashboard/invoices/${asked.invoice_id}/cancel`);
    await settled(product);
    expect(await service()).toEqual(was);
  });

  it('of no more than is paid for already is refused, and says how', async () => {
    await renewed('annually');
    const ask = () => upgrade({ product_id: both, cycle: 'monthly' });
    await refused(ask, 400, 'invalid_configuration');
    expect((await ask()).body.details).toEqual([
      { field: 'cycle', message: expect.stringMatching(/worth as much as a period monthly.*POST …\/renew/) },
    ]);
    const { availableProducts } = (await owner.get(`/dashboard/services/${id}/upgrade?cycle=monthly`)).body
      .data;
    expect(availableProducts.map((each: { id: number }) => each.id)).not.toContain(both);
  });

  it('earns what was left of the period before over the new one, and what was used up at once', async () => {
    await renewed('monthly');
    await at('2027-04-16T09:30:00Z');
    await paid((await upgrade({ product_id: both, cycle: 'annually' })).body.data.invoice_id);
    const ends = { starts: expect.any(String), ends: '2028-04-16', until: '2027-04-16' };
    expect(await earning()).toEqual([
      { ...ends, minor: 300, earned: 150 },
      { ...ends, minor: 300, earned: 0 },
      { ...ends, minor: 8_550, earned: 0 },
    ]);
    await at('2027-05-02T09:30:00Z');
    await product.periodic('billing.earn');
    expect((await earning()).map(({ earned }) => earned)).toEqual([150 + 6, 12, 350]);
    expect(await differences()).toEqual([]);
  });

  it('whose money was all given back leaves the service what it was, with all that was paid for before', async () => {
    const second = await renewed('monthly');
    const was = await service();
    const wereEarned = await earning();
    await at('2027-04-16T09:30:00Z');
    const asked = (await upgrade({ product_id: both, cycle: 'annually' })).body.data;
    await paid(asked.invoice_id);
    expect(await service()).toMatchObject({ duedate: '2028-04-16' });
    await refund(asked.invoice_id);
    const is = await service();
    expect(is).toMatchObject({ duedate: '2027-06-01', price: '3.00', billingCycle: 'monthly' });
    expect(is.product).toEqual(was.product);
    const spans = (all: { starts: string; ends: string }[]) => all.map(({ starts, ends }) => [starts, ends]);
    const [first, next] = spans(await earning());
    expect([first?.[1], next?.[1]]).toEqual(spans(wereEarned).map(([, ends]) => ends));
    // What was renewed before is a renewal like any again.
    await refund(second);
    expect(await service()).toMatchObject({ duedate: '2027-05-01' });
    expect(await differences()).toEqual([]);
  });

  it('whose money was all given back after a renewal leaves product and price, and the time moves up', async () => {
    await at('2027-04-16T09:30:00Z');
    const asked = (await upgrade({ product_id: both, cycle: 'annually' })).body.data;
    await paid(asked.invoice_id);
    await renewed('annually');
    expect(await service()).toMatchObject({ duedate: '2029-04-16' });
    await refund(asked.invoice_id);
    expect(await service()).toMatchObject({
      ...{ duedate: '2028-05-01', price: '90.00', billingCycle: 'annually', product: { name: 'Both' } },
    });
  });

  it('in the cycle that it had, whose money was all given back, leaves the product that it was', async () => {
    const had = await stock();
    const asked = (await upgrade({ product_id: large })).body.data;
    await paid(asked.invoice_id);
    expect(await service()).toMatchObject({ product: { name: 'Large' }, price: '9.00' });
    const part = { reason: 'A slip', method: 'credit', amount: '1.00' };
    await product.staff.post(`/staff/invoices/${asked.invoice_id}/refund`, part);
    await settled(product);
    expect(await service()).toMatchObject({ product: { name: 'Large' } });
    await refund(asked.invoice_id);
    const back = { product: { name: 'Web hosting' }, price: '3.00', duedate: '2027-05-01' };
    expect(await service()).toMatchObject(back);
    expect(await stock()).toBe(had);
  });

  it('paid over a period that is given back gives its days back as well, and no more', async () => {
    const second = await renewed('monthly');
    await at('2027-04-16T09:30:00Z');
    const asked = (await upgrade({ product_id: large })).body.data;
    expect(asked.prorated_charge).toBe('9.00');
    await paid(asked.invoice_id);
    await refund(second);
    // 31 of the 46 days that it was paid for.
    expect(await invoice(asked.invoice_id)).toMatchObject({ status: 'partially_refunded', refunded: '6.06' });
    expect(await service()).toMatchObject({
      duedate: '2027-05-01',
      price: '9.00',
      product: { name: 'Large' },
    });
    await product.staff.patch('/staff/settings', { cancellation: { refund: 'unused', withdrawal_days: 0 } });
    try {
      const { invoices } = (await owner.get(`/dashboard/services/${id}/cancel`)).body.data.immediate.refund;
      // 14 of 30 days of the order, and of the 15 that are left of the change.
      expect(invoices.map(({ amount }: { amount: string }) => amount)).toEqual(['1.40', '2.74']);
    } finally {
      await product.staff.patch('/staff/settings', { cancellation: { refund: 'none', withdrawal_days: 14 } });
    }
    expect(await differences()).toEqual([]);
  });

  async function refund(invoiceId: number): Promise<void> {
    const body = { reason: 'A slip', method: 'credit' };
    expect((await product.staff.post(`/staff/invoices/${invoiceId}/refund`, body)).status).toBe(200);
    await settled(product);
  }

  /** Upgrades are left half done by tests of their own. */
  const differences = async () =>
    (await audit(product.databaseUrl)).filter((found) => !found.startsWith('an upgrade that'));

  /** What is earned of each invoice of the service, and by when. */
  const earning = () =>
    sql<{ starts: string; ends: string; until: string; minor: number; earned: number }>(
      product,
      `select d.starts_on::text as starts, d.ends_on::text as ends, d.earned_until::text as until,
         d.amount_minor as minor, d.earned_minor as earned
       from deferrals d where d.service_id = $1 order by d.id`,
      id,
    );

  async function renewed(cycle: string): Promise<number> {
    const { invoice_id: renewal } = (await owner.post(`/dashboard/services/${id}/renew`, { cycle })).body
      .data;
    await paid(renewal);
    return renewal;
  }
});

describe('refused, and nothing changes', () => {
  it('a product that there is not, is the same, of another kind, or not sold so', async () => {
    await refused(() => upgrade({ product_id: 987_654 }), 404, 'not_found');
    await refused(() => upgrade({ product_id: product.demo.products.hosting }), 400, 'invalid_configuration');
    await refused(() => upgrade({ product_id: plus }), 400, 'invalid_configuration');
    await refused(() => upgrade({ product_id: product.demo.products.domain }), 400, 'invalid_configuration');
    await refused(() => upgrade({ product_id: large, cycle: 'annually' }), 400, 'invalid_configuration');
    const asked = await upgrade({ product_id: large, cycle: 'annually' });
    expect(asked.body.details).toEqual([
      {
        field: 'cycle',
        message: 'Large is not sold annually, but monthly; name one of these as cycle',
      },
    ]);
    await refused(() => upgrade({ product_id: large, couponcode: 'no-such' }), 400, 'invalid_coupon');
    await sql(product, `update products set status = 'retired' where id = $1`, large);
    await refused(() => upgrade({ product_id: large }), 400, 'invalid_configuration');
    await sql(product, `update products set status = 'active', stock = 0 where id = $1`, large);
    await refused(() => upgrade({ product_id: large }), 400, 'insufficient_stock');
    await sql(product, 'update products set stock = 5 where id = $1', large);
  });

  it('a service that is suspended, ends, has ended, is due, or is not theirs', async () => {
    for (const status of ['pending', 'suspended', 'cancelled', 'terminated']) {
      await sql(product, 'update services set status = $2 where id = $1', id, status);
      await refused(() => upgrade({ product_id: large }), 409, 'conflict');
      expect((await offers()).availableProducts).toEqual([]);
    }
    await sql(product, `update services set status = 'active', cancelled = true where id = $1`, id);
    await refused(() => upgrade({ product_id: large }), 409, 'conflict');
    await sql(product, 'update services set cancelled = false where id = $1', id);
    const stranger = await newCustomer(product, { creditMinor: 10_000 });
    const technical = await newMember(product, owner.organizationId, 'technical');
    await refused(() => upgrade({ product_id: large }, id, stranger), 403, 'forbidden');
    await refused(() => upgrade({ product_id: large }, id, technical), 403, 'permission_denied');
    await at('2027-05-01T00:00:00Z');
    await refused(() => upgrade({ product_id: large }), 409, 'conflict');
  });

  it('what is no request of this shape', async () => {
    for (const body of [
      {},
      { product_id: '1' },
      { product_id: 1.5 },
      { product_id: large, cycle: 'weekly' },
      { product_id: large, dry_run: 'yes' },
      { product_id: large, more: 1 },
    ])
      await refused(() => upgrade(body), 400, 'invalid_request');
  });
});

it('counts before a renewal that is asked for in the moment after it was paid', async () => {
  const ids = [id];
  while (ids.length < 4) ids.push(await delivered());
  for (const each of ids) {
    const { invoice_id } = (await upgrade({ product_id: large }, each)).body.data;
    expect((await payByCredit(owner, invoice_id)).status).toBe(200);
    const renewal = await owner.post(`/dashboard/services/${each}/renew`, { cycle: 'monthly' });
    expect(renewal.status, JSON.stringify(renewal.body)).toBe(200);
    expect(await invoice(renewal.body.data.invoice_id)).toMatchObject({ status: 'unpaid', total: '9.00' });
    await settled(product);
    expect(await service(each)).toMatchObject({ price: '9.00', duedate: '2027-05-01' });
  }
});

describe('a change', () => changes.leaveEntries(() => product, ['upgradeService']));
