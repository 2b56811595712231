import { dayOf, keptByLaw, type PersonalRoom, personalTable, statement } from '../platform/index.ts';

const own = { organization: 'organization_id', closing: keptByLaw } as const;

const running = statement<
  { id: number; domain: string | null; status: string },
  { organizationIds: number[] }
>(
  'services.runningOf',
  `select id, domain, status from services
   where organization_id = any(:organizationIds::bigint[]) and status in ('pending', 'active', 'suspended')
   order by id limit 100`,
);
// Held, so that none of them is cancelled meanwhile and gives back to who is closed.
const paidElsewhere = statement<
  { id: number; domain: string | null; until: string },
  { organizationIds: number[]; today: string }
>(
  'services.paidElsewhereBy',
  `select s.id, s.domain, (select max(p.ends_on)::text from service_periods p join invoices i on i.id = p.invoice_id
      where p.service_id = s.id and i.organization_id = any(:organizationIds::bigint[]) and i.total_minor > i.refunded_minor) as until
   from services s where s.status in ('active', 'suspended') and s.organization_id <> all(:organizationIds::bigint[])
     and s.id in (select p.service_id from service_periods p join invoices i on i.id = p.invoice_id
       where i.organization_id = any(:organizationIds::bigint[]) and p.ends_on > :today::date
         and i.status in ('paid', 'partially_refunded') and i.total_minor > i.refunded_minor)
   order by s.id limit 100 for no key update of s`,
);
const clearNotes = statement<never, { organizationIds: number[] }>(
  'services.clearNotes',
  `update services set note = null, cancel_reason = null
   where organization_id = any(:organizationIds::bigint[]) and (note is not null or cancel_reason is not null)`,
);

/** What is owned, and what was paid for it. */
export const servicesPersonal: PersonalRoom = {
  tables: [
    personalTable('services', { ...own, others: ['user_id'] }),
    personalTable('service_secrets', {
      ...own,
      hidden: 'a password that waits for the first start, sealed',
      closing: 'deleted',
    }),
    personalTable('service_tasks', own),
    personalTable('service_renewals', own),
    personalTable('service_periods', own),
    personalTable('service_changes', own),
    personalTable('service_returns', own),
    personalTable('service_traffic', own),
    personalTable('service_traffic_notices', own),
    personalTable('service_calendar', own),
    personalTable('service_calendar_steps', own),
    personalTable('service_price_moves', own),
    personalTable('recurring_revenue', own),
    personalTable('recurring_changes', own),
    personalTable('payment_promises', { ...own, others: ['user_id'], without: ['user_id', 'note'] }),
    personalTable('order_reviews', {
      ...own,
      others: ['decided_by'],
      hidden: 'it would tell which orders are looked at, and how to pass by',
    }),
    personalTable('price_moves', { others: ['user_id'], hidden: "the provider's", closing: keptByLaw }),
  ],
  obstacles: async (tx, closing) => {
    const organizationIds = [...closing.organizationIds];
    const services = await tx.db.many(running, { organizationIds });
    const moved = await tx.db.many(paidElsewhere, { organizationIds, today: dayOf(tx.clock.now()) });
    return [
      ...services.map(({ id, domain, status }) => ({
        field: `services[${id}]`,
        message: `${domain ?? 'this service'} is ${status}: cancel it at once, or wait for its end`,
      })),
      ...moved
        .filter(() => !closing.givesUpCredit)
        .map(({ id, domain, until }) => ({
          field: `services[${id}]`,
          message: `you paid for ${domain ?? 'this service'} until ${until}, which another organization has now, and what goes back of that is yours: wait, or say give_up_credit`,
        })),
    ];
  },
  forget: async (tx, { organizationIds }) => {
    await tx.db.run(clearNotes, { organizationIds: [...organizationIds] });
  },
};
