import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { audit } from '../../../test/crash/audit.ts';
import { watchChanges } from '../../../test/noted.ts';
import { orderVps, runningVps } from '../../../test/orders.ts';
import { newCustomer, newMember, type Person } from '../../../test/people.ts';
import { startTestProduct, type TestProduct, until } from '../../../test/product.ts';
import { contents, settled, sql } from '../../../test/sql.ts';

const changes = watchChanges();

// The catalogue of the demonstration: 4.00 a month, 2.00 a GB of memory over 1, 0.10 a GB of storage over 10,
// 1.50 a core over 1, 1.00 an IPv4 address over 1, IPv6 for nothing.
let product: TestProduct;
let owner: Person;
let id: number;
let silentGuest = '';

beforeAll(async () => {
  const capacity = { cpuCores: 100, memoryMib: 1_000_000, diskGib: 10_000, acceleration: 'none' as const };
  const guestIsSilent = (machine: string) => machine === silentGuest;
  product = await startTestProduct({ simulator: { capacity, guestIsSilent } });
});
afterAll(() => product.stop());

beforeEach(async () => {
  product.clock.set(new Date('2027-04-01T09:30:00Z')); // April has 30 days
  await product.periodic('fleet.watchNodes');
  owner = await newCustomer(product, { creditMinor: 100_000 });
  ({ serviceId: id } = await runningVps(product, owner));
});

const upgrade = (body: object, of = id, by = owner) => by.post(`/dashboard/services/${of}/upgrade-vps`, body);
const pay = (invoiceId: number) => owner.post(`/dashboard/invoices/${invoiceId}/pay`, { method: 'credit' });
const service = async (of = id) => (await owner.get(`/dashboard/services/${of}`)).body.data.service;
const node = async () => (await product.staff.get('/staff/nodes')).body.data.nodes[0];
const resizes = (of = id) =>
  sql<{ payload: Record<string, unknown>; state: string }>(
    product,
    `select payload, state from jobs where name = 'vps.resize' and (payload->>'serviceId')::bigint = $1 order by id`,
    of,
  );
const addresses = (of = id) =>
  sql<{ held: boolean; state: string }>(
    product,
    'select held, state from addresses where service_id = $1 order by ordinal',
    of,
  );
const resources = async (of = id) =>
  (await sql(product, 'select cpu_cores, memory_mib, disk_gib from placements where service_id = $1', of))[0];
const wakeRested = () =>
  sql(product, `update addresses set state = 'free', rests_until = null where state = 'resting'`);
/** The action of the machine's nth resize, once it has ended. */
const resized = async (nth = 1) => {
  await until(resizes, (jobs) => jobs.length === nth && jobs.every((job) => job.state === 'done'));
  const { actionId } = (await resizes()).at(-1)?.payload ?? {};
  return (await owner.get(`/dashboard/service/${id}/vps/history/${actionId}`)).body.data.action;
};
/** Everything there is, once the mails of what came before are out. */
const settledContents = async () => {
  await settled(product);
  return contents(product);
};
const days = (count: number) => product.clock.travel(count * 86_400_000);
const expire = async () => {
  product.clock.travel(97 * 3_600_000);
  await product.periodic('billing.expire');
};

describe('an upgrade', () => {
  it('costs the difference for the days that remain, and counts once it is paid', async () => {
    days(10); // 20 of 30 days are left
    const asked = await upgrade({ option1: 2, option3: 2 });
    expect(asked.body.data).toMatchObject({
      prorated_charge: '2.34', // 7.50 × 20 / 30 − 4.00 × 20 / 30, each rounded down
      credit: '2.66', // 4.00 × 20 / 30 = 2.666…
      new_price: '7.50',
      total: '2.34',
      currency: 'EUR',
      effective: 'on_payment',
      action: null,
    });
    const { invoice_id: invoiceId } = asked.body.data;
    const { invoice } = (await owner.get(`/dashboard/invoices/${invoiceId}`)).body.data;
    expect(invoice).toMatchObject({ kind: 'upgrade', status: 'unpaid', total: '2.34' });
    expect(invoice.items).toMatchObject([
      {
        service_id: id,
        description: 'VPS, web1.example.com: Memory (GB) 1 → 2, CPU cores 1 → 2, until 2027-05-01',
      },
    ]);
    expect(await service()).toMatchObject({ price: '4.00', options: { option1: 1, option3: 1 } });
    expect(await resizes()).toEqual([]);

    expect((await pay(invoiceId)).status).toBe(200);
    const after = await until(
      () => service(),
      (seen) => seen.price === '7.50',
    );
    expect(after).toMatchObject({
      firstPrice: '4.00',
      duedate: '2027-05-01',
      options: { option1: 2, option2: 10, option3: 2 },
    });
    expect((await resizes()).map((job) => job.payload)).toEqual([
      {
        serviceId: id,
        organizationId: owner.organizationId,
        actionId: expect.any(Number),
      },
    ]);
    const told = await sql(
      product,
      `select data from journal where action = 'service.upgraded' and subject_id = $1`,
      id,
    );
    expect(told).toMatchObject([{ data: { price: '7.50', before: { option1: 1 }, after: { option1: 2 } } }]);
  });

  it('on the first day costs the whole difference, on the last day a thirtieth', async () => {
    expect((await upgrade({ option3: 3, dry_run: true })).body.data.prorated_charge).toBe('3.00');
    days(29);
    expect((await upgrade({ option3: 3, dry_run: true })).body.data.prorated_charge).toBe('0.10');
    days(1);
    expect((await upgrade({ option3: 3, dry_run: true })).body.code).toBe('conflict');
  });

  it('keeps the price of what stays, whatever the catalogue says today', async () => {
    await sql(product, `update services set price_minor = 300 where id = $1`, id);
    expect((await upgrade({ option1: 2, dry_run: true })).body.data.new_price).toBe('5.00');
  });

  it('tried out writes nothing, and says what the invoice then asks', async () => {
    const before = await settledContents();
    const tried = await upgrade({ option1: 3, option2: 30, dry_run: true });
    expect(await settledContents()).toEqual(before);
    const asked = await upgrade({ option1: 3, option2: 30 });
    expect({ ...asked.body.data, invoice_id: null }).toEqual(tried.body.data);
  });

  it('carries the tax of the organization', async () => {
    await sql(
      product,
      `insert into tax_rates (country, rate_basis_points) values ('NL', 2100) on conflict do nothing`,
    );
    await sql(product, `update organizations set country = 'NL' where id = $1`, owner.organizationId);
    expect((await upgrade({ option1: 2 })).body.data).toMatchObject({
      prorated_charge: '2.00',
      total: '2.42',
    });
  });

  it('is paid once and applied once, however often its job runs', async () => {
    const { invoice_id: invoiceId } = (await upgrade({ option1: 2 })).body.data;
    await Promise.all([pay(invoiceId), pay(invoiceId)]);
    await sql(
      product,
      `insert into jobs (name, organization_id, payload, run_at, created_at)
       select name, organization_id, payload, run_at, created_at from jobs
       where name = 'vps.applyUpgrade' and payload->'subject'->'id' = to_jsonb($1::bigint)`,
      invoiceId,
    );
    await until(
      () =>
        sql(product, `select 1 from jobs where name = 'vps.applyUpgrade' and state in ('ready', 'running')`),
      (open) => open.length === 0,
    );
    expect(await resizes()).toHaveLength(1);
    expect((await service()).price).toBe('6.00');
  });
});

describe('resources for an upgrade', () => {
  it('is held from the invoice on and kept when it is paid', async () => {
    const before = (await node()).taken;
    const grown = {
      cpu_cores: before.cpu_cores + 1,
      memory_mib: before.memory_mib + 2_048,
      disk_gib: before.disk_gib + 15,
    };
    const { invoice_id: invoiceId } = (await upgrade({ option1: 3, option2: 25, option3: 2 })).body.data;
    expect((await node()).taken).toEqual(grown);
    await pay(invoiceId);
    await until(resizes, (jobs) => jobs.length === 1);
    expect((await node()).taken).toEqual(grown);
  });

  it('is given back when nobody pays, with the addresses, which nobody used', async () => {
    const before = await resources();
    const { invoice_id: invoiceId } = (await upgrade({ option1: 3, option4: 2, option5: 1 })).body.data;
    expect(await addresses()).toHaveLength(3);
    expect(await resources()).not.toEqual(before);
    await expire();
    await until(addresses, (rows) => rows.length === 1);
    expect(await resources()).toEqual(before);
    expect(await sql(product, `select 1 from addresses where state = 'resting'`)).toEqual([]);
    expect(await service()).toMatchObject({
      status: 'active',
      price: '4.00',
      options: { option1: 1, option4: 1 },
    });
    expect((await pay(invoiceId)).body.code).toBe('invoice_not_payable');
    expect((await upgrade({ option1: 2 })).status).toBe(200);
  });

  it('is had by one of two when it is enough for one', async () => {
    const { serviceId: second } = await runningVps(product, owner);
    const { id: nodeId, taken, capacity } = await node();
    const reserve = capacity.memory_mib - taken.memory_mib - 3_000; // resources for two GB, not for four
    await product.staff.patch(`/staff/nodes/${nodeId}`, { memory_reserve_mib: reserve });
    const [one, two] = await Promise.all([upgrade({ option1: 3 }), upgrade({ option1: 3 }, second)]);
    expect([one.status, two.status].sort()).toEqual([200, 400]);
    const refused = one.status === 400 ? one : two;
    expect(refused.body).toMatchObject({ code: 'insufficient_stock', message: 'Not enough stock available' });
    expect((await node()).taken.memory_mib).toBe(taken.memory_mib + 2_048);
    await product.staff.patch(`/staff/nodes/${nodeId}`, { memory_reserve_mib: 0 });
  });

  it('is taken on a draining node, which keeps its machines, and not on one that is down', async () => {
    const { id: nodeId } = await node();
    await product.staff.patch(`/staff/nodes/${nodeId}`, { state: 'down' });
    const before = await settledContents();
    expect((await upgrade({ option1: 2 })).body.code).toBe('insufficient_stock');
    expect(await settledContents()).toEqual(before);
    await product.staff.patch(`/staff/nodes/${nodeId}`, { state: 'draining' });
    expect((await upgrade({ option1: 2 })).status).toBe(200);
    await product.staff.patch(`/staff/nodes/${nodeId}`, { state: 'active' });
  });
});

describe('more addresses', () => {
  it("are held until they are paid, and the machine's afterwards", async () => {
    const ips = async () => (await owner.get(`/dashboard/service/${id}/vps/ips`)).body.data.ips;
    const [primary] = await ips();
    const { invoice_id: invoiceId } = (await upgrade({ option4: 2, option5: 1 })).body.data;
    expect(await ips()).toEqual([primary]);
    expect((await service()).primary_ip).toBe(primary.address);
    await pay(invoiceId);
    const all = await until(ips, (seen) => seen.length === 3);
    expect(all[0]).toEqual(primary);
    expect(all.map((ip: { family: number }) => ip.family)).toEqual([4, 4, 6]);
  });

  it('reach the running guest, and those given up go, without a restart', async () => {
    const { startedAt } = await product.hypervisor.inspect(`vps-${id}`);
    for (const body of [{ option4: 2, option5: 1 }, { option4: 1 }]) {
      const { invoice_id: invoiceId } = (await upgrade(body)).body.data;
      if (invoiceId !== null) await pay(invoiceId);
      await resized(invoiceId === null ? 2 : 1);
      const { ips } = (await owner.get(`/dashboard/service/${id}/vps/ips`)).body.data;
      expect(ips).toHaveLength(invoiceId === null ? 2 : 3);
      expect(product.hypervisor.guestAddresses(`vps-${id}`)).toEqual(
        ips.map((ip: { address: string }) => ip.address),
      );
    }
    expect(await product.hypervisor.inspect(`vps-${id}`)).toMatchObject({ startedAt });
    await wakeRested();
  });

  it('wait for the next boot of a guest that does not listen, and the upgrade succeeds', async () => {
    silentGuest = `vps-${id}`;
    await pay((await upgrade({ option4: 2 })).body.data.invoice_id);
    expect(await resized()).toMatchObject({ status: 'success', error: null });
    expect(product.hypervisor.guestAddresses(silentGuest)).toHaveLength(1);
    await product.hypervisor.reset(silentGuest);
    expect(product.hypervisor.guestAddresses(silentGuest)).toHaveLength(2);
  });

  it('are there at the start of a stopped machine', async () => {
    await owner.post(`/dashboard/service/${id}/vps/stop`, { force: true });
    const overview = async () => (await owner.get(`/dashboard/service/${id}/vps/overview`)).body.data.vps;
    await until(overview, (vps) => vps.state === 'stopped' && !vps.locked);
    await pay((await upgrade({ option4: 2 })).body.data.invoice_id);
    await resized();
    expect((await overview()).state).toBe('stopped');
    await owner.post(`/dashboard/service/${id}/vps/start`);
    await until(overview, (vps) => vps.state === 'running');
    expect(product.hypervisor.guestAddresses(`vps-${id}`)).toHaveLength(2);
  });

  it('that are given up rest', async () => {
    await pay((await upgrade({ option4: 2 })).body.data.invoice_id);
    await until(addresses, (rows) => rows.length === 2 && rows.every((row) => !row.held));
    expect((await upgrade({ option4: 1 })).body.data).toMatchObject({ invoice_id: null, effective: 'now' });
    expect(await addresses()).toHaveLength(1);
    expect(await sql(product, `select 1 from addresses where state = 'resting'`)).toHaveLength(1);
    await wakeRested();
  });

  it('are not promised when there are none', async () => {
    await sql(
      product,
      `update addresses set state = 'reserved' where state = 'free' and family(address) = 4`,
    );
    const before = await settledContents();
    expect((await upgrade({ option1: 2, option4: 2 })).body.code).toBe('insufficient_stock');
    expect(await settledContents()).toEqual(before);
    await sql(product, `update addresses set state = 'free' where state = 'reserved'`);
  });
});

describe('a downgrade', () => {
  it('with nothing to pay counts at once, without an invoice', async () => {
    await pay((await upgrade({ option1: 4 })).body.data.invoice_id);
    await until(resizes, (jobs) => jobs.length === 1);
    const invoices = (await owner.get('/dashboard/invoices')).body.data.total;
    const answer = await upgrade({ option1: 2 });
    expect(answer.body.data).toMatchObject({
      invoice_id: null,
      prorated_charge: '0.00',
      new_price: '6.00',
      total: '0.00',
      effective: 'now',
      action: { command: 'resize', status: 'queued', initiator: { type: 'api_key' } },
    });
    expect(await service()).toMatchObject({ price: '6.00', options: { option1: 2 } });
    expect((await owner.get('/dashboard/invoices')).body.data.total).toBe(invoices);
    const [, second] = await resizes();
    expect(second?.payload.actionId).toBe(answer.body.data.action.id);
  });

  it('takes off what was paid for, whatever a unit costs today', async () => {
    await pay((await upgrade({ option1: 3 })).body.data.invoice_id);
    await until(resizes, (jobs) => jobs.length === 1);
    const path = `/staff/products/${product.demo.products.vps}`;
    const { body } = await product.staff.patch(path, { options: [{ key: 'option1', unit_price: '9.00' }] });
    expect(body.data.product.options[0]).toMatchObject({ key: 'option1', unit_price: '9.00' });
    expect((await upgrade({ option1: 4, dry_run: true })).body.data.new_price).toBe('17.00');
    const terms = (await upgrade({ option1: 1 })).body.data;
    await product.staff.patch(path, { options: [{ key: 'option1', unit_price: '2.00' }] });
    expect(terms.new_price).toBe('4.00');
  });

  it('of one thing for another is paid by the difference', async () => {
    await pay((await upgrade({ option1: 2 })).body.data.invoice_id); // + 2.00
    await until(resizes, (jobs) => jobs.length === 1);
    expect((await upgrade({ option1: 1, option3: 3, dry_run: true })).body.data).toMatchObject({
      prorated_charge: '1.00', // − 2.00 + 3.00
      new_price: '7.00',
    });
  });
});

describe('an upgrade that waits', () => {
  it('is returned, not doubled', async () => {
    const first = await upgrade({ option1: 2 });
    const again = await upgrade({ option1: 2, option3: 1 });
    expect(again.body.data).toEqual(first.body.data);
    expect(await sql(product, 'select 1 from vps_upgrades where service_id = $1', id)).toHaveLength(1);
  });

  it('is written once when it is asked for many times at once', async () => {
    const before = (await node()).taken.memory_mib;
    const answers = await Promise.all(Array.from({ length: 8 }, () => upgrade({ option1: 2 })));
    expect(answers.map((answer) => answer.status)).toEqual(answers.map(() => 200));
    expect(new Set(answers.map((answer) => answer.body.data.invoice_id)).size).toBe(1);
    expect((await node()).taken.memory_mib).toBe(before + 1_024);
  });

  it('keeps another one away, and says which it is', async () => {
    const { invoice_id: invoiceId } = (await upgrade({ option1: 2 })).body.data;
    const before = await settledContents();
    const other = await upgrade({ option1: 3 });
    expect(other.body).toMatchObject({
      code: 'conflict',
      message: expect.stringContaining(String(invoiceId)),
    });
    expect(await settledContents()).toEqual(before);
  });

  it('of two different ones at once lets one through', async () => {
    const answers = await Promise.all([upgrade({ option1: 2 }), upgrade({ option3: 2 })]);
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, 409]);
  });

  it('gives way to a new one as soon as its invoice has expired', async () => {
    await upgrade({ option1: 2, option4: 2 });
    await sql(
      product,
      `update invoices set status = 'cancelled' where kind = 'upgrade' and organization_id = $1`,
      owner.organizationId,
    );
    expect((await upgrade({ option3: 2 })).body.data.new_price).toBe('5.50');
    expect(await addresses()).toHaveLength(1);
  });

  it('does not outlive the period it was priced for', async () => {
    days(29);
    const { invoice_id: invoiceId } = (await upgrade({ option1: 2 })).body.data;
    const { invoice } = (await owner.get(`/dashboard/invoices/${invoiceId}`)).body.data;
    expect(invoice.duedate).toBe('2027-04-30'); // the next period counts from 1 May
  });
});

describe('an upgrade is refused', () => {
  const cases: [string, object, string][] = [
    ['storage that shrinks', { option2: 9 }, 'option2'],
    ['more than the product offers', { option1: 9 }, 'option1'],
    ['less than the product offers', { option3: 0 }, 'option3'],
    ['a port speed the product does not have', { option7: '100gbit' }, 'option7'],
    ['nothing', {}, 'option1'],
    ['what is so already', { option1: 1, option2: 10 }, 'option1'],
  ];
  it.each(cases)('for %s', async (_, body, field) => {
    const before = await settledContents();
    const answer = await upgrade(body);
    expect(answer.body).toMatchObject({ code: 'invalid_configuration', details: [{ field }] });
    expect(await settledContents()).toEqual(before);
  });

  it('for storage that shrinks within what the product offers, and says how large it is', async () => {
    await pay((await upgrade({ option2: 40 })).body.data.invoice_id);
    await until(resizes, (jobs) => jobs.length === 1);
    const answer = await upgrade({ option2: 39, option1: 2 });
    expect(answer.body).toMatchObject({ code: 'invalid_configuration', details: [{ field: 'option2' }] });
    expect(answer.body.details[0].message).toContain('40');
  });

  it('for a price that cannot be counted to the cent, though what is due now can', async () => {
    const path = `/staff/products/${product.demo.products.vps}`;
    const sell = async (memory: string, storage: string) => {
      const prices = { option1: memory, option2: storage };
      const options = Object.entries(prices).map(([key, unit_price]) => ({ key, unit_price }));
      expect((await product.staff.patch(path, { options })).status).toBe(200);
    };
    await sell('999999999999.99', '999999999999.99');
    try {
      days(29);
      for (const dry_run of [true, false]) {
        const answer = await upgrade({ option1: 3, option2: 100, dry_run });
        expect([answer.status, answer.body.code]).toEqual([400, 'amount_too_large']);
      }
      expect((await upgrade({ option2: 12, dry_run: true })).body.data.new_price).toBe('2000000000003.98');
    } finally {
      await sell('2.00', '0.10');
    }
  });

  it('for less memory than its operating system needs', async () => {
    await pay((await upgrade({ option1: 2 })).body.data.invoice_id);
    await until(resizes, (jobs) => jobs.length === 1);
    await product.staff.patch('/staff/images/tiny', { min_memory_mib: 2_048 });
    expect((await upgrade({ option1: 1 })).body.details).toMatchObject([{ field: 'option1' }]);
    await product.staff.patch('/staff/images/tiny', { min_memory_mib: 64 });
  });

  it('for less memory than the system needs that is installed, whichever was ordered', async () => {
    await pay((await upgrade({ option1: 2 })).body.data.invoice_id);
    await resized();
    await sql(product, `update machines set image = 'debian' where service_id = $1`, id);
    await product.staff.patch('/staff/images/debian', { min_memory_mib: 2_048 });
    const answer = await upgrade({ option1: 1 });
    await product.staff.patch('/staff/images/debian', { min_memory_mib: 512 });
    expect(answer.body).toMatchObject({ code: 'invalid_configuration', details: [{ field: 'option1' }] });
    expect(answer.body.details[0].message).toContain('Debian');
  });

  it('for what is no request of this shape', async () => {
    const before = await settledContents();
    const bad = [
      { option1: '2' },
      { option1: 1.5 },
      { option1: null },
      { option1: -1 },
      { option6: 'debian' },
      { option8: 'XXX' },
      { dry_run: 'yes' },
      { more: 1 },
    ];
    for (const body of bad) expect((await upgrade(body)).status, JSON.stringify(body)).toBe(400);
    for (const option7 of ["1gbit'; --", '', '\u0000', '1gbit\n'])
      expect((await upgrade({ option7 })).status, JSON.stringify(option7)).toBe(400);
    expect(await settledContents()).toEqual(before);
  });

  it('to other organizations and to members who may not pay, and nothing changes', async () => {
    const stranger = await newCustomer(product, { creditMinor: 10_000 });
    const members = await Promise.all(
      (['technical', 'support', 'viewer'] as const).map((role) =>
        newMember(product, owner.organizationId, role),
      ),
    );
    const before = await settledContents();
    expect((await upgrade({ option1: 2 }, id, stranger)).body.code).toBe('forbidden');
    for (const member of members)
      expect((await upgrade({ option1: 2 }, id, member)).body.code).toBe('permission_denied');
    expect((await upgrade({ option1: 2 }, 4242)).status).toBe(404);
    expect(await settledContents()).toEqual(before);
    const billing = await newMember(product, owner.organizationId, 'billing');
    expect((await upgrade({ option1: 2 }, id, billing)).status).toBe(200);
  });

  it('to a service that is not active, or no VPS', async () => {
    const { serviceId: pending } = await orderVps(product, owner);
    expect((await upgrade({ option1: 2 }, pending)).body.code).toBe('conflict');
    for (const status of ['suspended', 'terminated', 'cancelled']) {
      await sql(product, 'update services set status = $2 where id = $1', id, status);
      expect((await upgrade({ option1: 2 })).body.code, status).toBe('conflict');
    }
    await sql(product, `update services set status = 'active' where id = $1`, id);
    const cart = { products: [{ id: product.demo.products.hosting, cycle: 'monthly', type: 'Hosting' }] };
    const hosting = (await owner.post('/cart/checkout/invoice', cart)).body.data.service_ids[0];
    expect((await upgrade({ option1: 2 }, hosting)).body.code).toBe('not_a_vps');
  });
});

describe('money that came too late', () => {
  it('for a service that is gone becomes credit, and what was held is free', async () => {
    const before = await resources();
    const { invoice_id: invoiceId } = (await upgrade({ option1: 2 })).body.data;
    await sql(product, `update services set status = 'terminated' where id = $1`, id);
    await pay(invoiceId);
    const invoice = async () => (await owner.get(`/dashboard/invoices/${invoiceId}`)).body.data.invoice;
    const paid = await until(invoice, (seen) => seen.status === 'refunded');
    expect(paid.refunded).toBe(paid.total);
    await sql(product, `update services set status = 'active' where id = $1`, id);
    expect(await resources()).toEqual(before);
    expect((await service()).price).toBe('4.00');
  });

  it('and was given back at once gives back what was held', async () => {
    const before = await resources();
    const { invoice_id: invoiceId } = (await upgrade({ option1: 2, option4: 2 })).body.data;
    await sql(product, `update services set status = 'terminated' where id = $1`, id);
    await pay(invoiceId);
    const body = { method: 'credit', reason: 'the service is gone' };
    // Staff and the product give it back at one moment, and one of them does.
    const { status } = await product.staff.post(`/staff/invoices/${invoiceId}/refund`, body);
    expect([200, 409]).toContain(status);
    await settled(product);
    await sql(product, `update services set status = 'active' where id = $1`, id);
    await until(addresses, (rows) => rows.length === 1);
    expect(await resources()).toEqual(before);
    expect((await service()).price).toBe('4.00');
  });
});

describe('the books', () => {
  it('hold after upgrades that were paid, expired and given back', async () => {
    const wrong = (await audit(product.databaseUrl, ['a job that is not finished'])).filter((line) =>
      /^(a node whose|resources held|addresses|an upgrade|an ordered item|a ledger|a balance|legal numbers|a paid invoice|refunds)/.test(
        line,
      ),
    );
    expect(wrong).toEqual([]);
  });
});

it('storage bought gigabyte by gigabyte costs to the cent what it costs at once', async () => {
  const { serviceId: other } = await runningVps(product, owner);
  days(13); // 17 of 30 days are left: 0.0567 a GB
  const cost = async (of: number, steps: number[]) => {
    let paid = 0;
    for (const option2 of steps) {
      const { data } = (await upgrade({ option2 }, of)).body;
      paid += Math.round(Number(data.prorated_charge) * 100);
      if (data.invoice_id !== null) await pay(data.invoice_id);
      await settled(product);
    }
    return paid;
  };
  expect(await cost(id, [11, 12, 13, 14, 15, 16])).toBe(await cost(other, [16]));
});

describe('a change', () => changes.leaveEntries(() => product, ['upgradeVpsResources']));
