import { type Context, statement, type TxContext } from '../platform/index.ts';

/** The time that an invoice paid for of a service: from its first day to the first one after it. */
export interface Period {
  invoiceId: number;
  startsOn: string;
  endsOn: string;
}

const insertPeriod = statement<never, Period & { serviceId: number }>(
  'services.insertPeriod',
  `insert into service_periods (service_id, invoice_id, organization_id, starts_on, ends_on)
   select s.id, :invoiceId, s.organization_id, :startsOn, :endsOn from services s where s.id = :serviceId
   on conflict (service_id, invoice_id) do nothing`,
);
const periodsOfService = statement<Period, { serviceId: number }>(
  'services.periods',
  `select invoice_id as "invoiceId", starts_on as "startsOn", ends_on as "endsOn"
   from service_periods where service_id = :serviceId order by starts_on, invoice_id`,
);

/** Keeps which time was paid for by an invoice; once for each. */
export async function writePeriod(tx: TxContext, serviceId: number, period: Period): Promise<void> {
  await tx.db.run(insertPeriod, { serviceId, ...period });
}

export function periodsOf(ctx: Context, serviceId: number): Promise<Period[]> {
  return ctx.db.many(periodsOfService, { serviceId });
}

const deletePeriod = statement<never, { serviceId: number; invoiceId: number }>(
  'services.deletePeriod',
  'delete from service_periods where service_id = :serviceId and invoice_id = :invoiceId',
);
const setPeriod = statement<never, Period & { serviceId: number }>(
  'services.setPeriod',
  `update service_periods set starts_on = :startsOn, ends_on = :endsOn
   where service_id = :serviceId and invoice_id = :invoiceId`,
);

/** An invoice paid for no time after all. */
export async function dropPeriod(tx: TxContext, serviceId: number, invoiceId: number): Promise<void> {
  await tx.db.run(deletePeriod, { serviceId, invoiceId });
}

/** The time that an invoice paid for is another one than it was. */
export async function movePeriod(tx: TxContext, serviceId: number, period: Period): Promise<void> {
  await tx.db.run(setPeriod, { serviceId, ...period });
}
