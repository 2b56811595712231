import { decideUndoing, type Fate, type Sold, upgradesUnderWay } from '../billing/index.ts';
import type { TxContext } from '../platform/index.ts';
import { findPeriod } from './periods.ts';
import { findApplied, findWaitingRenewal } from './renew/queries.ts';
import { isRunning } from './renew/takeBack.ts';
import { requireTerms, type Terms } from './terms.ts';
import { findChange, hasBegunAnew } from './upgrade/queries.ts';
import { planFor } from './upgrade/takeBack.ts';

/**
 * What becomes of what an invoice sold for a service when all of its money goes back. A service that has ended was had. A
 * size that a machine has stays, since its disk cannot shrink; so does the first period of what runs when staff gives its
 * money back (0079). A period that a change swallowed, or a change that something was built upon, stays until that is taken
 * back, and is asked about again then.
 */
async function fateOf(tx: TxContext, sold: Sold): Promise<Fate> {
  const service = await requireTerms(tx, sold.serviceId);
  if (service.status === 'pending') return 'undone';
  if (!isRunning(service)) return 'over';
  if (sold.kind === 'order' && sold.by === 'staff') return 'stays';
  return (await canUndo(tx, service, sold)) ? 'undone' : 'stays';
}

async function canUndo(tx: TxContext, service: Terms, { invoiceId, kind }: Sold): Promise<boolean> {
  const { id } = service;
  if (kind === 'order')
    return (await findPeriod(tx, id, invoiceId)) !== null && !(await hasBegunAnew(tx, id));
  if (kind === 'renewal')
    return (
      (await findApplied(tx, invoiceId)) !== null || (await findWaitingRenewal(tx, { invoiceId })) !== null
    );
  return (
    (await findChange(tx, { invoiceId })) !== null ||
    (await planFor(tx, service, invoiceId)) !== null ||
    (await upgradesUnderWay(tx, id)).includes(invoiceId)
  );
}

decideUndoing(fateOf);
