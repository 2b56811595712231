import { chargeSaved, invoiceCreated } from '../../billing/index.ts';
import { entryOf } from '../../events/index.ts';
import { dayOf, type TxContext } from '../../platform/index.ts';
import { issueRenewal } from '../renew/issue.ts';
import type { CalendarSettings } from '../settings.ts';
import { suspendService } from '../suspend/suspend.ts';
import { terminateService } from '../suspend/terminate.ts';
import { issueLateFee } from './lateFee.ts';
import { type CalendarRow, type Done, readRows, recordStep, replaceInvoice } from './row.ts';
import type { Step } from './schedule.ts';
import { remind, tellOfEnding } from './warn.ts';

/** Does one step of the calendar for a service, whose row is locked, and writes down that it did. */
export async function doStep(
  tx: TxContext,
  found: CalendarRow,
  step: Step,
  settings: CalendarSettings,
): Promise<Done> {
  const row = await withOpenInvoice(tx, found, step);
  const done = { step, invoiceId: row.invoiceId, warningId: null, ...(await act(tx, row, step, settings)) };
  await recordStep(tx, row, done);
  return done;
}

function act(
  tx: TxContext,
  row: CalendarRow,
  step: Step,
  settings: CalendarSettings,
): Promise<Partial<Done>> | Partial<Done> {
  switch (step) {
    case 'invoice':
      return invoice(tx, row);
    case 'reminder':
    case 'overdue':
    case 'last_reminder':
      return remind(tx, row, step, settings);
    case 'charge':
      return charge(tx, row);
    case 'late_fee':
      return issueLateFee(tx, row, settings);
    case 'suspend':
      return suspend(tx, row);
    case 'ending_notice':
      return tellOfEnding(tx, row, settings);
    case 'terminate':
      return end(tx, row, `Invoice ${row.invoiceId} was not paid`);
    case 'end':
      return end(
        tx,
        row,
        row.cancelled ? 'You cancelled it' : 'Its paid time is over, and it is not renewed by itself',
      );
  }
}

/** Whether that step issues another invoice in the place of one that was cancelled. */
export function replacesInvoice({ invoiceStatus }: CalendarRow, step: Step): boolean {
  return invoiceStatus === 'cancelled' && step !== 'end' && step !== 'ending_notice';
}

/** The invoice may have been replaced by one for another cycle, as its customer asked, or cancelled. */
async function withOpenInvoice(tx: TxContext, row: CalendarRow, step: Step): Promise<CalendarRow> {
  if (!replacesInvoice(row, step)) return row;
  const invoiceId = await issueRenewal(tx, row.serviceId);
  await replaceInvoice(tx, row.serviceId, invoiceId);
  return (await readRows(tx, [row.serviceId]))[0] ?? row;
}

async function invoice(tx: TxContext, row: CalendarRow): Promise<Partial<Done>> {
  const invoiceId = await issueRenewal(tx, row.serviceId);
  return { invoiceId, warningId: await entryOf(tx, invoiceCreated, { type: 'invoice', id: invoiceId }) };
}

/** Of whoever has saved no payment method nothing is taken. */
async function charge(tx: TxContext, { invoiceId }: CalendarRow): Promise<Partial<Done>> {
  if (invoiceId !== null) await chargeSaved(tx, invoiceId);
  return {};
}

async function suspend(tx: TxContext, row: CalendarRow): Promise<Partial<Done>> {
  const reason = `Invoice ${row.invoiceId} was due on ${row.expiresAt === null ? row.duedate : dayOf(row.expiresAt)} and is not paid`;
  return { warningId: await suspendService(tx, row.serviceId, reason, 'calendar') };
}

async function end(tx: TxContext, row: CalendarRow, reason: string): Promise<Partial<Done>> {
  await terminateService(tx, row.serviceId, reason);
  return {};
}
