import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { SimulatedMachine } from '../../src/drivers/hypervisor/index.ts';
import type { Client } from '../client.ts';
import { audit, auditNode } from '../crash/audit.ts';
import { until } from '../product.ts';
import { daysBetween, minorOf } from './books.ts';
import type { Customer } from './customer.ts';
import type { World } from './world.ts';

interface Invoice {
  id: number;
  number: string | null;
  kind: string;
  status: string;
  issued_at: string | null;
  duedate: string;
  created_at: string;
  total: string;
  tax: string;
  amount_paid: string;
  refunded: string;
  corrects_invoice_id: number | null;
  payments: { method: string; amount: string; reference: string | null }[];
  items: { service_id: number | null }[];
}

interface Service {
  id: number;
  type: string;
  status: string;
  duedate: string | null;
  cancelled: boolean;
}

/** What the product shows to one customer. */
interface Shown {
  customer: Customer;
  invoices: Invoice[];
  services: Service[];
  balance: number;
}

type Find = (world: World, shown: Shown[]) => Promise<string[]> | string[];

/** Everything of a list, page after page. */
async function whole<T>(client: Client, route: string, name: string): Promise<T[]> {
  const all: T[] = [];
  for (let cursor = ''; ; ) {
    const { status, body } = await client.get(`${route}${cursor}`);
    if (status !== 200) throw new Error(`${route} ${status} ${JSON.stringify(body)}`);
    all.push(...body.data[name]);
    if (body.data.next_cursor === null) return all;
    cursor = `&cursor=${encodeURIComponent(body.data.next_cursor)}`;
  }
}

const sumOf = <T>(all: readonly T[], minor: (each: T) => number) =>
  all.reduce((sum, each) => sum + minor(each), 0);

/** Each question finds what is wrong, in words. */
const questions: Record<string, Find> = {
  'what nobody expected': ({ diary }) => diary.surprises,

  'rows that break a rule': async ({ company }) => [
    ...(await audit(company.database.url)),
    ...(await auditNode(company.database.url, path.join(company.dataDir, 'simulator.json'))),
  ],

  'credit that is not what came in, less what went out and was spent': ({ books, company }, shown) =>
    shown.flatMap(({ customer, invoices, balance }) => {
      const { transfers, granted, refunds, paidOut } = books.of(customer.organizationId);
      // As the provider has it: what of a charge its invoice did not need any more became credit.
      const charges = new Set(
        invoices.flatMap(({ payments }) =>
          payments.flatMap(({ method, reference }) => (method === 'stripe' ? [reference ?? ''] : [])),
        ),
      );
      const card = sumOf(
        [...charges],
        (id) => company.stripe.account.objects.find(id, 'payment_intent')?.amount ?? 0,
      );
      const bank = sumOf(transfers, ({ minor, isTakenBack }) => (isTakenBack ? 0 : minor));
      const out = paidOut + sumOf(refunds, ({ toCard }) => toCard);
      const spent = sumOf(invoices, ({ kind, amount_paid, refunded }) =>
        kind === 'credit_note' || kind === 'top_up' ? 0 : minorOf(amount_paid) - minorOf(refunded),
      );
      const expected = granted + bank + card - out - spent;
      return expected === balance
        ? []
        : [
            `${customer.nth}: ${balance}, and not ${JSON.stringify({ granted, bank, card, out, spent, expected })}`,
          ];
    }),

  'money that the payment provider has taken and no invoice shows, or the other way round': (
    { company },
    shown,
  ) => {
    const taken = new Map(
      company.stripe.account.objects
        .every('payment_intent')
        .filter(({ status }) => status === 'succeeded')
        .map(({ id, amount }) => [id as string, amount as number]),
    );
    const wrong: string[] = [];
    for (const { method, reference, amount } of shown.flatMap(({ invoices }) =>
      invoices.flatMap(({ payments }) => payments),
    )) {
      if (method !== 'stripe') continue;
      const minor = taken.get(reference ?? '');
      if (minor === undefined || minor < minorOf(amount))
        wrong.push(`${reference} is ${amount} here and ${minor} there`);
      taken.delete(reference ?? '');
    }
    for (const [id, minor] of taken) wrong.push(`${id} of ${minor} is nobody's`);
    return wrong;
  },

  'accounts of the ledger that are not what is known outside': async ({ company, books }, shown) => {
    const rows = await company.read<{ kind: string; minor: number; given: number }>(
      `select a.kind, sum(e.amount_minor)::bigint as minor from ledger_entries e join ledger_accounts a on a.id = e.account_id
       where a.currency = 'EUR' group by a.kind`,
    );
    const found = Object.fromEntries(rows.map(({ kind, minor }) => [kind, minor]));
    const invoices = shown.flatMap((each) => each.invoices);
    const topUps = new Set(invoices.filter(({ kind }) => kind === 'top_up').map(({ id }) => id));
    const counted = invoices.filter(
      ({ id, number, corrects_invoice_id: of }) =>
        number !== null && !topUps.has(id) && !(of !== null && topUps.has(of)),
    );
    const tax = sumOf(counted, (each) => minorOf(each.tax));
    const sold = sumOf(counted, (each) => minorOf(each.total)) - tax;
    const bank = sumOf(
      books.all,
      ({ transfers, paidOut }) =>
        sumOf(transfers, ({ minor, isTakenBack }) => (isTakenBack ? 0 : minor)) - paidOut,
    );
    const { account } = company.stripe;
    const fees = sumOf(account.objects.every('balance_transaction'), ({ fee }) => fee as number);
    const welcome = 2 * 20_000;
    const is = {
      ...{
        bank: found.bank ?? 0,
        provider: found.provider ?? 0,
        fees: found.fees ?? 0,
        tax: -(found.tax ?? 0),
      },
      ...{ sold: -(found.deferred ?? 0) - (found.revenue ?? 0), credit: -(found.credit ?? 0) },
      ...{ goodwill: found.goodwill ?? 0, parts: -(found.parts ?? 0) },
    };
    const should = {
      ...{ bank, provider: account.balance('eur'), fees, tax, sold },
      credit: welcome + sumOf(shown, ({ balance }) => balance),
      goodwill: welcome + sumOf(books.all, ({ granted }) => granted),
      parts: sumOf(invoices, ({ status, amount_paid }) => (status === 'unpaid' ? minorOf(amount_paid) : 0)),
    };
    return JSON.stringify(is) === JSON.stringify(should)
      ? []
      : [`${JSON.stringify(is)} and not ${JSON.stringify(should)}`];
  },

  'numbers of invoices with a gap, twice, or out of their order': (_, shown) => {
    const series = new Map<string, { nth: number; at: string }[]>();
    for (const { number, issued_at } of shown.flatMap(({ invoices }) => invoices)) {
      const [, prefix, nth] = /^(.*-)(\d+)$/.exec(number ?? '') ?? [];
      if (prefix === undefined) continue;
      const all = series.get(prefix) ?? [];
      series.set(prefix, [...all, { nth: Number(nth), at: issued_at ?? '' }]);
    }
    const wrong: string[] = [];
    for (const [prefix, all] of series) {
      all.sort((one, other) => one.nth - other.nth);
      for (const [index, { nth, at }] of all.entries()) {
        if (nth !== index + 1) wrong.push(`${prefix}${nth} is the ${index + 1}th`);
        const before = all[index - 1]?.at ?? '';
        if (at < before) wrong.push(`${prefix}${nth} of ${at} is older than the one before, of ${before}`);
      }
    }
    return wrong.slice(0, 5);
  },

  'an invoice without its document': async ({ company }, shown) => {
    const wrong: string[] = [];
    const all = shown.flatMap(({ customer, invoices }) =>
      invoices.filter(({ number }) => number !== null).map((invoice) => ({ customer, invoice })),
    );
    // All of a small year. Each takes a moment to draw: of a large one every eighth, and all that take something back.
    const eachOf = all.length > 800 ? 8 : 1;
    for (const [nth, { customer, invoice }] of all.entries()) {
      if (nth % eachOf !== 0 && invoice.kind !== 'credit_note') continue;
      const answer = await fetch(`${company.url}/api/dashboard/invoices/${invoice.id}/pdf`, {
        headers: customer.headers,
      });
      const file = Buffer.from(await answer.arrayBuffer());
      if (answer.status !== 200 || file.subarray(0, 5).toString() !== '%PDF-')
        wrong.push(`${invoice.number}: ${answer.status} ${file.subarray(0, 200)}`);
    }
    return wrong;
  },

  'a mail that came twice, never, or of nobody': async ({ company }) => {
    const wrong: string[] = [];
    const { times } = company.post;
    const rows = await company.read<{ id: string; state: string; template: string; recipient: string }>(
      `select '<' || id || '.' || sendings || '.' || template || '@panel.example.com>' as id, state, template, recipient from mails`,
    );
    for (const { id, state, template, recipient } of rows) {
      if (state !== 'sent') wrong.push(`${template} to ${recipient} is ${state}`);
      else if (!times.has(id)) wrong.push(`${id} is marked sent and never came`);
    }
    const twice = [...times].filter(([, count]) => count > 1);
    // SMTP has no transaction: what was under way at a death may come once more, under the same Message-ID.
    if (twice.length > company.deaths * 8)
      wrong.push(`mails came twice: ${JSON.stringify(twice.slice(0, 5))}`);
    return wrong.slice(0, 10);
  },

  'a machine that runs unpaid, or is paid and off': async ({ company }, shown) => {
    const file = path.join(company.dataDir, 'simulator.json');
    const machines = new Map<string, SimulatedMachine>(
      existsSync(file)
        ? (JSON.parse(readFileSync(file, 'utf8')) as { machines: [string, SimulatedMachine][] }).machines
        : [],
    );
    const { today } = company;
    /** What became of a service in its last weeks, for whoever has to find out why. */
    const tell = async (wrong: string, { id }: Service) => {
      const told = await company.read<{ line: string }>(
        `select to_char(created_at, 'YYYY-MM-DD') || ' ' || action || ' ' || subject_type || ' ' || coalesce(data->>'invoice_id', '') as line from journal
         where (subject_type = 'service' and subject_id = $1) or data->>'service_id' = $1::text order by id desc limit 60`,
        id,
      );
      return `${wrong}: ${told.map(({ line }) => line).join(', ')}`;
    };
    const found = shown.flatMap(({ customer, invoices, services }) =>
      services.flatMap((service): { wrong: string; service: Service }[] => {
        const [wrong] = wrongWith(customer, invoices, service);
        return wrong === undefined ? [] : [{ wrong, service }];
      }),
    );
    return Promise.all(found.map(({ wrong, service }) => tell(wrong, service)));

    function wrongWith(customer: Customer, invoices: readonly Invoice[], service: Service): string[] {
      if (service.type !== 'vps') return [];
      const had = customer.had.find(({ id }) => id === service.id);
      const machine = machines.get(`vps-${service.id}`);
      const runs = machine !== undefined && machine.startedAtMs !== null;
      const owed = invoices.filter(
        ({ kind, status, items }) =>
          kind === 'renewal' && status === 'unpaid' && items.some((item) => item.service_id === service.id),
      );
      const late = Math.max(-1, ...owed.map(({ duedate }) => daysBetween(duedate, today)));
      const says = `${service.id} of ${customer.nth}, ${service.status}, due ${service.duedate}, ${late} days late, asked for ${JSON.stringify(owed.map(({ created_at, duedate }) => [created_at, duedate]))}`;
      if (runs && late > suspendedAfter + slack) return [`runs unpaid: ${says}`];
      if (
        runs &&
        service.duedate !== null &&
        owed.length === 0 &&
        daysBetween(service.duedate, today) > slack
      )
        return [`runs past its time, and nobody asks for more: ${says}`];
      // What is paid a month late, or given back, is over before the next invoice can be issued: that has a day of its own, as any invoice has.
      const isEasy = owed.some(
        ({ created_at, duedate }) =>
          service.duedate !== null &&
          duedate > service.duedate &&
          daysBetween(created_at.slice(0, 10), duedate) > termDays,
      );
      if (isEasy) return [`has longer to pay than others: ${says}`];
      if (runs && service.status !== 'active') return [`runs and should not: ${says}`];
      if (!runs && service.status === 'active' && !had?.isOff) return [`is paid and off: ${says}`];
      if (service.status === 'suspended' && late < suspendedAfter)
        return [`was suspended for nothing: ${says}`];
      return [];
    }
  },

  'a story that the activity does not tell': async (_, shown) => {
    const wrong: string[] = [];
    for (const { customer, invoices, services } of shown) {
      const route = `/dashboard/organizations/${customer.organizationId}/activity?limit=100&sort=created_at`;
      const all = await whole<{
        action: string;
        created_at: string;
        invoice: { id: number } | null;
        service: { id: number } | null;
      }>(customer.client, route, 'activity');
      if (all[0]?.action !== 'organization_created')
        wrong.push(`${customer.nth} begins with ${all[0]?.action}`);
      const told = (action: string, of: 'invoice' | 'service', id: number) =>
        all.filter((entry) => entry.action === action && entry[of]?.id === id).length;
      for (const { id, kind, status, number } of invoices) {
        if (kind === 'credit_note') continue;
        const isPaid = number !== null;
        if (told('invoice_created', 'invoice', id) !== 1)
          wrong.push(`invoice ${id} was created ${told('invoice_created', 'invoice', id)} times`);
        if (told('invoice_paid', 'invoice', id) !== Number(isPaid))
          wrong.push(`invoice ${id}, ${status}, was paid ${told('invoice_paid', 'invoice', id)} times`);
        const ends = told('invoice_cancelled', 'invoice', id) + told('invoice_expired', 'invoice', id);
        if (ends !== Number(status === 'cancelled'))
          wrong.push(`invoice ${id}, ${status}, ended ${ends} times`);
      }
      for (const { id, status } of services) {
        const story = all
          .filter((entry) => entry.service?.id === id && life.test(entry.action))
          .map(({ action }) => action.replace('service_', ''))
          .join(' ');
        if (!stories[status]?.test(story)) wrong.push(`service ${id} is ${status} after: ${story}`);
      }
    }
    return wrong.slice(0, 10);
  },

  'work that is stuck, or a concern that nobody saw to': async ({ staff }) => {
    // The worker speaks up every ten seconds, and the clock has just gone on by hours: it counts as away until then.
    await until(
      () => staff.seeToConcerns(),
      () => !staff.left.has('worker.away'),
      60_000,
    );
    // Somebody who pays with a card of another country is asked by a person where they are, which nobody plays here.
    const left = [...staff.left].filter(([kind]) => kind !== 'tax.elsewhere');
    return left.map(([kind, message]) => `${kind}: ${message}`);
  },

  'a webhook that is neither delivered nor given up': async ({ company, hooks }) => {
    const rows = await company.read<{
      id: string;
      state: string;
      organization_id: number;
      why: string | null;
    }>(
      `select 'msg_' || d.id as id, d.state, e.organization_id,
         (select coalesce(a.error, a.status::text) from webhook_attempts a where a.delivery_id = d.id
          order by a.tried_at desc limit 1) as why
       from webhook_deliveries d join webhook_endpoints e on e.id = d.endpoint_id
       where d.state <> 'waiting' or (d.next_try_at < $1 and e.status = 'enabled')`,
      new Date(company.now - 3_600_000),
    );
    return rows.flatMap(({ id, state, organization_id, why }) => {
      const came = hooks.taken.get(organization_id)?.get(id) ?? 0;
      if (state === 'waiting') return [`${id} waits for no reason`];
      if (state === 'failed') return why === null ? [`${id} was given up without a reason`] : [];
      return came === 0 ? [`${id} is delivered and never came`] : [];
    });
  },

  'lines of the log that nobody can explain': ({ company }) =>
    company.calmLog.filter((line) => !explained.some((known) => known.test(line))).slice(0, 10),
};

/** The calendar that is in force suspends so many days after; warnings that came late give so many more. */
const suspendedAfter = 14;
/** How long an invoice is open before it is due, where that is not the day of its service. */
const termDays = 3;
const slack = 3;

const life = /^service_(provisioned|suspended|unsuspended|terminated|cancelled)$/;
const stories: Record<string, RegExp> = {
  pending: /^$/,
  active: /^provisioned( suspended unsuspended)*$/,
  suspended: /^provisioned( suspended unsuspended)* suspended$/,
  terminated: /^provisioned( suspended unsuspended)*( suspended)? terminated$/,
  cancelled: /^cancelled$/,
};

/** What the log may say, and why. */
const explained: RegExp[] = [
  /the database was restored from a backup/,
  // Its customer has asked for more and not paid yet; a day or two later that is over.
  /for an upgrade of this service is open.*the calendar cannot go on with a service/,
  // What was paid for waits for what its customer has asked of the machine a moment before.
  /"saga":"vps.resize","step":"open","code":"locked"/,
];

export async function holds(world: World): Promise<string[]> {
  const shown: Shown[] = [];
  for (const customer of world.customers.filter(({ isHere }) => isHere)) {
    const invoices = await whole<Invoice>(
      customer.client,
      '/dashboard/invoices?limit=100&sort=created_at',
      'invoices',
    );
    const services = await whole<Service>(customer.client, '/dashboard/services?limit=100', 'services');
    const { credit_balance } = (await customer.client.get('/dashboard/invoices?limit=1')).body.data;
    shown.push({ customer, invoices, services, balance: minorOf(credit_balance) });
  }
  const wrong: string[] = [];
  for (const [name, find] of Object.entries(questions))
    wrong.push(...(await find(world, shown)).map((found) => `${name}: ${found}`));
  return wrong;
}
