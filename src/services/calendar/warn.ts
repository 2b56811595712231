import { recordEntry } from '../../events/index.ts';
import { addDays, dayOf, formatMoney, type TxContext } from '../../platform/index.ts';
import { invoiceOverdue, invoiceReminded, serviceEnding } from '../events.ts';
import type { CalendarSettings } from '../settings.ts';
import type { CalendarRow, Done } from './row.ts';
import { daysOf, latest } from './schedule.ts';

/** Reminds of an invoice that is not paid, before its day or after. */
export async function remind(
  tx: TxContext,
  row: CalendarRow,
  step: 'reminder' | 'overdue' | 'last_reminder',
  settings: CalendarSettings,
): Promise<Partial<Done>> {
  const dueOn = row.expiresAt === null ? row.duedate : dayOf(row.expiresAt);
  const dueMinor = (row.totalMinor ?? 0) - (row.paidMinor ?? 0);
  const data = {
    user_id: row.userId,
    service_id: row.serviceId,
    product: row.product,
    hostname: row.hostname,
    due: formatMoney(dueMinor, row.currency),
    currency: row.currency,
    duedate: dueOn,
    suspends_on: step === 'reminder' ? null : suspendsOn(tx, dueOn, step, settings),
    last: step === 'last_reminder',
  };
  const event = step === 'reminder' ? invoiceReminded : invoiceOverdue;
  const subject = { type: 'invoice', id: row.invoiceId ?? 0 };
  const { organizationId } = row;
  return { warningId: await recordEntry(tx, event, { subject, organizationId, data }) };
}

/** The earliest day on which the service can be suspended after this warning; null: it never is. */
function suspendsOn(
  tx: TxContext,
  dueOn: string,
  warned: 'overdue' | 'last_reminder',
  settings: CalendarSettings,
): string | null {
  const days = daysOf(settings);
  const [from, to] = [days[warned], days.suspend];
  if (to === null || from === null) return null;
  return latest(addDays(dueOn, to), addDays(dayOf(tx.clock.now()), to - from));
}

/** Tells who does not renew by itself that its service ends. */
export async function tellOfEnding(
  tx: TxContext,
  row: CalendarRow,
  { ending_notice_days_before: days }: CalendarSettings,
): Promise<Partial<Done>> {
  const { serviceId: id, organizationId, userId: user_id, product, hostname, duedate } = row;
  const ends_on = latest(duedate, addDays(dayOf(tx.clock.now()), days));
  const data = { user_id, product, hostname, ends_on };
  const subject = { type: 'service', id };
  return { warningId: await recordEntry(tx, serviceEnding, { subject, organizationId, data }) };
}
