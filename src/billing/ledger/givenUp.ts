import { statement, type TxContext } from '../../platform/index.ts';
import { heldCredit, listCredit, post } from './ledger.ts';

/** What is left of an organization's credit is given up as it is closed: what lies there afterwards came later. */
export async function giveUpCredit(tx: TxContext, organizationId: number): Promise<void> {
  for (const { currency } of await listCredit(tx, organizationId)) {
    const amountMinor = await heldCredit(tx, organizationId, currency);
    if (amountMinor === 0) continue;
    await post(tx, {
      kind: 'credit_given_up',
      ...{ organizationId, currency, creditMinor: -amountMinor },
      description: 'Given up with the account',
      provider: { given_up: -amountMinor },
    });
  }
}

const held = statement<{ minor: number }, { organizationId: number; currency: string; cameAt: Date | null }>(
  'billing.givenUp',
  `select coalesce(-sum(e.amount_minor), 0)::bigint as minor from ledger_accounts a
   join ledger_entries e on e.account_id = a.id
   where a.organization_id = :organizationId and a.kind = 'given_up' and a.currency = :currency
     and (:cameAt::timestamptz is null or exists (
       select 1 from ledger_entries g join ledger_transactions t on t.id = g.transaction_id
       where g.account_id = a.id and t.kind = 'credit_given_up' and t.created_at >= :cameAt))`,
);

interface Money {
  organizationId: number;
  currency: string;
  /** When it came: what came after the organization was closed is in nothing that was given up. */
  cameAt?: Date;
}

/**
 * What an organization has given up and money that goes back is taken from first, before its credit: what brought that may
 * have come later, and is somebody's still. The organization's row is locked.
 */
export async function givenUp(tx: TxContext, { organizationId, currency, cameAt }: Money): Promise<number> {
  return (await tx.db.one(held, { organizationId, currency, cameAt: cameAt ?? null })).minor;
}
