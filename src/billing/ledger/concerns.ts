import { type Concern, type ConcernSource, statement } from '../../platform/index.ts';

/** Books that are wrong. */
export const ledgerConcerns: ConcernSource[] = [
  {
    kind: 'ledger.difference',
    subject: 'ledger_difference',
    title: 'Balances that are not what their entries add up to',
    find: statement<Concern, { limit: number }>(
      'billing.ledgerDifferences',
      'select id, organization_id, since, message from ledger_differences order by since desc, id desc limit :limit',
    ),
  },
];
