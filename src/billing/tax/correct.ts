import { record } from '../../events/index.ts';
import {
  doEach,
  formatMoney,
  newId,
  notSetAside,
  statement,
  systemActor,
  type TxContext,
} from '../../platform/index.ts';
import { invoiceRefunded } from '../events.ts';
import { issueCreditNote } from '../invoices/creditNote.ts';
import { post } from '../ledger/ledger.ts';
import type { TaxProof } from './taxOf.ts';

interface Awaiting {
  id: number;
  organization_id: number;
  organizationId: number;
  user_id: number | null;
  status: string;
  currency: string;
  treatment: 'taxed' | 'reverse_charge';
  tax_minor: number;
  total_minor: number;
  refunded_minor: number;
  /** Of the tax, what went back with refunds before. */
  returned_minor: number;
  tax_id: string;
  state: 'valid' | 'invalid';
  checked_at: Date;
  consultation_number: string | null;
}

const batch = 20;
const job = 'billing.correctTaxes';

const answeredTaxes = `i.tax_awaits and s.state <> 'unknown' and (i.status <> 'unpaid' or s.state = 'invalid')
     and not (i.tax_treatment = 'reverse_charge' and s.state = 'invalid')`;
const fromAwaiting = `from invoices i
   join tax_standings s on s.organization_id = i.organization_id and s.tax_id = i.tax_proof->>'tax_id'`;

const findAnswered = statement<{ id: number; organization_id: number }, { now: Date; limit: number }>(
  'billing.findAnsweredTaxes',
  `select i.id, i.organization_id ${fromAwaiting} where ${answeredTaxes} and ${notSetAside(job, 'i.id')} order by i.id limit :limit`,
);
/** When {@link correctTaxes} has something to correct. */
export const nextAnswered = statement<{ at: Date | null }, { now: Date }>(
  'billing.nextAnsweredTax',
  `select case when exists (select 1 ${fromAwaiting} where ${answeredTaxes} and ${notSetAside(job, 'i.id')})
     then :now::timestamptz end as at`,
);
// Documents of an organization wait for one another; its lock comes before those of its invoices.
const lockOrganizations = statement<never, { ids: number[] }>(
  'billing.lockAnsweredOrganizations',
  'select id from organizations where id = any(:ids::bigint[]) order by id for no key update',
);

// One without tax whose id is invalid after all stays: nobody but staff can bill the tax; see `taxConcerns`.
const lockAnswered = statement<Awaiting, { ids: number[] }>(
  'billing.lockAnsweredTaxes',
  `select i.id, i.organization_id, i.organization_id as "organizationId", i.user_id, i.status, i.currency, i.tax_treatment as treatment, i.tax_minor,
     i.total_minor, i.refunded_minor,
     (select coalesce(sum(r.tax_minor), 0)::bigint from refunds r where r.invoice_id = i.id) as returned_minor,
     s.tax_id, s.state, s.checked_at, s.consultation_number
   ${fromAwaiting} where i.id = any(:ids::bigint[]) and ${answeredTaxes}
   order by i.id for update of i`,
);
const keepAnswer = statement<never, { id: number; proof: TaxProof; correctedMinor: number; now: Date }>(
  'billing.keepTaxAnswer',
  `update invoices set tax_awaits = false, tax_proof = :proof, tax_corrected_minor = :correctedMinor,
     refunded_minor = refunded_minor + :correctedMinor,
     date_refunded = case when :correctedMinor > 0 then :now else date_refunded end,
     status = case when :correctedMinor > 0 then 'partially_refunded' else status end
   where id = :id`,
);
const insertCorrection = statement<
  never,
  {
    id: number;
    invoiceId: number;
    organizationId: number;
    amountMinor: number;
    currency: string;
    reason: string;
    now: Date;
  }
>(
  'billing.insertTaxCorrection',
  `insert into refunds (id, invoice_id, organization_id, method, amount_minor, tax_minor, currency, reason, user_id,
     created_at)
   values (:id, :invoiceId, :organizationId, 'credit', :amountMinor, :amountMinor, :currency, :reason, null, :now)`,
);

/**
 * Invoices whose tax hung on what the register would say of a VAT id, once it has said it: a batch. The answer is kept
 * with each; where the id is valid, the tax that was paid meanwhile becomes credit, and a credit note says what is taxed
 * anew. One that is not paid yet waits for its money first.
 */
export async function correctTaxes(ctx: TxContext): Promise<'more' | 'done'> {
  const tx = { ...ctx, actor: systemActor };
  const found = await tx.db.many(findAnswered, { now: tx.clock.now(), limit: batch });
  if (found.length === 0) return 'done';
  await tx.db.many(lockOrganizations, { ids: [...new Set(found.map((each) => each.organization_id))] });
  const locked = await tx.db.many(lockAnswered, { ids: found.map(({ id }) => id) });
  await doEach(tx, job, locked, settle);
  return found.length === batch ? 'more' : 'done';
}

async function settle(tx: TxContext, invoice: Awaiting): Promise<void> {
  const { id, state, treatment, status, tax_minor, returned_minor } = invoice;
  const isOurs = status === 'paid' || status === 'partially_refunded';
  const isOwed = state === 'valid' && treatment === 'taxed' && isOurs;
  const correctedMinor = isOwed ? tax_minor - returned_minor : 0;
  const proof: TaxProof = {
    ...{ tax_id: invoice.tax_id, state, checked_at: invoice.checked_at.toISOString() },
    consultation_number: invoice.consultation_number,
  };
  await tx.db.run(keepAnswer, { id, proof, correctedMinor, now: tx.clock.now() });
  if (correctedMinor > 0) await giveTaxBack(tx, invoice, correctedMinor);
}

async function giveTaxBack(tx: TxContext, invoice: Awaiting, amountMinor: number): Promise<void> {
  const { id, organization_id: organizationId, currency, user_id, tax_id: taxId } = invoice;
  const reason = `The VAT id ${taxId} is valid, so the tax is yours to pay in your country`;
  await post(tx, {
    kind: 'invoice_refunded',
    organizationId,
    currency,
    invoiceId: id,
    description: `Tax of invoice ${id}`,
    creditMinor: amountMinor,
    provider: { tax: amountMinor },
  });
  const row = {
    id: newId(),
    invoiceId: id,
    organizationId,
    amountMinor,
    currency,
    reason,
    now: tx.clock.now(),
  };
  await tx.db.run(insertCorrection, row);
  await record(tx, invoiceRefunded, {
    subject: { type: 'invoice', id },
    organizationId,
    data: {
      ...{ user_id, currency, reason, method: 'credit', full: false },
      amount: formatMoney(amountMinor, currency),
    },
  });
  const netMinor = invoice.total_minor - invoice.refunded_minor - amountMinor;
  const retaxed = { netMinor, treatment: 'reverse_charge' } as const;
  await issueCreditNote(tx, { invoiceId: id, amountMinor, taxMinor: amountMinor, reason, retaxed });
}
