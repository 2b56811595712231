import { formatMoney, statement, type TxContext } from '../../platform/index.ts';
import { post } from '../ledger/ledger.ts';

/** An invoice, locked, that is not paid in full, with what of its money goes back. */
export interface Returned {
  id: number;
  organizationId: number;
  currency: string;
  amountMinor: number;
  /** Why, as the customer's list of credit says it. */
  why: string;
}

const takeOffPart = statement<never, { id: number; amountMinor: number }>(
  'billing.takeOffPart',
  `update invoices set paid_minor = paid_minor - :amountMinor, credited_minor = credited_minor + :amountMinor
   where id = :id`,
);

/** Makes credit of what was paid towards an invoice, all of it or less; says how much that is. */
export async function returnPart(tx: TxContext, part: Returned): Promise<string> {
  const { id, organizationId, currency, amountMinor, why } = part;
  await tx.db.run(takeOffPart, { id, amountMinor });
  await post(tx, {
    kind: 'part_returned',
    organizationId,
    currency,
    invoiceId: id,
    description: `Paid towards invoice ${id}, ${why}`,
    creditMinor: amountMinor,
    provider: { parts: amountMinor },
  });
  return formatMoney(amountMinor, currency);
}
