import { record } from '../../events/index.ts';
import { statusOfOrganization } from '../../organizations/index.ts';
import {
  type Context,
  fail,
  formatMoney,
  parseMoney,
  requireRow,
  statement,
  transaction,
} from '../../platform/index.ts';
import { disputeSettled } from '../events.ts';
import { lockForCorrection } from '../invoices/creditNote.ts';
import { inWords } from '../invoices/payable.ts';
import { post } from '../ledger/ledger.ts';
import { readDispute } from '../returns/list.ts';

interface Unclear {
  id: number;
  organization_id: number;
  invoice_id: number;
  reference: string;
  currency: string;
  unclear_minor: number;
}

const find = statement<{ invoice_id: number }, { id: number }>(
  'billing.findUnclearDispute',
  'select invoice_id from disputes where id = :id',
);
const lock = statement<Unclear, { id: number }>(
  'billing.lockUnclearDispute',
  `select id, organization_id, invoice_id, reference, currency, unclear_minor from disputes where id = :id
   for no key update`,
);
const settle = statement<never, { id: number }>(
  'billing.settleDispute',
  'update disputes set unclear_minor = 0 where id = :id',
);

/**
 * Decides whose the money is of a dispute that was won after it was lost, where the books do not say: so much becomes the
 * customer's credit, and the company keeps the rest. `conflict` where nothing is to be decided, or nobody could spend the
 * credit; `invalid_amount` of more than came back.
 */
export async function settleDispute(ctx: Context, id: number, decided: { credit: string; reason: string }) {
  return transaction(ctx, 'billing.settleDispute', async (tx) => {
    const { invoice_id: invoiceId } = await requireRow(tx, find, { id });
    await lockForCorrection(tx, invoiceId);
    const dispute = await tx.db.one(lock, { id });
    const { organization_id: organizationId, currency, unclear_minor: unclearMinor, reference } = dispute;
    if (unclearMinor === 0)
      throw fail('conflict', { message: 'Whose the money of this dispute is has been decided' });
    const creditMinor = parseMoney(decided.credit, currency);
    if (creditMinor === null || creditMinor < 0 || creditMinor > unclearMinor)
      throw fail('invalid_amount', { message: `${inWords(unclearMinor, currency)} are to be decided about` });
    if (creditMinor > 0 && (await statusOfOrganization(tx, organizationId)) === 'closed')
      throw fail('conflict', {
        message: `Organization ${organizationId} is closed, so nobody could spend it`,
      });
    await tx.db.run(settle, { id });
    if (creditMinor > 0)
      await post(tx, {
        kind: 'dispute_won',
        ...{ organizationId, currency, invoiceId, creditMinor },
        description: `Dispute ${reference} of invoice ${invoiceId}, won after all`,
        provider: { losses: creditMinor },
      });
    await record(tx, disputeSettled, {
      subject: { type: 'dispute', id },
      organizationId,
      data: {
        ...{ invoice_id: invoiceId, currency, reason: decided.reason },
        ...{ credit: formatMoney(creditMinor, currency), total: formatMoney(unclearMinor, currency) },
      },
    });
    return readDispute(tx, id);
  });
}
