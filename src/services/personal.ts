import { keptByLaw, type PersonalRoom, personalTable, statement } from '../platform/index.ts';

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
  obstacles: async (tx, { organizationIds }) => {
    const services = await tx.db.many(running, { organizationIds: [...organizationIds] });
    return services.map(({ id, domain, status }) => ({
      field: `services[${id}]`,
      message: `${domain ?? 'this service'} is ${status}: cancel it at once, or wait for its end`,
    }));
  },
  forget: async (tx, { organizationIds }) => {
    await tx.db.run(clearNotes, { organizationIds: [...organizationIds] });
  },
};
