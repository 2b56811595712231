import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { audit } from './crash/audit.ts';
import { newInvoice, payByCredit } from './invoices.ts';
import { orderVps, runningVps } from './orders.ts';
import { newCustomer, type Person } from './people.ts';
import { startTestProduct, type TestProduct } from './product.ts';
import { type MailServer, mailServer } from './smtp.ts';
import { settled, sql } from './sql.ts';

// What was left undone by a version in which one job did what several do now; see migrations/0027_from_before.sql.
let mails: MailServer;
let product: TestProduct;
let owner: Person;
beforeAll(async () => {
  mails = await mailServer();
  product = await startTestProduct({ env: { SMTP_URL: mails.url } });
  owner = await newCustomer(product, { creditMinor: 100_000 });
  await sql(product, `create table held (name text)`);
  await sql(
    product,
    `create function hold() returns trigger language plpgsql as $$ begin
       if new.name in (select name from held) then new.run_at = new.run_at + interval '1 day'; end if;
       return new;
     end $$`,
  );
  await sql(product, 'create trigger hold before insert on jobs for each row execute function hold()');
});
afterEach(() => sql(product, 'delete from held'));
afterAll(async () => {
  await product.stop();
  await mails.close();
});

/** From now on jobs of this name wait. */
const hold = (name: string) => sql(product, 'insert into held values ($1)', name);

/** The update to this version, with what waits under the name that it had in the one before. */
async function update(name: string, before: string): Promise<void> {
  await sql(product, 'delete from held');
  await sql(product, 'update jobs set name = $2 where name = $1 and run_at > now()', name, before);
  const file = path.join(import.meta.dirname, '../migrations/0027_from_before.sql');
  await sql(product, readFileSync(file, 'utf8'));
  await sql(product, `update jobs set run_at = now() where state = 'ready'`);
  await settled(product);
}

async function askForMore(): Promise<{ serviceId: number; invoiceId: number; upgraded(): Promise<object> }> {
  const { serviceId } = await runningVps(product, owner);
  await settled(product);
  const answer = await owner.post(`/dashboard/services/${serviceId}/upgrade-vps`, { option1: 2, option4: 2 });
  const upgraded = async () => {
    const [found] = await sql<object>(
      product,
      `select u.state, p.memory_mib, (select count(*)::int from addresses a where a.service_id = p.service_id) as addresses
       from vps_upgrades u join placements p using (service_id) where service_id = $1`,
      serviceId,
    );
    return found ?? {};
  };
  return { serviceId, invoiceId: answer.body.data.invoice_id, upgraded };
}

it('an upgrade that was paid counts', async () => {
  const { invoiceId, upgraded } = await askForMore();
  await hold('vps.applyUpgrade');
  await payByCredit(owner, invoiceId);
  await update('vps.applyUpgrade', 'services.deliverPaid');
  expect(await upgraded()).toEqual({ state: 'applied', memory_mib: 2_048, addresses: 2 });
});

it('an upgrade that was not paid in time gives back what it held', async () => {
  const { invoiceId, upgraded } = await askForMore();
  await hold('vps.giveBackExpiredUpgrade');
  await sql(product, `update invoices set expires_at = now() - interval '1 hour' where id = $1`, invoiceId);
  await product.periodic('billing.expire');
  await update('vps.giveBackExpiredUpgrade', 'services.giveBackExpired');
  expect(await upgraded()).toEqual({ state: 'expired', memory_mib: 1_024, addresses: 1 });
});

it('an upgrade whose money was given back gives back what it held', async () => {
  const { invoiceId, upgraded } = await askForMore();
  await hold('vps.applyUpgrade');
  await hold('vps.giveBackRefundedUpgrade');
  await payByCredit(owner, invoiceId);
  const body = { method: 'credit', reason: 'a mistake' };
  expect((await product.staff.post(`/staff/invoices/${invoiceId}/refund`, body)).status).toBe(200);
  await sql(product, `delete from jobs where name = 'vps.applyUpgrade' and run_at > now()`);
  await update('vps.giveBackRefundedUpgrade', 'services.takeBackRefunded');
  expect(await upgraded()).toEqual({ state: 'expired', memory_mib: 1_024, addresses: 1 });
});

it('a mail that was written down and waited for its server is sent, once', async () => {
  await settled(product);
  mails.mails.length = 0;
  await hold('mail.send');
  await newInvoice(product, owner);
  await expect
    .poll(() => sql(product, `select 1 from jobs where name = 'mail.send' and run_at > now()`))
    .toHaveLength(1);
  await sql(
    product,
    `insert into job_steps (job_id, step, state, result, finished_at)
     select id, 'write', 'done', '{}', now() from jobs where name = 'mail.send' and run_at > now()`,
  );
  await update('mail.send', 'mail.deliver');
  expect(mails.mails).toHaveLength(1);
});

it('what staff delivers by hand and was paid stands in their list', async () => {
  const invoiceId = await newInvoice(product, owner);
  await hold('services.deliverPaid');
  await payByCredit(owner, invoiceId);
  await sql(product, `update jobs set state = 'done' where name = 'services.deliverPaid' and run_at > now()`);
  await update('services.deliverPaid', 'services.deliverPaid');
  const { concerns } = (await product.staff.get('/staff/attention')).body.data;
  const [service] = await sql<{ id: string }>(
    product,
    'select id from services where invoice_id = $1',
    invoiceId,
  );
  const subject = { type: 'service', id: Number(service?.id) };
  expect(concerns).toContainEqual(expect.objectContaining({ kind: 'delivery.byHand', subject }));
});

it('a machine that is being made is its node’s', async () => {
  const { invoiceId, serviceId } = await orderVps(product, owner);
  await hold('vps.provision');
  await payByCredit(owner, invoiceId);
  const waiting = () =>
    sql<{ id: string; node_id: string | null }>(
      product,
      `select id, node_id from jobs where name = 'vps.provision' and (payload->>'serviceId')::bigint = $1`,
      serviceId,
    );
  await expect.poll(waiting).toHaveLength(1);
  const [job] = await waiting();
  const done = `insert into job_steps (job_id, step, state, result, finished_at)
    select $1, step, 'done', '{"mac":"02:00:00:00:00:01"}', now() from unnest('{open,place,addresses}'::text[]) step`;
  await sql(product, done, job?.id);
  await update('vps.provision', 'vps.provision');
  expect((await waiting())[0]?.node_id).not.toBeNull();
});

it('what a closed organization had left is given up in the books, and what came late for it is not', async () => {
  const gone = await newCustomer(product, { creditMinor: 500 });
  const of = gone.organizationId;
  const transfer = async (amount: string, reference: string) => {
    const path = `/staff/organizations/${of}/transfers`;
    const booked = await product.staff.post(path, {
      ...{ amount, currency: 'EUR', reference, received_on: '2026-01-30' },
    });
    expect(booked.status, JSON.stringify(booked.body)).toBe(200);
    return booked;
  };
  const takeBack = (id: number) =>
    product.staff.post(`/staff/transfers/${id}/take-back`, { reason: 'It goes back' });
  const before = await transfer('4.00', `before ${of}`);
  // As the version before did, whose books said nothing of it.
  const status = `update organizations set status = 'closed', status_since = $2 where id = $1`;
  await sql(product, status, of, new Date(product.clock.now().getTime() + 1));
  product.clock.travel(86_400_000);
  const late = await transfer('3.00', `late ${of}`);
  const sentBack = await transfer('2.00', `late as well ${of}`);
  for (const each of [before, sentBack])
    expect((await takeBack(each.body.data.transfer.id)).status).toBe(200);
  const folder = path.join(import.meta.dirname, '../migrations');
  const file = readdirSync(folder).find((name) => name.endsWith('_credit_given_up.sql'));
  await sql(product, readFileSync(path.join(folder, file as string), 'utf8'));
  const booked = () =>
    sql(
      product,
      `select a.kind, -sum(e.amount_minor)::int as minor from ledger_accounts a
       join ledger_entries e on e.account_id = a.id where a.organization_id = $1 group by 1 order by 1`,
      of,
    );
  expect(await booked()).toEqual([
    { kind: 'credit', minor: 300 },
    { kind: 'given_up', minor: 500 },
  ]);
  const concerns = async () =>
    ((await product.staff.get('/staff/attention')).body.data.concerns as { kind: string }[]).filter(
      ({ kind }) => kind === 'credit.ofClosed',
    );
  expect(await concerns()).toHaveLength(1);
  const back = await takeBack(late.body.data.transfer.id);
  expect(back.status, JSON.stringify(back.body)).toBe(200);
  expect((await booked())[0]).toEqual({ kind: 'credit', minor: 0 });
  expect(await concerns()).toEqual([]);
});

const migration = (name: string) =>
  readFileSync(path.join(import.meta.dirname, `../migrations/${name}.sql`), 'utf8');

it('what was paid and booked before transfers had rows of their own adds up as what comes after', async () => {
  const transfer = (id: number) =>
    product.staff.post(`/staff/invoices/${id}/payments`, { amount: '3.00', reference: `BEFORE-${id}` });
  const person = await newCustomer(product, { creditMinor: 300 });
  const [byBank, byCredit, late, open] = [
    await newInvoice(product, person),
    await newInvoice(product, person),
    await newInvoice(product, person),
    await newInvoice(product, person),
  ];
  await payByCredit(person, byCredit);
  await person.post(`/dashboard/invoices/${late}/cancel`);
  for (const id of [byBank, late]) expect((await transfer(id)).status).toBe(200);
  const invoices = async () => (await person.get('/dashboard/invoices')).body.data.invoices;
  const before = await invoices();
  await settled(product);
  await sql(
    product,
    `alter table payments drop column transfer_id, add constraint payments_reference unique (method, reference);
     drop table transfers cascade;
     alter table invoices drop column paid_minor, drop column credited_minor`,
  );
  // What came with transfers, without the checks that are others today; then what has come to transfers since.
  await sql(product, migration('0029_transfers').split('alter table invoices\n  add constraint')[0] ?? '');
  const since = migration('0052_bank_statements').split('-- A transfer that was booked by mistake')[1] ?? '';
  await sql(product, `--${since.split('-- What of a payment')[0]}`);
  expect(await invoices()).toEqual(before);
  expect((await transfer(byBank)).body.code).toBe('invoice_not_payable');
  const transfers = `/staff/organizations/${person.organizationId}/transfers`;
  const again = { amount: '3.00', currency: 'EUR', reference: `BEFORE-${byBank}` };
  expect((await product.staff.post(transfers, again)).body.message).toContain(`for invoice ${byBank}`);
  expect((await transfer(open)).status).toBe(200);
  expect(
    (await audit(product.databaseUrl)).filter((wrong) => /paid|payment|transfer|bank|part/.test(wrong)),
  ).toEqual([]);
});
