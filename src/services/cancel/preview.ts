import type { OrganizationContext } from '../../platform/index.ts';
import { readService } from '../read.ts';
import { requireTerms } from '../terms.ts';
import { type EndingGuards, reasonAgainstEnding } from './guard.ts';
import { returnedFor, withdrawalUntil } from './refund.ts';
import { reasonAgainstLater, viewEnd, viewReturned } from './view.ts';

/** Whether a service of the organization ends, and what cancelling it now would mean. */
export async function readCancellation(ctx: OrganizationContext, id: number, guards: EndingGuards) {
  await readService(ctx, id);
  const service = await requireTerms(ctx, id);
  const periodEnd = service.duedate === null ? null : new Date(`${service.duedate}T00:00:00.000Z`);
  const nothing = { because: 'none' as const, shares: [], totalMinor: 0 };
  const isOver = service.status === 'cancelled' || service.status === 'terminated';
  return {
    ...viewEnd(service, service.cancelled && periodEnd ? { at: periodEnd, returned: nothing } : null),
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
