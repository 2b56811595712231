import { lockForCorrection, refundInvoice, withdrawInvoice } from '../../billing/index.ts';
import { formatMoney, parseMoney, statement, type TxContext } from '../../platform/index.ts';
import { billLastTraffic, lockToBill } from './bill.ts';

const onInvoice = statement<{ serviceId: number }, { invoiceId: number }>(
  'services.trafficOnInvoice',
  'select distinct service_id as "serviceId" from service_traffic where invoice_id = :invoiceId order by service_id',
);
// Of a last invoice a part may have been paid otherwise, and is not asked for twice. What stood on a renewal is undone with its period, and is
// its customer's credit where the bank gives its money again.
const reopen = statement<never, { invoiceId: number; serviceId: number }>(
  'services.reopenTraffic',
  `update service_traffic t set invoice_id = null,
     taken_back = case when i.kind = 'renewal' or i.id = any(t.taken_back) then t.taken_back else t.taken_back || i.id end
   from invoices i
   where i.id = :invoiceId and t.invoice_id = i.id and t.service_id = :serviceId and (i.kind = 'renewal' or i.status = 'refunded')`,
);
const askedBefore = statement<{ serviceId: number }, { invoiceId: number }>(
  'services.trafficAskedBefore',
  `select distinct service_id as "serviceId" from service_traffic where taken_back @> array[:invoiceId::bigint] order by service_id`,
);
// The invoices that ask for it now, in the place of that one.
const instead = statement<
  { id: number; kind: string; status: string },
  { invoiceId: number; serviceId: number }
>(
  'services.trafficAskedInstead',
  `select distinct i.id, i.kind, i.status from service_traffic t join invoices i on i.id = t.invoice_id
   where t.service_id = :serviceId and t.taken_back @> array[:invoiceId::bigint] and not (i.status = 'cancelled' and not i.waived)
   order by i.id`,
);
const putBack = statement<never, { invoiceId: number; serviceId: number }>(
  'services.putTrafficBack',
  `update service_traffic set invoice_id = :invoiceId, taken_back = array_remove(taken_back, :invoiceId::bigint)
   where service_id = :serviceId and taken_back @> array[:invoiceId::bigint]`,
);
const paidOf = statement<{ paid_minor: number; currency: string }, { id: number }>(
  'services.paidOfTraffic',
  `select case when status in ('paid', 'partially_refunded') then total_minor - refunded_minor else 0 end as paid_minor, currency
   from invoices where id = :id`,
);

/**
 * A bank took back what had paid an invoice, or it was never its customer's: that is no rebate, and the traffic that it asked for is open again.
 * Of a service that has ended another last invoice asks for it. Repeating it changes nothing.
 */
export async function reopenTraffic(tx: TxContext, invoiceId: number): Promise<void> {
  for (const { serviceId } of await tx.db.many(onInvoice, { invoiceId })) {
    const { status } = await lockToBill(tx, serviceId);
    await tx.db.run(reopen, { invoiceId, serviceId });
    if (status !== 'active' && status !== 'suspended') await billLastTraffic(tx, serviceId);
  }
}

/**
 * A bank gave an amount again that it had taken of an invoice for traffic. That is paid once: an invoice that asks for it in the place of this one, and was
 * not paid, is withdrawn. Where it is asked for with something else, was paid or waived meanwhile, or only a part came back, the money is its customer's credit.
 */
export async function countTrafficAgain(
  tx: TxContext,
  invoiceId: number,
  { amount, isFull }: { amount: string; isFull: boolean },
): Promise<void> {
  for (const { serviceId } of await tx.db.many(askedBefore, { invoiceId })) {
    await lockForCorrection(tx, invoiceId);
    const { status } = await lockToBill(tx, serviceId);
    const others = await tx.db.many(instead, { invoiceId, serviceId });
    const isAlone = others.every(({ kind, status }) => kind === 'manual' && status === 'unpaid');
    if (isFull && isAlone) {
      for (const { id } of others)
        await withdrawInvoice(tx, id, `invoice ${invoiceId} for the same is paid again`);
      await tx.db.run(putBack, { invoiceId, serviceId });
      // What else the withdrawn ones asked for: no renewal comes any more that would.
      if (others.length > 0 && status !== 'active' && status !== 'suspended')
        await billLastTraffic(tx, serviceId);
    } else await makeCredit(tx, invoiceId, amount);
  }
}

async function makeCredit(tx: TxContext, invoiceId: number, amount: string): Promise<void> {
  const { paid_minor: paidMinor, currency } = await tx.db.one(paidOf, { id: invoiceId });
  const creditMinor = Math.min(paidMinor, parseMoney(amount, currency) ?? 0);
  if (creditMinor === 0) return;
  const reason = 'Its bank gave back what it had taken, and what it was for is asked for by another invoice';
  await refundInvoice(tx, invoiceId, {
    ...{ method: 'credit', amount: formatMoney(creditMinor, currency), reason },
  });
}
