import { type Concern, type ConcernSource, statement } from '../../platform/index.ts';

/** What a payment provider brings that a person has to answer. */
export const chargeConcerns: ConcernSource[] = [
  {
    kind: 'dispute.open',
    subject: 'dispute',
    title: 'Disputed payments that wait for an answer or a decision',
    find: statement<Concern, { limit: number }>(
      'billing.openDisputes',
      `select id, organization_id, opened_at as since,
         'the payment ' || reference || ' of invoice ' || invoice_id || ' is disputed (' || reason || ')' ||
         coalesce('; answer at the payment provider by ' || to_char(answer_by at time zone 'UTC', 'YYYY-MM-DD'), '') as message
       from disputes where state in ('asked', 'open') order by opened_at desc, id desc limit :limit`,
    ),
  },
];
