import { type OrganizationContext, statement } from '../../platform/index.ts';
import { readService } from '../read.ts';
import { requireTerms } from '../terms.ts';
import { type EndingGuards, reasonAgainstEnding } from './guard.ts';
import { returnedFor, withdrawalUntil } from './refund.ts';
import { reasonAgainstLater, viewEnd, viewReturned } from './view.ts';

const endedAt = statement<{ at: Date | null }, { id: number }>(
  'services.endedAt',
  'select terminated_at as at from services where id = :id',
);

/** Whether a service of the organization ends, and what cancelling it now would mean. */
export async function readCancellation(ctx: OrganizationContext, id: number, guards: EndingGuards) {
  await readService(ctx, id);
  const service = await requireTerms(ctx, id);
  const periodEnd = service.duedate === null ? null : new Date(`${service.duedate}T00:00:00.000Z`);
  const nothing = { because: 'none' as const, shares: [], totalMinor: 0 };
  const endsAt = service.cancelled ? periodEnd : null;
  // What was cancelled at once has not run until the end of what was paid for.
  const at = service.status === 'terminated' ? (await ctx.db.one(endedAt, { id })).at : endsAt;
  const isOver = service.status === 'cancelled' || service.status === 'terminated';
  return {
    ...viewEnd(service, at === null ? null : { at, returned: nothing }),
    reason: isOver || service.status === 'pending' ? null : await reasonAgainstEnding(ctx, service, guards),
    withdrawal_until: await withdrawalUntil(ctx, service),
    immediate: isOver ? null : { refund: viewReturned(service, await returnedFor(ctx, service)) },
    end_of_period:
      isOver ||
      periodEnd === null ||
      (!service.cancelled && reasonAgainstLater(service, ctx.clock.now()) !== null)
        ? null
        : { effective_at: periodEnd },
  };
}
