import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { payByCredit } from '../../../test/invoices.ts';
import { newCustomer, type Person } from '../../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { settled, sql } from '../../../test/sql.ts';
import { addDays, dayFor, daysBetween } from '../../platform/index.ts';
import { calendar, check } from '../settings.ts';

let product: TestProduct;
let customer: Person;

beforeAll(async () => {
  product = await startTestProduct();
});
beforeEach(async () => {
  customer = await newCustomer(product, { creditMinor: 1_000_000 });
  await product.staff.patch('/staff/settings', { calendar: calendar.defaults });
  await settled(product);
});
afterAll(() => product.stop());

const today = () => product.clock.now().toISOString().slice(0, 10);

/** A service that staff looks after, delivered today. */
async function newService(owner: Person = customer): Promise<number> {
  const item = { id: product.demo.products.hosting, cycle: 'monthly', type: 'Hosting' };
  const { data } = (await owner.post('/cart/checkout/invoice', { products: [item] })).body;
  await payByCredit(owner, data.invoice_id);
  await settled(product);
  const delivered = await product.staff.post(`/staff/services/${data.service_ids[0]}/deliver`, {});
  expect(delivered.status, JSON.stringify(delivered.body)).toBe(200);
  return data.service_ids[0];
}

/** The calendar's work of a day, done twice as by a job that runs again. */
async function attend(): Promise<void> {
  await product.periodic('services.calendar');
  await product.periodic('services.calendar');
  await settled(product);
}

async function pass(days: number): Promise<void> {
  for (let day = 0; day < days; day += 1) {
    product.clock.travel(86_400_000);
    await attend();
  }
}

const service = async (id: number) => (await customer.get(`/dashboard/services/${id}`)).body.data.service;

/** What the calendar did with a service, and on which day counted from its due date. */
async function done(id: number): Promise<[string, number][]> {
  const rows = await sql<{ step: string; due: string; on: string }>(
    product,
    `select step, due_on::text as due, (done_at at time zone 'UTC')::date::text as on
     from service_calendar_steps where service_id = $1 order by done_at, due_on, round`,
    id,
  );
  return rows.map(({ step, due, on }) => [step, daysBetween(due, on)]);
}

async function renewals(id: number): Promise<{ id: number; status: string; items: string }[]> {
  return sql(
    product,
    `select i.id, i.status, l.description as items from invoices i join invoice_items l on l.invoice_id = i.id
     where l.service_id = $1 and i.kind = 'renewal' order by i.position`,
    id,
  );
}

async function subjects(owner: Person = customer): Promise<string[]> {
  const { data } = (
    await product.staff.get(`/staff/mails?limit=100&recipient=${encodeURIComponent(owner.email)}`)
  ).body;
  return data.mails.map(({ subject }: { subject: string }) => subject).toReversed();
}

const credit = async () => (await customer.get('/dashboard/account')).body.data.user.credit;
const set = (fields: object) => product.staff.patch('/staff/settings', { calendar: fields });

describe('a service that nobody pays', () => {
  it('is invoiced, reminded, suspended and terminated on its days, each once however often the job runs', async () => {
    const id = await newService();
    const { duedate } = await service(id);
    await pass(daysBetween(today(), duedate) + 45);
    expect(await done(id)).toEqual([
      ['invoice', -14],
      ['reminder', -3],
      ['charge', 0],
      ['overdue', 1],
      ['last_reminder', 7],
      ['suspend', 14],
      ['terminate', 44],
    ]);
    expect((await service(id)).status).toBe('terminated');
    const [invoice] = await renewals(id);
    expect(await renewals(id)).toHaveLength(1);
    expect(invoice?.status).toBe('cancelled');
    const told = (await subjects()).slice(-7);
    expect([...told.slice(0, 5), ...told.slice(5).toSorted()]).toEqual([
      `Your renewal: invoice ${invoice?.id}`,
      `Invoice ${invoice?.id} is due on ${dayFor({ language: 'en' }, duedate)}`,
      `Invoice ${invoice?.id} is overdue`,
      `Last reminder: invoice ${invoice?.id} is overdue`,
      'Web hosting is suspended',
      `Invoice ${invoice?.id} is cancelled`,
      'Web hosting has ended',
    ]);
  });

  it('is as it was once it is paid, and the next period is invoiced in its time', async () => {
    const id = await newService();
    const { duedate } = await service(id);
    await pass(daysBetween(today(), duedate) + 20);
    expect((await service(id)).status).toBe('suspended');
    const [invoice] = await renewals(id);
    await payByCredit(customer, invoice?.id ?? 0);
    await settled(product);
    expect(await service(id)).toMatchObject({ status: 'active', suspend_reason: null });
    expect((await service(id)).duedate > duedate).toBe(true);
    await pass(1);
    expect((await renewals(id)).map(({ status }) => status)).toEqual(['paid', 'unpaid']);
  });

  it('that staff suspended stays so when it is paid', async () => {
    const id = await newService();
    const { duedate } = await service(id);
    await pass(daysBetween(today(), duedate) + 2);
    await product.staff.post(`/staff/services/${id}/suspend`, { reason: 'It sends spam' });
    await pass(60);
    expect((await service(id)).status).toBe('suspended');
    const [invoice] = await renewals(id);
    await payByCredit(customer, invoice?.id ?? 0);
    await settled(product);
    expect(await service(id)).toMatchObject({ status: 'suspended', suspend_reason: 'It sends spam' });
  });

  it('that staff lets run all the same is warned and suspended anew before it ends', async () => {
    const id = await newService();
    const { duedate } = await service(id);
    await pass(daysBetween(today(), duedate) + 20);
    await product.staff.post(`/staff/services/${id}/unsuspend`);
    await pass(26);
    expect((await service(id)).status).toBe('suspended');
    const steps = await done(id);
    const [second] = steps.filter(([step]) => step === 'suspend').slice(1);
    const [again] = steps.filter(([step]) => step === 'last_reminder').slice(1);
    expect((second?.[1] ?? 0) - (again?.[1] ?? 0)).toBe(7);
    await pass(31);
    expect((await service(id)).status).toBe('terminated');
    const ended = (await done(id)).at(-1);
    expect(ended?.[0]).toBe('terminate');
    expect((ended?.[1] ?? 0) - (second?.[1] ?? 0)).toBeGreaterThanOrEqual(30);
  });

  it('pays a late fee once, without tax, on an invoice of its own that does not expire', async () => {
    await set({
      late_fee_days_after: 3,
      late_fee_percent: 10,
      late_fee_amounts: [{ currency: 'EUR', amount: '5.00' }],
    });
    const id = await newService();
    const { duedate } = await service(id);
    await pass(daysBetween(today(), duedate) + 12);
    await product.periodic('billing.expire');
    const { invoices } = (await customer.get('/dashboard/invoices')).body.data;
    const fees = invoices.filter(({ kind }: { kind: string }) => kind === 'late_fee');
    expect(fees).toMatchObject([{ status: 'unpaid', total: '5.30', tax_exempt: true }]);
    expect((await customer.post(`/dashboard/invoices/${fees[0].id}/cancel`, {})).body.code).toBe('conflict');
    expect((await payByCredit(customer, fees[0].id)).status).toBe(200);
  });

  it('is not cancelled by the time to pay that orders have', async () => {
    const id = await newService();
    const { duedate } = await service(id);
    await pass(daysBetween(today(), duedate) + 13);
    await product.periodic('billing.expire');
    expect((await renewals(id)).map(({ status }) => status)).toEqual(['unpaid']);
  });
});

describe('who does not pay', () => {
  const renew = (id: number, cycle: string) => customer.post(`/dashboard/services/${id}/renew`, { cycle });
  const suspendedOn = async (id: number) => (await done(id)).find(([step]) => step === 'suspend')?.[1];

  it('gains no second month by asking for another cycle again and again', async () => {
    const id = await newService();
    const { duedate } = await service(id);
    await pass(daysBetween(today(), duedate));
    for (let day = 0; day < 40 && (await suspendedOn(id)) === undefined; day += 2) {
      await renew(id, day % 4 === 0 ? 'quarterly' : 'monthly');
      await pass(2);
    }
    expect(await suspendedOn(id)).toBeLessThanOrEqual(28);
  });

  it('gains nothing by turning auto_renew off and on again after the day', async () => {
    const id = await newService();
    const { duedate } = await service(id);
    const auto = (auto_renew: boolean) => customer.patch(`/dashboard/services/${id}`, { auto_renew });
    await pass(daysBetween(today(), duedate) + 12);
    expect((await auto(false)).body.code).toBe('conflict');
    await pass(2);
    expect(await suspendedOn(id)).toBe(14);
  });

  it('keeps the late fee, and the service, when it is to be cancelled at the end of a period that is over', async () => {
    await set({
      late_fee_days_after: 3,
      late_fee_percent: 10,
      late_fee_amounts: [{ currency: 'EUR', amount: '5.00' }],
    });
    const id = await newService();
    const { duedate } = await service(id);
    await pass(daysBetween(today(), duedate) + 12);
    const fees = async () =>
      (await customer.get('/dashboard/invoices')).body.data.invoices.filter(
        ({ kind }: { kind: string }) => kind === 'late_fee',
      );
    expect(await fees()).toMatchObject([{ status: 'unpaid' }]);
    const path = `/dashboard/services/${id}/cancel`;
    expect((await customer.get(path)).body.data).toMatchObject({ end_of_period: null });
    const answer = await customer.post(path, { type: 'end_of_period' });
    expect(answer.body).toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('Pay its renewal'),
    });
    await attend();
    expect(await fees()).toMatchObject([{ status: 'unpaid' }]);
    expect((await service(id)).status).toBe('active');
  });
});

describe('a promise to pay', () => {
  it.each(['services', 'organizations'] as const)(
    'of %s holds the calendar until its day, and no longer',
    async (whose) => {
      const id = await newService();
      const { duedate } = await service(id);
      await pass(daysBetween(today(), duedate) + 8);
      const path = `/staff/${whose}/${whose === 'services' ? id : customer.organizationId}/promise`;
      const answer = await product.staff.post(path, { until: addDays(duedate, 25), note: 'By telephone' });
      expect(answer.status, JSON.stringify(answer.body)).toBe(200);
      await pass(20);
      expect((await service(id)).status).toBe('active');
      await pass(5);
      expect((await done(id)).at(-1)).toEqual(['suspend', 32]);
    },
  );

  it('is taken back, and what is over is refused', async () => {
    const id = await newService();
    const { duedate } = await service(id);
    await pass(daysBetween(today(), duedate) + 8);
    const promise = (until: unknown) => product.staff.post(`/staff/services/${id}/promise`, { until });
    for (const until of [addDays(today(), -1), '2027-02-30', 'soon', 5, undefined])
      expect((await promise(until)).status).toBe(400);
    await promise(addDays(today(), 60));
    await pass(8);
    expect((await service(id)).status).toBe('active');
    expect((await promise(null)).body.data.promise).toBeNull();
    await attend();
    expect((await service(id)).status).toBe('suspended');
    expect((await product.staff.post('/staff/services/4242/promise', { until: null })).status).toBe(404);
    expect((await product.staff.post('/staff/organizations/4242/promise', { until: null })).status).toBe(404);
  });
});

describe('a service that is not renewed', () => {
  it('ends with its paid time, after its customer was told', async () => {
    const id = await newService();
    await customer.patch(`/dashboard/services/${id}`, { auto_renew: false });
    const { duedate } = await service(id);
    await pass(daysBetween(today(), duedate) + 1);
    expect(await done(id)).toEqual([
      ['ending_notice', -14],
      ['end', 0],
    ]);
    expect((await service(id)).status).toBe('terminated');
    expect(await renewals(id)).toEqual([]);
    expect(await subjects()).toContain(`Web hosting ends on ${dayFor({ language: 'en' }, duedate)}`);
  });

  it('is invoiced when its customer thinks better of it', async () => {
    const id = await newService();
    const auto = (auto_renew: boolean) => customer.patch(`/dashboard/services/${id}`, { auto_renew });
    await auto(false);
    const { duedate } = await service(id);
    await pass(daysBetween(today(), duedate) - 5);
    await auto(true);
    await pass(4);
    expect((await renewals(id)).map(({ status }) => status)).toEqual(['unpaid']);
    await auto(false);
    expect((await auto(true)).status).toBe(200);
    await pass(4);
    expect((await service(id)).status).toBe('active');
    expect(await renewals(id)).toHaveLength(1);
  });

  it('that was cancelled ends on its day, without an invoice', async () => {
    const id = await newService();
    await sql(product, 'update services set cancelled = true where id = $1', id);
    const { duedate } = await service(id);
    await pass(daysBetween(today(), duedate) - 1);
    expect((await service(id)).status).toBe('active');
    await pass(1);
    expect((await service(id)).status).toBe('terminated');
    expect(await renewals(id)).toEqual([]);
  });

  it('is invoiced on the day after its cancellation was taken back', async () => {
    const id = await newService();
    const cancel = (cancelled: boolean) =>
      sql(product, 'update services set cancelled = $2 where id = $1', id, cancelled);
    await cancel(true);
    const { duedate } = await service(id);
    await pass(daysBetween(today(), duedate) - 8);
    await cancel(false);
    await pass(1);
    expect(await done(id)).toEqual([['invoice', -7]]);
  });
});

describe('a payment at the moment at which the calendar', () => {
  it.each([
    ['suspends', 13],
    ['terminates', 43],
  ] as const)('%s is not lost, and never without what it is for', async (_, days) => {
    for (let time = 0; time < 3; time += 1) {
      const id = await newService();
      const { duedate } = await service(id);
      await pass(daysBetween(today(), duedate) + days);
      const [invoice] = await renewals(id);
      product.clock.travel(86_400_000);
      const creditBefore = await credit();
      const [paid] = await Promise.all([payByCredit(customer, invoice?.id ?? 0), attend()]);
      await settled(product);
      const seen = await service(id);
      if (paid.status === 200 && seen.status !== 'terminated') {
        expect(seen.status).toBe('active');
        expect(seen.duedate > duedate).toBe(true);
      } else {
        expect([seen.status, await credit()]).toEqual(['terminated', creditBefore]);
      }
    }
  });
});

describe('after a standstill', () => {
  it('of the worker each step comes in its turn, with the days between that it always has', async () => {
    const id = await newService();
    const { duedate } = await service(id);
    product.clock.travel((daysBetween(today(), duedate) + 100) * 86_400_000);
    await attend();
    expect((await done(id)).map(([step]) => step)).toEqual(['invoice']);
    await pass(120);
    const steps = await done(id);
    expect(steps.map(([step]) => step)).toEqual([
      ...['invoice', 'reminder', 'charge', 'overdue', 'last_reminder', 'suspend', 'terminate'],
    ]);
    const day = Object.fromEntries(steps);
    expect((day.last_reminder ?? 0) - (day.overdue ?? 0)).toBeGreaterThanOrEqual(6);
    expect((day.suspend ?? 0) - (day.last_reminder ?? 0)).toBeGreaterThanOrEqual(7);
    expect((day.terminate ?? 0) - (day.suspend ?? 0)).toBeGreaterThanOrEqual(30);
  });

  it('of the mail a clock that was ahead for a moment puts nothing off', async () => {
    const id = await newService();
    const { duedate } = await service(id);
    await pass(daysBetween(today(), duedate) + 1);
    const mails = (state: string, sentAt: Date | null) =>
      sql(
        product,
        `update mails set state = $1, sent_at = $2 from journal j
         where j.id = mails.journal_id and j.action = 'invoice.overdue' and mails.recipient = $3`,
        ...[state, sentAt, customer.email],
      );
    await mails('queued', null);
    const year = 365 * 86_400_000;
    product.clock.travel(year);
    await product.periodic('services.calendar');
    product.clock.travel(-year);
    await mails('sent', product.clock.now());
    await pass(14);
    expect((await done(id)).map(([step]) => step).slice(-2)).toEqual(['last_reminder', 'suspend']);
  });

  it('of the mail of an invoice the charge comes on its day, nobody is warned, and staff hears of it', async () => {
    const id = await newService();
    const { duedate } = await service(id);
    await pass(daysBetween(today(), duedate) - calendar.defaults.invoice_days_before);
    expect((await done(id)).map(([step]) => step)).toEqual(['invoice']);
    await sql(
      product,
      `update mails set state = 'queued', sent_at = null from journal j join service_calendar c on c.warning_id = j.id
       where j.id = mails.journal_id and c.service_id = $1`,
      id,
    );
    await pass(daysBetween(today(), duedate) + 20);
    const charged = ['charge', -calendar.defaults.charge_days_before || 0];
    expect(await done(id)).toEqual([['invoice', -calendar.defaults.invoice_days_before], charged]);
    const { concerns } = (await product.staff.get('/staff/attention')).body.data;
    expect(concerns).toContainEqual(
      expect.objectContaining({ kind: 'service.untold', subject: { type: 'service', id } }),
    );
  });

  it('of the mail nothing follows a warning that was not sent, and then after its days', async () => {
    const id = await newService();
    const { duedate } = await service(id);
    await pass(daysBetween(today(), duedate) + 1);
    // As while the mail server is away: written, and not sent.
    const unsent = `update mails set state = 'queued', sent_at = null from journal j
      where j.id = mails.journal_id and j.action = 'invoice.overdue' and mails.recipient = $1`;
    await sql(product, unsent, customer.email);
    await pass(30);
    expect((await done(id)).at(-1)).toEqual(['overdue', 1]);
    const sent = unsent.replace("'queued', sent_at = null", `'sent', sent_at = $2`);
    await sql(product, sent, customer.email, product.clock.now());
    await pass(14);
    expect((await done(id)).slice(-2)).toEqual([
      ['last_reminder', 37],
      ['suspend', 44],
    ]);
  });
});

describe('the settings', () => {
  it('are refused where a step would come before the one before it', async () => {
    for (const fields of [
      { suspend_days_after: 5 },
      { terminate_days_after: 14 },
      { suspend_days_after: null },
      { last_reminder_days_after: 1 },
      { reminder_days_before: 14 },
      { late_fee_amounts: [{ currency: 'EUR', amount: '5.001' }] },
      { late_fee_amounts: [{ currency: 'euro', amount: '5.00' }] },
      { overdue_days_after: 0 },
      { invoice_days_before: 61 },
    ]) {
      expect((await set(fields)).status, JSON.stringify(fields)).toBe(400);
      const preview = await product.staff.post('/staff/settings/preview', { calendar: fields });
      expect(preview.status, JSON.stringify(fields)).toBe(400);
    }
  });

  it('count from the moment that they are changed, for services that the calendar is at work with, too', async () => {
    const id = await newService();
    const { duedate } = await service(id);
    await pass(daysBetween(today(), duedate) - 10);
    await set({ reminder_days_before: 8 });
    await settled(product);
    await pass(2);
    expect((await done(id)).at(-1)).toEqual(['reminder', -8]);
  });
});

describe('the preview', () => {
  const of = async (id: number, answer: Promise<{ body: { data: { steps: unknown[] } } }>) => {
    const { steps } = (await answer).body.data as {
      steps: { service: { id: number }; on: string; step: string }[];
    };
    return steps.filter(({ service: { id: whose } }) => whose === id).map(({ on, step }) => [step, on]);
  };

  it('says what happens, and changes nothing', { timeout: 180_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.record({
          invoice_days_before: fc.integer({ min: 5, max: 20 }),
          overdue_days_after: fc.integer({ min: 1, max: 3 }),
          last_reminder_days_after: fc.option(fc.integer({ min: 4, max: 6 })),
          late_fee_days_after: fc.option(fc.integer({ min: 2, max: 9 })),
          suspend_days_after: fc.integer({ min: 7, max: 9 }),
          terminate_days_after: fc.integer({ min: 10, max: 14 }),
          earlier: fc.integer({ min: -12, max: 8 }),
          autoRenew: fc.boolean(),
        }),
        async ({ earlier, autoRenew, ...some }) => {
          const settings = { ...calendar.defaults, ...some };
          fc.pre(check(settings) === null);
          const id = await newService();
          await customer.patch(`/dashboard/services/${id}`, { auto_renew: autoRenew });
          const { duedate } = await service(id);
          await set(settings);
          await pass(daysBetween(today(), duedate) + earlier);
          const before = await done(id);
          const said = await of(id, product.staff.get('/staff/settings/preview'));
          expect(await of(id, product.staff.post('/staff/settings/preview', { calendar: {} }))).toEqual(said);
          expect(await done(id)).toEqual(before);
          await pass(30);
          const happened = (await done(id)).slice(before.length);
          expect(happened.map(([step, day]) => [step, addDays(duedate, day)])).toEqual(said);
        },
      ),
      { numRuns: 4 },
    );
  });

  it('says what changed settings would do before they are saved', async () => {
    const id = await newService();
    const { duedate } = await service(id);
    await pass(daysBetween(today(), duedate) - 1);
    const changed = { suspend_days_after: 21 };
    const said = await of(id, product.staff.post('/staff/settings/preview', { calendar: changed }));
    expect(said).toContainEqual(['suspend', addDays(duedate, 21)]);
    expect(await of(id, product.staff.get('/staff/settings/preview'))).toContainEqual([
      'suspend',
      addDays(duedate, 14),
    ]);
  });
});
