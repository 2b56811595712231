import { record } from '../../events/index.ts';
import {
  type ErrorDetail,
  fail,
  type OrganizationContext,
  statement,
  type TxContext,
  transaction,
  wrongWithCountry,
} from '../../platform/index.ts';
import { billingProfileChanged } from '../events.ts';
import { expectTaxId } from '../tax/standing.ts';
import { lockForTax } from '../tax/taxOf.ts';
import { euVatPrefix } from '../tax/union.ts';
import { type Profile, profileOf, readProfile } from './read.ts';
import { plainTaxId } from './taxId.ts';

/** What a customer may say of itself. */
type Said = Omit<Profile, 'updated_at' | 'name'> & { name: string | null };

export type ProfileChange = { [name in keyof Said]?: Said[name] | undefined };

const nameTold = statement<{ name: string | null }, { organizationId: number }>(
  'billing.nameOfProfile',
  'select name from billing_profiles where organization_id = :organizationId',
);
const writeProfile = statement<never, Said & { organizationId: number; now: Date }>(
  'billing.writeProfile',
  `insert into billing_profiles (organization_id, kind, consumer, name, address_line1, address_line2, postal_code, city,
     region, country, declared_country, tax_id, language, email, routing_id, order_number, updated_at)
   values (:organizationId, :kind, :consumer, :name, :address_line1, :address_line2, :postal_code, :city, :region,
     :country, :declared_country, :tax_id, :language, :email, :routing_id, :order_number, :now)
   on conflict (organization_id) do update set kind = excluded.kind, consumer = excluded.consumer, name = excluded.name,
     address_line1 = excluded.address_line1, address_line2 = excluded.address_line2,
     postal_code = excluded.postal_code, city = excluded.city, region = excluded.region, country = excluded.country,
     declared_country = excluded.declared_country, tax_id = excluded.tax_id, language = excluded.language,
     email = excluded.email, routing_id = excluded.routing_id, order_number = excluded.order_number,
     updated_at = excluded.updated_at`,
);

/** Until the transaction ends, the profile of the caller's organization stays as it is, and no invoice is issued to it. */
export async function lockProfile(tx: TxContext & OrganizationContext): Promise<void> {
  await lockForTax(tx, tx.organizationId);
}

/** Changes what is named of the profile; what is absent stays. `invalid_request` names each field that cannot be. */
export async function changeProfile(ctx: OrganizationContext, change: ProfileChange) {
  const { organizationId } = ctx;
  return transaction(ctx, 'billing.changeProfile', async (tx) => {
    await lockProfile(tx);
    const { updated_at: _, ...shown } = await profileOf(tx, organizationId);
    // What is shown for want of a name is the organization's, which may change.
    const before = { ...shown, name: (await tx.db.maybe(nameTold, { organizationId }))?.name ?? null };
    const problems: ErrorDetail[] = [];
    const said = { ...before, ...plainly(change, problems) };
    const taxId = checked(said, problems);
    if (problems.length > 0) throw fail('invalid_request', { details: problems });
    await tx.db.run(writeProfile, { ...said, tax_id: taxId, organizationId, now: tx.clock.now() });
    if (change.tax_id !== undefined || change.country !== undefined)
      await expectTaxId(tx, organizationId, { country: said.country, taxId });
    // Only what was changed: who somebody is and where they live has no place in a journal that is kept for good.
    await record(tx, billingProfileChanged, {
      subject: { type: 'organization', id: organizationId },
      organizationId,
      data: { fields: Object.keys(change).toSorted() },
    });
    return readProfile(tx);
  });
}

/** Texts without space around them; what no eye sees, or would turn a line around, is refused. */
function plainly(change: ProfileChange, problems: ErrorDetail[]): Partial<Said> {
  const plain: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(change)) {
    if (value === undefined) continue;
    plain[field] = typeof value === 'string' ? value.normalize('NFC').trim() : value;
    if (typeof value === 'string' && unseen.test(value)) {
      problems.push({ field, message: 'must be plain text in one line, without control characters' });
    }
  }
  return plain as Partial<Said>;
}

// Joiners are letters' own in some scripts; a lone half of a pair is no character at all.
const unseen = /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\u2028\u2029]/u;

/** The tax id as it is kept; adds to the problems what does not fit together. */
function checked(said: Said, problems: ErrorDetail[]): string | null {
  const { kind, consumer, country, declared_country: declared, tax_id: taxId } = said;
  const wrong = (field: keyof Said, message: string) => problems.push({ field, message });
  for (const field of ['country', 'declared_country'] as const) {
    const code = said[field];
    const problem = code === null ? null : wrongWithCountry(code);
    if (problem !== null) wrong(field, problem);
  }
  if (kind === 'company' && consumer)
    wrong('consumer', 'a company is no consumer; send "consumer": false with it');
  if (declared !== null && declared !== country)
    wrong('declared_country', 'must be the country of the address; send both, or null');
  if (taxId === null) return null;
  if (consumer) wrong('tax_id', 'a consumer has none; send "consumer": false with it, or "tax_id": null');
  if (country === null) {
    wrong('country', 'is needed to tell whose tax id it is');
    return null;
  }
  const plain = plainTaxId(taxId, country);
  if (plain === null) wrong('tax_id', `is no ${nameOfTaxId(country)}; look at it again, or send null`);
  return plain;
}

function nameOfTaxId(country: string): string {
  const prefix = euVatPrefix(country);
  return prefix === null
    ? 'tax id of up to 30 letters and digits'
    : `VAT id of ${country}, which begins with ${prefix} and has check digits`;
}
