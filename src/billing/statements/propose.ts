import { statement, type TxContext } from '../../platform/index.ts';
import type { BankEntryRow, Proposal } from './book.ts';
import { likeness } from './names.ts';

interface Candidate {
  organization_id: number;
  organization_name: string;
  invoice_id: number;
}

const dueExactly = statement<Candidate, { currency: string; amountMinor: number }>(
  'billing.dueExactly',
  `select i.organization_id, o.name as organization_name, i.id as invoice_id
   from invoices i join organizations o on o.id = i.organization_id
   where i.status = 'unpaid' and i.currency = :currency and i.total_minor - i.paid_minor = :amountMinor
   order by i.id limit 500`,
);
const paidBefore = statement<{ organization_id: number }, { iban: string }>(
  'billing.paidBefore',
  `select organization_id from bank_entries where iban = :iban and state = 'booked'
   group by organization_id order by max(booked_on) desc limit 4`,
);

/** Names that share so much are worth a look. */
const alike = 0.5;

/**
 * Who may have paid what names no invoice: whose account it came from before, and of whom exactly as much is due, by
 * how alike the names are. For a person to decide.
 */
export async function proposalsFor(tx: TxContext, entry: BankEntryRow): Promise<Proposal[]> {
  const { currency, amount_minor: amountMinor, iban, name } = entry;
  const due = await tx.db.many(dueExactly, { currency, amountMinor });
  const known = iban === null ? [] : await tx.db.many(paidBefore, { iban });
  // An account of many is a payment service's, and says nothing.
  const before = (known.length > 3 ? [] : known).map(({ organization_id }) => ({
    organization_id,
    invoice_ids: due
      .filter((each) => each.organization_id === organization_id)
      .map((each) => each.invoice_id),
    because: 'it came from this account before',
  }));
  const likely = due
    .map((each) => ({ ...each, score: name === null ? 0 : likeness(name, each.organization_name) }))
    .filter(
      ({ score, organization_id }) =>
        // Of one customer alone as much is due: that is a sign too, and of several it is none.
        score >= alike || due.every((each) => each.organization_id === organization_id),
    )
    .sort((one, other) => other.score - one.score)
    .map(({ organization_id, invoice_id, score }) => ({
      organization_id,
      invoice_ids: [invoice_id],
      because: score >= alike ? 'the amount is due and the names are alike' : 'as much is due of nobody else',
    }));
  const seen = new Set(before.map(({ organization_id }) => organization_id));
  return [...before, ...likely.filter(({ organization_id }) => !seen.has(organization_id))];
}
