import { record } from '../../events/index.ts';
import { formatMoney, newId, statement, type TxContext } from '../../platform/index.ts';
import { readSettings } from '../../settings/index.ts';
import { company } from '../documents/company.ts';
import { creditNoteIssued } from '../events.ts';
import { giveNumber } from './number.ts';

/** What is taken back of an invoice that has a number. Amounts are positive, with tax; the caller has locked it. */
export interface Correction {
  invoiceId: number;
  amountMinor: number;
  /** The part of the amount that was tax. */
  taxMinor: number;
  /** Shown to the customer. */
  reason: string;
}

// Numbered, like every invoice of the organization, under the organization's lock. The rest is as on the invoice.
const lockOrganizationOf = statement<{ id: number }, { invoiceId: number }>(
  'billing.lockOrganizationOf',
  `select o.id from organizations o join invoices i on i.organization_id = o.id where i.id = :invoiceId
   for no key update of o`,
);
const insertCreditNote = statement<
  { user_id: number | null; organization_id: number; currency: string },
  {
    id: number;
    invoiceId: number;
    netMinor: number;
    taxMinor: number;
    reason: string;
    seller: object;
    now: Date;
  }
>(
  'billing.insertCreditNote',
  `with original as (select * from invoices where id = :invoiceId),
   line as (
     insert into invoice_items (invoice_id, ordinal, organization_id, product_id, service_id, description, price_minor,
       setup_fee_minor, discount_minor)
     select :id, 1, organization_id, null, null, 'Invoice ' || number, -:netMinor::bigint, 0, 0 from original)
   insert into invoices (id, organization_id, position, user_id, kind, status, currency, subtotal_minor, discount_minor,
     tax_minor, total_minor, tax_rate_basis_points, tax_country, tax_exempt, tax_treatment, tax_reason,
     tax_consumer, expires_at, created_at, seller, buyer, corrects, reason)
   select :id, o.organization_id, (select max(position) + 1 from invoices where organization_id = o.organization_id),
     o.user_id, 'credit_note', 'draft', o.currency, -:netMinor::bigint, 0, -:taxMinor::bigint,
     -(:netMinor::bigint + :taxMinor::bigint), o.tax_rate_basis_points, o.tax_country, o.tax_exempt,
     o.tax_treatment, o.tax_reason, o.tax_consumer, :now, :now, :seller::jsonb, o.buyer, o.id, :reason
   from original o returning user_id, organization_id, currency`,
);
const settleCreditNote = statement<{ number: string }, { id: number; now: Date }>(
  'billing.settleCreditNote',
  `update invoices set status = 'paid', date_paid = :now where id = :id returning number`,
);

/** Takes back all of an invoice that was given up: one that has a number stays, and so needs another that cancels it. */
export async function takeBack(
  tx: TxContext,
  invoice: { id: number; number: string | null; total_minor: number; tax_minor: number },
  reason: string,
): Promise<void> {
  const { id: invoiceId, number, total_minor: amountMinor, tax_minor: taxMinor } = invoice;
  if (number !== null && amountMinor > 0)
    await issueCreditNote(tx, { invoiceId, amountMinor, taxMinor, reason });
}

/** Makes other documents of the invoice's organization wait; it comes before the lock of the invoice. */
export async function lockForCorrection(tx: TxContext, invoiceId: number): Promise<void> {
  await tx.db.maybe(lockOrganizationOf, { invoiceId });
}

/**
 * Issues a credit note: a document of its own series that takes an invoice back, all of it or a part. What was issued
 * stays as it was. It moves no money; whoever does says so in the same transaction. Returns its id.
 */
export async function issueCreditNote(tx: TxContext, correction: Correction): Promise<number> {
  const { invoiceId, amountMinor, taxMinor, reason } = correction;
  await lockForCorrection(tx, invoiceId);
  const seller = await readSettings(tx, company);
  const id = newId();
  const now = tx.clock.now();
  const netMinor = amountMinor - taxMinor;
  const note = await tx.db.one(insertCreditNote, { id, invoiceId, netMinor, taxMinor, reason, seller, now });
  await giveNumber(tx, { id, kind: 'credit_note', now });
  const { number } = await tx.db.one(settleCreditNote, { id, now });
  const { user_id, organization_id: organizationId, currency } = note;
  await record(tx, creditNoteIssued, {
    subject: { type: 'invoice', id },
    organizationId,
    data: {
      user_id,
      invoice_id: invoiceId,
      number,
      currency,
      total: formatMoney(-amountMinor, currency),
      reason,
    },
  });
  return id;
}
