import type { Static } from 'typebox';
import { type Context, dayOf, forMany, statement, type TxContext } from '../../platform/index.ts';
import { readSettings } from '../../settings/index.ts';
import { company } from '../documents/company.ts';
import { type Buyer, type Decision, decideTax, type TaxIdState } from './decide.ts';
import { type EvidenceOf, evidenceOf } from './evidence.ts';
import { taxSettings } from './settings.ts';
import { isInUnion } from './union.ts';

/** Which tax an invoice carries, why, and what it was decided by. */
export interface Tax extends Decision {
  /** No tax of the provider's is on it: anything but `taxed`. */
  exempt: boolean;
  /** Whether prices have it inside. */
  included: boolean;
  consumer: boolean;
  /** What was known of the tax id; null without one. */
  proof: TaxProof | null;
  /** Where a consumer is, or whoever owes no tax there, as far as it shows today. */
  evidence: EvidenceOf[];
}

/** What a tax office is shown for an invoice without tax. */
export interface TaxProof {
  tax_id: string;
  state: TaxIdState;
  checked_at: string | null;
  consultation_number: string | null;
}

/** Of what is no supply, such as damages: nobody taxes it. */
export const untaxed: Tax = {
  ...{ treatment: 'outside', country: null, rateBasisPoints: 0, reason: null, awaits: false },
  ...{ exempt: true, included: false, consumer: false, proof: null, evidence: [] },
};

interface Facts {
  country: string | null;
  consumer: boolean;
  tax_id: string | null;
  exempt_reason: string | null;
  state: TaxIdState | null;
  checked_at: Date | null;
  consultation_number: string | null;
  has_address: boolean;
  declared_country: string | null;
  /** The rate of each country on the day. */
  rates: Record<string, number | null>;
}

const lockOrganization = forMany(
  statement<{ id: number }, { organizationId: number }>(
    'billing.lockForTax',
    'select id from organizations where id = :organizationId for no key update',
  ),
  { organizationId: 'bigint' },
);

const ratesOfDay = `(select coalesce(jsonb_object_agg(r.country, r.rate_basis_points), '{}')
  from (select distinct on (country) country, rate_basis_points from tax_rates where valid_from <= :day::date
        order by country, valid_from desc) r) as rates`;

const readFacts = forMany(
  statement<Facts, { organizationId: number; day: string }>(
    'billing.taxFacts',
    `select coalesce(p.country, o.country) as country, coalesce(p.consumer, true) as consumer, p.tax_id, s.exempt_reason,
     k.state, k.checked_at, k.consultation_number, p.address_line1 is not null as has_address, p.declared_country,
     ${ratesOfDay}
   from organizations o
   left join billing_profiles p on p.organization_id = o.id
   left join tax_standings s on s.organization_id = o.id
   left join tax_standings k on k.organization_id = o.id and k.tax_id = p.tax_id
   where o.id = :organizationId`,
  ),
  { organizationId: 'bigint', day: 'date' },
);
const readRates = statement<Pick<Facts, 'rates'>, { day: string }>(
  'billing.taxRates',
  `select ${ratesOfDay}`,
);

/**
 * Until the transaction ends, nothing that decides an organization's tax changes, and no invoice of it is issued. False
 * when there is no such organization.
 */
export async function lockForTax(tx: TxContext, organizationId: number): Promise<boolean> {
  return (await tx.db.maybe(lockOrganization, { organizationId })) !== null;
}

/**
 * Which tax an organization's invoices carry. With `lock`, other invoices of it wait for this one, and so does a change
 * of its profile. `suppliedOn` is the day whose rate counts, `2026-01-31`; default: today, in UTC.
 */
export async function taxOf(
  ctx: Context,
  organizationId: number,
  { lock, suppliedOn }: { lock: boolean; suppliedOn?: string },
): Promise<Tax> {
  const day = suppliedOn ?? today(ctx);
  // The facts are read by a statement of their own, whose snapshot begins once the lock is ours. They travel together.
  const [, facts, ...seller] = await Promise.all([
    lock && ctx.db.one(lockOrganization, { organizationId }),
    ctx.db.one(readFacts, { organizationId, day }),
    readSettings(ctx, company),
    readSettings(ctx, taxSettings),
  ]);
  return taxBy(seller, facts, evidenceOf(ctx, facts));
}

/** The same for somebody who has not said who they are, and is taken for a consumer in the provider's country. */
export async function taxOfVisitor(ctx: Context): Promise<Tax> {
  const [{ rates }, ...seller] = await Promise.all([
    ctx.db.one(readRates, { day: today(ctx) }),
    readSettings(ctx, company),
    readSettings(ctx, taxSettings),
  ]);
  return taxBy(seller, { ...nobody, rates }, []);
}

const nobody: Omit<Facts, 'rates'> = {
  ...{ country: null, consumer: true, tax_id: null, exempt_reason: null, state: null, checked_at: null },
  ...{ consultation_number: null, has_address: false, declared_country: null },
};

type Settings = [company: Static<typeof company.shape>, tax: Static<typeof taxSettings.shape>];

function taxBy([{ country: home }, settings]: Settings, facts: Facts, evidence: EvidenceOf[]): Tax {
  const { country, consumer, tax_id: taxId, rates } = facts;
  const isAsked = taxId !== null && country !== null && isInUnion(country);
  const state = isAsked ? (facts.state ?? 'unknown') : null;
  const buyer: Buyer = { country, consumer, taxIdState: state, exemptReason: facts.exempt_reason };
  const seller = {
    country: home,
    oneStopShop: settings.one_stop_shop,
    unknownTaxId: settings.unknown_tax_id,
  };
  const decision = decideTax(seller, buyer, (of) => rates[of] ?? null);
  return {
    ...decision,
    exempt: decision.treatment !== 'taxed',
    included: settings.prices === 'gross',
    consumer,
    proof:
      taxId === null || state === null
        ? null
        : {
            tax_id: taxId,
            state,
            checked_at: facts.checked_at?.toISOString() ?? null,
            consultation_number: facts.consultation_number,
          },
    evidence: consumer || decision.treatment === 'outside' ? evidence : [],
  };
}

function today(ctx: Context): string {
  return dayOf(ctx.clock.now());
}
