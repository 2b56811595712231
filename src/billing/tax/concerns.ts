import { type Concern, type ConcernSource, statement } from '../../platform/index.ts';

/** VAT ids that nobody could look up for a day, and invoices that lack a tax after all. */
export const taxConcerns: ConcernSource[] = [
  {
    kind: 'tax_id.unknown',
    subject: 'organization',
    title: 'VAT ids that nobody could look up',
    find: statement<Concern, { limit: number; now: Date }>(
      'billing.unknownTaxIds',
      `select organization_id as id, organization_id, unknown_since as since,
         tax_id || ': ' || coalesce(failure, 'nobody was asked yet') as message
       from tax_standings where state = 'unknown' and unknown_since < :now::timestamptz - interval '1 day'
       order by unknown_since desc, organization_id desc limit :limit`,
    ),
  },
  {
    kind: 'tax.missing',
    subject: 'invoice',
    title: 'Invoices without the tax that is owed',
    find: statement<Concern, { limit: number }>(
      'billing.missingTaxes',
      `select i.id, i.organization_id, i.created_at as since,
         'reverse charged to ' || s.tax_id || ', which is not valid' as message
       from invoices i
       join tax_standings s on s.organization_id = i.organization_id and s.tax_id = i.tax_proof->>'tax_id'
       where i.tax_awaits and i.tax_treatment = 'reverse_charge' and s.state = 'invalid'
         and i.status not in ('cancelled', 'refunded')
       order by i.created_at desc, i.id desc limit :limit`,
    ),
  },
];
