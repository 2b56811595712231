import type { PaymentTruth } from '../../drivers/payments/index.ts';
import { newId, statement, type TxContext } from '../../platform/index.ts';
import { invoiceById, lockInvoice } from '../invoices/payable.ts';
import { organizationAt } from './customer.ts';

/** A charge that is written down after its money came. */
export interface Adopted {
  id: number;
  organizationId: number;
  invoiceId: number;
  driver: string;
  reference: string;
  amountMinor: number;
  currency: string;
}

const adoptCharge = statement<never, Adopted & { now: Date }>(
  'billing.adoptCharge',
  // How it was asked for is not known any more: as on a page, whose customer is told what becomes of the money.
  `insert into charges (id, organization_id, invoice_id, driver, means, amount_minor, currency, uses_credit, reference, state,
     created_at)
   values (:id, :organizationId, :invoiceId, :driver, 'page', :amountMinor, :currency, false, :reference, 'open', :now)
   on conflict do nothing`,
);
const keepUnknown = statement<
  never,
  {
    id: number;
    driver: string;
    reference: string;
    organizationId: number | null;
    toldInvoiceId: number | null;
    amountMinor: number;
    currency: string;
    now: Date;
  }
>(
  'billing.keepUnknownPayment',
  `insert into unknown_payments (id, driver, reference, organization_id, told_invoice_id, amount_minor, currency, state,
     seen_at)
   values (:id, :driver, :reference, (select o.id from organizations o where o.id = :organizationId), :toldInvoiceId,
     :amountMinor, :currency, 'open', :now)
   on conflict on constraint unknown_payments_reference do nothing`,
);

/**
 * Takes on money that we asked for, says the provider, and that stands in no row: the database is an older backup. It counts
 * for the invoice that it was made for; when that is gone as well, a person decides. Says whether there is a charge now.
 */
export async function adoptPayment(tx: TxContext, truth: PaymentTruth): Promise<boolean> {
  const { id, state, reference, amountMinor, currency } = truth;
  // Somebody else's payment has no id of ours; what nobody has paid is asked for anew by whoever wants it.
  if (id === null || state !== 'paid') return false;
  const driver = tx.config.payments;
  const organizationId =
    truth.organizationId ??
    (truth.customer === null ? null : await organizationAt(tx, driver, truth.customer));
  const invoice = truth.invoiceId === null ? null : await tx.db.maybe(invoiceById, { id: truth.invoiceId });
  const isTheirs =
    invoice !== null && invoice.organization_id === organizationId && invoice.currency === currency;
  const what = { driver, reference, amountMinor, currency };
  if (isTheirs) {
    await writeAdopted(tx, { id, organizationId: invoice.organization_id, invoiceId: invoice.id, ...what });
    return true;
  }
  const told = { organizationId, toldInvoiceId: truth.invoiceId, now: tx.clock.now() };
  await tx.db.run(keepUnknown, { id: newId(), ...what, ...told });
  return false;
}

/** Writes the charge down that a payment is; of two who do so at once the second finds it. */
export async function writeAdopted(tx: TxContext, charge: Adopted): Promise<void> {
  await tx.db.one(lockInvoice, { id: charge.invoiceId });
  await tx.db.run(adoptCharge, { ...charge, now: tx.clock.now() });
}
