import { unionCountries } from './union.ts';

/** Evidence of so long before an invoice counts for it as well: what is bought from credit was paid for earlier. */
const daysBefore = 365;

const inUnion = `array[${unionCountries.map((country) => `'${country}'`).join(', ')}]`;

const rateOf = (country: string, day: string) => `(select r.rate_basis_points from tax_rates r
  where r.country = ${country} and r.valid_from <= ${day} order by r.valid_from desc limit 1)`;

/** SQL: a consumer there would pay tax that day; whoever taxes one country of the union owes tax for every other one, too. */
const isTaxed = (
  country: string,
  day: string,
) => `(${rateOf(country, day)} > 0 or ${country} = any(${inUnion}) and exists (
  select from unnest(${inUnion}) as u(country) where ${rateOf('u.country', day)} > 0))`;

const seen = (e: string, i: string, kinds: string) => `from tax_evidence ${e}
  where ${e}.organization_id = ${i}.organization_id and ${e}.kind in (${kinds})
    and ${e}.noted_at > ${i}.created_at - make_interval(days => ${daysBefore})`;

/**
 * SQL, of an invoice `i` that carries no tax because of the country that its customer has named: pieces of evidence that
 * somebody else has said, and not they, name another country, which we tax. A card or a bank account of the country that was
 * named weighs more than where a request came from.
 */
export const evidenceElsewhere = (i: string) => `(select array_agg(distinct e.country)
  ${seen('e', i, `'card', 'bank', 'ip'`)} and e.country <> ${i}.tax_country and ${isTaxed('e.country', `${i}.created_at::date`)}
    and not exists (select ${seen('h', i, `'card', 'bank'`)} and h.country = ${i}.tax_country))`;

/** SQL: which invoices can be such. */
export const isOutside = (i: string) =>
  `${i}.tax_treatment = 'outside' and ${i}.tax_country is not null and ${i}.kind not in ('top_up', 'credit_note')`;
