import { record } from '../../events/index.ts';
import { formatMoney, newId, statement, type TxContext } from '../../platform/index.ts';
import { readSeller } from '../documents/seller.ts';
import { creditNoteIssued } from '../events.ts';
import type { Treatment } from '../tax/decide.ts';
import type { InvoiceKind } from './kind.ts';
import { giveNumber } from './number.ts';
import { takeBackIssued } from './receivable.ts';

/** What is taken back of an invoice that has a number. Amounts are positive, with tax; the caller has locked it. */
export interface Correction {
  invoiceId: number;
  amountMinor: number;
  /** The part of the amount that was tax. */
  taxMinor: number;
  /** Shown to the customer. */
  reason: string;
  /** The lines that it takes back, in the invoice's own terms; without any it is the invoice as a whole. */
  lines?: readonly CorrectedLine[] | undefined;
  /** Of a correction of the tax alone: what had carried it, and how that is taxed instead. */
  retaxed?: { netMinor: number; treatment: Treatment };
}

/** What is taken back of one line: before tax, or with the tax inside where the invoice has it so. */
export interface CorrectedLine {
  ordinal: number;
  productId: number | null;
  serviceId: number | null;
  description: string;
  amountMinor: number;
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
    isInside: boolean;
    lines: string;
    reason: string;
    seller: object;
    now: Date;
  }
>(
  'billing.insertCreditNote',
  `with original as (select * from invoices where id = :invoiceId),
   line as (
     insert into invoice_items (invoice_id, ordinal, organization_id, product_id, service_id, description, price_minor,
       setup_fee_minor, discount_minor, corrects_ordinal, tax_treatment)
     select :id, l.place, o.organization_id, l.product_id, l.service_id, coalesce(l.description, 'Invoice ' || o.number),
       -l.minor, 0, 0, l.ordinal, l.tax_treatment
     from original o, jsonb_to_recordset(:lines::jsonb) as l(place int, ordinal int, product_id bigint,
       service_id bigint, description text, minor bigint, tax_treatment text)),
   terms as (select o.*, :isInside and o.tax_included as is_inside from original o)
   insert into invoices (id, organization_id, position, user_id, kind, status, currency, subtotal_minor, discount_minor,
     tax_minor, total_minor, tax_rate_basis_points, tax_country, tax_exempt, tax_treatment, tax_included, tax_reason,
     tax_consumer, expires_at, created_at, seller, buyer, corrects, reason)
   select :id, o.organization_id, (select max(position) + 1 from invoices where organization_id = o.organization_id),
     o.user_id, 'credit_note', 'draft', o.currency,
     -(:netMinor::bigint + case when o.is_inside then :taxMinor::bigint else 0 end), 0, -:taxMinor::bigint,
     -(:netMinor::bigint + :taxMinor::bigint), o.tax_rate_basis_points, o.tax_country, o.tax_exempt,
     o.tax_treatment, o.is_inside, o.tax_reason, o.tax_consumer, :now, :now, :seller::jsonb, o.buyer, o.id, :reason
   from terms o returning user_id, organization_id, currency`,
);
const settleCreditNote = statement<{ number: string }, { id: number; now: Date }>(
  'billing.settleCreditNote',
  `update invoices set status = 'paid', date_paid = :now where id = :id returning number`,
);

/** An invoice that was given up before it was paid. */
interface GivenUp {
  id: number;
  number: string | null;
  organization_id: number;
  kind: InvoiceKind;
  currency: string;
  total_minor: number;
  tax_minor: number;
  booked_at_issue: boolean;
}

/**
 * Takes back all of an invoice that was given up: one that has a number stays, and so needs another that cancels it. One
 * that counts is owed no more.
 */
export async function takeBack(tx: TxContext, invoice: GivenUp, reason: string): Promise<void> {
  const { id: invoiceId, number, total_minor: amountMinor, tax_minor: taxMinor } = invoice;
  if (invoice.booked_at_issue) {
    const { organization_id: organizationId, kind, currency } = invoice;
    const booked = { id: invoiceId, organizationId, kind, currency, taxMinor, totalMinor: amountMinor };
    await takeBackIssued(tx, booked);
  }
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
  const { invoiceId, amountMinor, taxMinor, reason, lines } = correction;
  await lockForCorrection(tx, invoiceId);
  const seller = await readSeller(tx);
  const id = newId();
  const now = tx.clock.now();
  const netMinor = amountMinor - taxMinor;
  const note = await tx.db.one(insertCreditNote, {
    ...{ id, invoiceId, netMinor, taxMinor, reason, seller, now, isInside: lines !== undefined },
    lines: JSON.stringify(rowsOf(correction)),
  });
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

/** One line for the invoice as a whole; its lines; or what is taxed in another way, taken back and said anew. */
function rowsOf({ lines, retaxed, amountMinor, taxMinor }: Correction) {
  if (retaxed !== undefined) {
    const { netMinor, treatment } = retaxed;
    return [
      { place: 1, minor: netMinor },
      { place: 2, minor: -netMinor, tax_treatment: treatment },
    ];
  }
  if (lines === undefined) return [{ place: 1, minor: amountMinor - taxMinor }];
  return lines.map(({ productId, serviceId, amountMinor: minor, ...line }, at) => ({
    ...{ ...line, place: at + 1, product_id: productId, service_id: serviceId, minor },
  }));
}
