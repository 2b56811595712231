import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { audit } from '../../../test/crash/audit.ts';
import { payByCredit } from '../../../test/invoices.ts';
import { newCustomer, type Person } from '../../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { settled, sql } from '../../../test/sql.ts';
import { daysBetween } from '../../platform/index.ts';

interface Owned {
  id: number;
  owner: Person;
}

describe.each(['payment', 'issue'])(
  'many services of one night, with invoices numbered at their %s',
  (numbering) => {
    let product: TestProduct;
    let people: Person[];
    const all: Owned[] = [];
    beforeAll(async () => {
      product = await startTestProduct({ env: { INVOICE_NUMBERING: numbering } });
      people = [];
      for (let nth = 0; nth < 4; nth += 1) people.push(await newCustomer(product, { creditMinor: 100_000 }));
      // Somebody in the Netherlands pays tax, and one who is exempt pays none.
      const country = { country: 'NL', name: 'Ada', kind: 'person', consumer: true };
      expect((await people[0]?.patch('/dashboard/billing/profile', country))?.status).toBe(200);
      for (const owner of people) for (let nth = 0; nth < 3; nth += 1) all.push(await newService(owner));
    });
    afterAll(() => product.stop());

    async function newService(owner: Person): Promise<Owned> {
      const item = { id: product.demo.products.hosting, cycle: 'monthly', type: 'Hosting' };
      const { data } = (await owner.post('/cart/checkout/invoice', { products: [item] })).body;
      await payByCredit(owner, data.invoice_id);
      await settled(product);
      expect((await product.staff.post(`/staff/services/${data.service_ids[0]}/deliver`, {})).status).toBe(
        200,
      );
      return { id: data.service_ids[0], owner };
    }

    async function attended(): Promise<void> {
      await product.periodic('services.calendar');
      await product.periodic('services.calendar');
      await settled(product);
    }

    async function pass(days: number): Promise<void> {
      for (let day = 0; day < days; day += 1) {
        product.clock.travel(86_400_000);
        await attended();
      }
    }

    interface Renewal {
      invoice: number;
      position: number;
      number: string | null;
      sequence: number | null;
      [column: string]: unknown;
    }

    /** What was written of a renewal, and with it; without what is another one for each. */
    async function renewalOf(id: number): Promise<Renewal | undefined> {
      const rows = await sql<Renewal>(
        product,
        `select i.id as invoice, i.position, i.number, i.sequence, i.kind, i.status, i.currency, i.subtotal_minor,
         i.discount_minor, i.tax_minor, i.total_minor, i.tax_rate_basis_points, i.tax_country, i.tax_treatment,
         i.tax_consumer, i.booked_at_issue, i.expires_at, i.seller, i.buyer, l.description, l.price_minor, l.product_id,
         r.cycle, r.price_minor as renewal_minor, r.starts_on::text, r.ends_on::text, r.state,
         (select jsonb_agg(e.kind || e.country order by e.kind) from tax_evidence e where e.invoice_id = i.id) as evidence,
         (select jsonb_agg(j.data order by j.id) from journal j where j.subject_type = 'invoice' and j.subject_id = i.id
            and j.action = 'invoice.created') as told,
         (select count(*)::int from mails m join journal j on j.id = m.journal_id
          where j.subject_type = 'invoice' and j.subject_id = i.id and j.action = 'invoice.created') as mails,
         (select count(*)::int from deferrals d where d.invoice_id = i.id) as deferrals
       from service_renewals r join invoices i on i.id = r.invoice_id join invoice_items l on l.invoice_id = i.id
       where r.service_id = $1`,
        id,
      );
      expect(rows.length).toBeLessThanOrEqual(1);
      return rows[0];
    }
    const sameOf = (renewal: Renewal | undefined): Record<string, unknown> => {
      const { invoice: _, position: __, number: ___, sequence: ____, ...same } = renewal ?? {};
      return same;
    };
    const problems = () =>
      sql<{ id: number; problem: string }>(
        product,
        'select service_id as id, problem from service_calendar where problem is not null order by service_id',
      );

    it('are invoiced as their customers would be who ask for it, whatever becomes of others', async () => {
      const [asked, conflicting, failing, ...rest] = all as [Owned, Owned, Owned, ...Owned[]];
      const { body } = await asked.owner.get(`/dashboard/services/${asked.id}`);
      const { duedate } = body.data.service;
      const today = product.clock.now().toISOString().slice(0, 10);
      await pass(daysBetween(today, duedate) - 15);
      expect(await renewalOf(rest[0]?.id ?? 0)).toBeUndefined();
      // Of the same customer as the next two.
      expect(
        (await asked.owner.post(`/dashboard/services/${asked.id}/renew`, { cycle: 'monthly' })).status,
      ).toBe(200);
      const open = `insert into invoices (id, organization_id, position, kind, status, currency, subtotal_minor, discount_minor,
        tax_minor, total_minor, tax_rate_basis_points, tax_exempt, expires_at, created_at)
      values (77, $1, 77, 'upgrade', 'unpaid', 'EUR', 1, 0, 0, 1, 0, true, 'infinity', now())`;
      await sql(product, open, conflicting.owner.organizationId);
      await sql(
        product,
        `insert into invoice_items (invoice_id, ordinal, organization_id, service_id, description, price_minor, setup_fee_minor,
         discount_minor) values (77, 1, $1, $2, 'An upgrade', 1, 0, 0)`,
        conflicting.owner.organizationId,
        conflicting.id,
      );
      await sql(
        product,
        `create function refuse_renewal() returns trigger language plpgsql as $$
       begin if new.service_id = ${failing.id} then raise 'no disk for this one'; end if; return new; end $$`,
      );
      await sql(
        product,
        `create trigger refused before insert on service_renewals for each row execute function refuse_renewal()`,
      );
      await sql(
        product,
        `create function keep_waiting() returns trigger language plpgsql as $$
       begin if new.service_id = ${rest[0]?.id} then raise 'somebody has it' using errcode = '55P03'; end if; return new; end $$`,
      );
      await sql(
        product,
        `create trigger held before insert on service_calendar_steps for each row execute function keep_waiting()`,
      );
      product.clock.travel(86_400_000);
      // A lock that somebody else has is no service's fault: none of them is put off by it.
      await expect(product.periodic('services.calendar')).rejects.toMatchObject({ code: 'busy' });
      expect(await problems()).toEqual([]);
      await sql(product, 'drop trigger held on service_calendar_steps');
      await attended();

      const wanted = sameOf(await renewalOf(asked.id));
      for (const { id, owner } of rest) {
        const renewal = await renewalOf(id);
        expect(renewal, String(id)).toBeDefined();
        if (owner === asked.owner) expect(sameOf(renewal)).toEqual(wanted);
      }
      const others = [];
      for (const { id } of rest) others.push(await renewalOf(id));
      const stranger = others.find((each) => each?.tax_country !== 'NL');
      expect(wanted).toMatchObject({ status: 'unpaid', mails: 1, tax_country: 'NL' });
      expect(stranger).toMatchObject({ status: 'unpaid', mails: 1, subtotal_minor: wanted.subtotal_minor });
      for (const { organizationId } of people) {
        const rows = await sql<{ position: number }>(
          product,
          'select position from invoices where organization_id = $1 and id <> 77 order by position',
          organizationId,
        );
        const positions = rows.map(({ position }) => position).filter((position) => position < 77);
        expect(new Set(positions).size).toBe(positions.length);
      }
      expect((await problems()).map(({ id, problem }) => [id, /upgrade|disk/.exec(problem)?.[0]])).toEqual(
        [
          [conflicting.id, 'upgrade'],
          [failing.id, 'disk'],
        ].toSorted(([one], [other]) => Number(one) - Number(other)),
      );

      await sql(product, 'drop trigger refused on service_renewals');
      await sql(product, `delete from invoice_items where invoice_id = 77`);
      await sql(product, `delete from invoices where id = 77`);
      await pass(1);
      expect(await problems()).toEqual([]);
      expect(await renewalOf(failing.id)).toMatchObject({ status: 'unpaid' });
      expect(await renewalOf(conflicting.id)).toMatchObject({ status: 'unpaid' });
    });

    it('have numbers without a gap, and the books hold', async () => {
      const rows = await sql<{ series: string; sequence: number }>(
        product,
        `select series, sequence from invoices where sequence is not null order by series, sequence`,
      );
      for (const of of Map.groupBy(rows, ({ series }) => series).values())
        expect(of.map(({ sequence }) => sequence)).toEqual(of.map((_, nth) => nth + 1));
      const renewals = await Promise.all(all.map(({ id }) => renewalOf(id)));
      expect(renewals.every((each) => (each?.number !== null) === (numbering === 'issue'))).toBe(true);
      expect(await audit(product.databaseUrl)).toEqual([]);
    });

    it('go through all the steps together, each once', async () => {
      await pass(32);
      const steps = await sql<{ id: number; steps: string[] }>(
        product,
        `select service_id as id, array_agg(step order by done_at) as steps from service_calendar_steps group by service_id`,
      );
      expect(steps).toHaveLength(all.length);
      for (const { steps: done } of steps)
        expect(done).toEqual(['invoice', 'reminder', 'charge', 'overdue', 'last_reminder', 'suspend']);
      for (const { id, owner } of all)
        expect((await owner.get(`/dashboard/services/${id}`)).body.data.service.status).toBe('suspended');
      for (const { email } of people) {
        const { data } = (
          await product.staff.get(`/staff/mails?limit=100&recipient=${encodeURIComponent(email)}`)
        ).body;
        const about = data.mails.filter(({ subject }: { subject: string }) =>
          subject.endsWith('is suspended'),
        );
        expect(about).toHaveLength(3);
      }
      const tasks = await sql(product, `select 1 from service_tasks where task = 'suspend'`);
      expect(tasks).toHaveLength(all.length);
      expect(await audit(product.databaseUrl)).toEqual([]);
    });
  },
);
