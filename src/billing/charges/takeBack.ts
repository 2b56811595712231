import { requireRow, statement, type TxContext } from '../../platform/index.ts';
import { givenUp } from '../ledger/givenUp.ts';
import { heldCredit, post } from '../ledger/ledger.ts';
import { giveBack, lockRefundable } from '../payments/refund.ts';
import { giveBackRest } from '../payments/rest.ts';
import { addReturned, chargeById } from './charge.ts';
import { lossOf } from './loss.ts';

const keepReturn = statement<
  never,
  {
    driver: string;
    reference: string;
    chargeId: number;
    organizationId: number;
    amountMinor: number;
    now: Date;
  }
>(
  'billing.keepChargeReturn',
  `insert into charge_returns (driver, reference, charge_id, organization_id, amount_minor, created_at)
   values (:driver, :reference, :chargeId, :organizationId, :amountMinor, :now) on conflict (driver, reference) do nothing`,
);

const countReturn = statement<
  never,
  { driver: string; reference: string; countedMinor: number; lossMinor: number; givenUpMinor: number }
>(
  'billing.countChargeReturn',
  `update charge_returns set counted_minor = :countedMinor, loss_minor = :lossMinor, given_up_minor = :givenUpMinor,
     is_told = true
   where driver = :driver and reference = :reference`,
);

// It is due again: what it paid is not the customer's money any more.
const takeOffPart = statement<never, { invoiceId: number; chargeId: number; amountMinor: number }>(
  'billing.takeOffChargedPart',
  `with payment as (update payments set taken_back_minor = taken_back_minor + :amountMinor
     where invoice_id = :invoiceId and charge_id = :chargeId)
   update invoices set paid_minor = paid_minor - :amountMinor where id = :invoiceId`,
);

/** Money that has gone already, and that nobody here decided. */
interface Taken {
  /** `original`: given back at the provider's desk. `dispute`: kept by a bank. */
  method: 'original' | 'dispute';
  reason: string;
  /** The provider's name for it: it is booked once. */
  reference: string;
}

/**
 * Books money of a charge that is gone; the invoice's row is locked. The invoice is refunded by what the charge brought to
 * it, and of one that is open that much is due again; what a bank took of a service's price undoes the sale, and what else
 * paid for that becomes credit. What had become the customer's credit is taken from there, as far as it is there, and where it
 * was given up, from that first; the rest is our loss.
 */
export async function takeBack(
  tx: TxContext,
  id: number,
  amountMinor: number,
  { method, reason, reference }: Taken,
): Promise<void> {
  const charge = await tx.db.one(chargeById, { id });
  const { driver, organization_id: organizationId, currency, invoice_id: invoiceId } = charge;
  const row = { driver, reference, chargeId: id, organizationId, amountMinor, now: tx.clock.now() };
  if ((await tx.db.run(keepReturn, row)) === 0) return;
  const invoice = await requireRow(tx, lockRefundable, { id: invoiceId });
  const about = { organizationId, currency, cameAt: charge.finished_at ?? charge.created_at };
  const heldMinor = (await heldCredit(tx, organizationId, currency)) + (await givenUp(tx, about));
  const { ofInvoiceMinor } = lossOf(amountMinor, charge, invoice, heldMinor);
  if (ofInvoiceMinor > 0)
    await giveBack(tx, invoice, ofInvoiceMinor, { method, reason, reference, chargeId: id });
  // What somebody gave back at the provider's desk was decided by a person, and may be a rebate.
  const isUndone = ofInvoiceMinor > 0 && method === 'dispute';
  const restOfInvoiceMinor = isUndone ? await giveBackRest(tx, invoiceId) : 0;
  const loss = lossOf(amountMinor, charge, invoice, heldMinor + restOfInvoiceMinor);
  const countedMinor = Math.min(amountMinor, charge.amount_minor - charge.returned_minor);
  await tx.db.run(addReturned, { id, amountMinor: countedMinor });
  const givenUpMinor = Math.min(loss.ofCreditMinor, await givenUp(tx, about));
  const counted = { countedMinor, lossMinor: loss.oursMinor, givenUpMinor };
  await tx.db.run(countReturn, { driver, reference, ...counted });
  const restMinor = amountMinor - ofInvoiceMinor;
  if (restMinor === 0) return;
  if (loss.partMinor > 0)
    await tx.db.run(takeOffPart, { invoiceId, chargeId: id, amountMinor: loss.partMinor });
  await post(tx, {
    kind: 'charge_taken_back',
    ...{ organizationId, currency, invoiceId, description: reason },
    creditMinor: givenUpMinor - loss.ofCreditMinor,
    provider: {
      given_up: givenUpMinor,
      parts: loss.partMinor,
      losses: loss.oursMinor,
      [method === 'dispute' ? 'disputes' : 'provider']: -restMinor,
    },
  });
}
