import { type Concern, type ConcernSource, statement } from '../../platform/index.ts';
import { evidenceElsewhere, isOutside } from './elsewhere.ts';

/** VAT ids that nobody could look up for a day, invoices that lack a tax after all, and customers who may be elsewhere. */
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
  {
    kind: 'tax.elsewhere',
    subject: 'organization',
    title: 'Customers who pay no tax by the country they name, and are seen in another one',
    // Until they say so, or staff has exempted them: then it was looked at.
    find: statement<Concern, { limit: number; now: Date }>(
      'billing.taxElsewhere',
      `select i.organization_id as id, i.organization_id, max(i.created_at) as since,
         count(*) || ' invoices without tax, as of ' || i.tax_country || ', while cards, banks or requests are of '
           || array_to_string(max(e.countries), ', ') as message
       from invoices i
       cross join lateral (select ${evidenceElsewhere('i')} as countries) e
       join organizations o on o.id = i.organization_id
       left join billing_profiles p on p.organization_id = i.organization_id
       left join tax_standings s on s.organization_id = i.organization_id
       where ${isOutside('i')} and i.created_at > :now::timestamptz - interval '90 days' and i.total_minor > 0
         and i.status not in ('cancelled', 'refunded') and e.countries is not null and s.exempt_reason is null
         and coalesce(p.country, o.country) = i.tax_country
       group by i.organization_id, i.tax_country order by since desc, id desc limit :limit`,
    ),
  },
];
