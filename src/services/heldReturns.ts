import { disputeClosed, lockForCorrection, paidFor, refundInvoice } from '../billing/index.ts';
import { type OwnReaction, on } from '../events/index.ts';
import { formatMoney, newId, parseMoney, statement, type TxContext } from '../platform/index.ts';

interface HeldReturn {
  id: number;
  serviceId: number;
  amountMinor: number;
  currency: string;
}

const insert = statement<
  never,
  { id: number; serviceId: number; invoiceId: number; amountMinor: number; now: Date }
>(
  'services.holdReturn',
  `insert into service_returns (id, service_id, invoice_id, organization_id, amount_minor, currency, created_at)
   select :id, s.id, :invoiceId, s.organization_id, :amountMinor, s.currency, :now from services s
   where s.id = :serviceId`,
);
const lockOfInvoice = statement<HeldReturn, { invoiceId: number }>(
  'services.lockHeldReturns',
  `select id, service_id as "serviceId", amount_minor as "amountMinor", currency from service_returns
   where invoice_id = :invoiceId order by id for update`,
);
const setAmount = statement<never, { id: number; amountMinor: number }>(
  'services.setHeldReturn',
  'update service_returns set amount_minor = :amountMinor where id = :id',
);
const remove = statement<never, { id: number }>(
  'services.endHeldReturn',
  'delete from service_returns where id = :id',
);

/** Days were taken back whose money a bank holds: what it is worth goes back once that is decided. */
export async function holdReturn(
  tx: TxContext,
  held: { serviceId: number; invoiceId: number; amountMinor: number },
): Promise<void> {
  await tx.db.run(insert, { ...held, id: newId(), now: tx.clock.now() });
}

/**
 * A bank has decided about money of an invoice: what was to go back for days that are none any more does, as far as it is
 * ours again. What the bank gave its customer itself is off that.
 */
async function giveHeld(
  tx: TxContext,
  invoiceId: number,
  { outcome, amount, currency }: { outcome: 'won' | 'lost'; amount: string; currency: string },
): Promise<void> {
  await lockForCorrection(tx, invoiceId);
  let takenMinor = outcome === 'lost' ? (parseMoney(amount, currency) ?? 0) : 0;
  for (const held of await tx.db.many(lockOfInvoice, { invoiceId })) {
    const offMinor = Math.min(takenMinor, held.amountMinor);
    takenMinor -= offMinor;
    const wantedMinor = held.amountMinor - offMinor;
    const paid = (await paidFor(tx, held.serviceId)).find(({ id }) => id === invoiceId);
    // Whoever paid it may be gone by now, and then it is nobody's.
    const { totalMinor, refundedMinor, disputedMinor } = paid?.isGivenUp === false ? paid : nothing;
    const nowMinor = Math.min(wantedMinor, Math.max(0, totalMinor - refundedMinor - disputedMinor));
    if (nowMinor > 0) {
      const sum = formatMoney(nowMinor, held.currency);
      const reason = 'the days that it was paid for were given back';
      await refundInvoice(tx, invoiceId, { method: 'credit', amount: sum, reason });
    }
    const leftMinor = disputedMinor > 0 ? wantedMinor - nowMinor : 0;
    if (leftMinor === 0) await tx.db.run(remove, { id: held.id });
    else await tx.db.run(setAmount, { id: held.id, amountMinor: leftMinor });
  }
}

const nothing = { totalMinor: 0, refundedMinor: 0, disputedMinor: 0 };

export const heldReturnReactions: OwnReaction[] = [
  on(disputeClosed, 'services.giveHeldReturns', (tx, { data }) => giveHeld(tx, data.invoice_id, data)),
];
