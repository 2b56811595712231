import { dueAt } from '../billing/index.ts';
import type { Context } from '../platform/index.ts';

/**
 * When the invoice of a change to a service is due. Its price is of the period that runs, so it ends with that: before the
 * day, `YYYY-MM-DD`, from which the next one counts.
 */
export function changeDueAt(ctx: Context, duedate: string): Date {
  return new Date(Math.min(dueAt(ctx).getTime(), Date.parse(duedate) - 1));
}
