import { type Context, forMany, statement, type TxContext } from '../../platform/index.ts';

/** A piece that shows where a customer is. */
export interface EvidenceOf {
  kind: 'address' | 'declaration' | 'ip' | 'bank' | 'card';
  /** ISO 3166-1. */
  country: string;
}

/** What an organization's profile tells of where it is, and the request that is under way. */
export function evidenceOf(
  ctx: Context,
  profile: { country: string | null; has_address: boolean; declared_country: string | null },
): EvidenceOf[] {
  const { country, has_address: hasAddress, declared_country: declared } = profile;
  const ip = ctx.actor.country ?? null;
  return [
    ...(hasAddress && country !== null ? [{ kind: 'address', country } as const] : []),
    ...(declared !== null ? [{ kind: 'declaration', country: declared } as const] : []),
    ...(ip !== null ? [{ kind: 'ip', country: ip } as const] : []),
  ];
}

const insertEvidence = forMany(
  statement<never, { invoiceId: number; organizationId: number; now: Date; evidence: string }>(
    'billing.insertEvidence',
    `insert into tax_evidence (invoice_id, organization_id, kind, country, noted_at)
   select :invoiceId::bigint, :organizationId::bigint, e.kind, e.country, :now::timestamptz
   from jsonb_to_recordset(:evidence::jsonb) as e(kind text, country text)
   on conflict do nothing`,
  ),
  { invoiceId: 'bigint', organizationId: 'bigint', now: 'timestamptz', evidence: 'jsonb' },
  (given) => `with given as materialized (select * from ${given}),
   written as (
     insert into tax_evidence (invoice_id, organization_id, kind, country, noted_at)
     select g."invoiceId", g."organizationId", e.kind, e.country, g.now
     from given g cross join lateral jsonb_to_recordset(g.evidence) as e(kind text, country text)
     on conflict do nothing returning invoice_id)
   select given.nth_ from given join written on written.invoice_id = given."invoiceId"`,
);

/**
 * Keeps with an invoice what shows where its customer is. Whoever takes money for it adds the country of the card or
 * bank; the first of a kind counts.
 */
export async function noteEvidence(
  tx: TxContext,
  invoice: { id: number; organizationId: number },
  evidence: readonly EvidenceOf[],
): Promise<void> {
  if (evidence.length === 0) return;
  const { id: invoiceId, organizationId } = invoice;
  const now = tx.clock.now();
  await tx.db.run(insertEvidence, { invoiceId, organizationId, now, evidence: JSON.stringify(evidence) });
}

const whosePlaceCounts = forMany(
  statement<{ counts: boolean }, { invoiceId: number }>(
    'billing.doesPlaceOfBuyerCount',
    `select tax_consumer or tax_treatment = 'outside' as counts from invoices where id = :invoiceId`,
  ),
  { invoiceId: 'bigint' },
);

/**
 * Keeps where the card or account is that paid for an invoice: of consumers, who have to show where they are, and of whoever pays
 * no tax by the country they name.
 */
export async function notePaidFrom(
  tx: TxContext,
  invoice: { id: number; organizationId: number },
  { kind, country }: { kind: 'card' | 'bank'; country: string },
): Promise<void> {
  if (!/^[A-Z]{2}$/.test(country)) return;
  const { counts } = await tx.db.one(whosePlaceCounts, { invoiceId: invoice.id });
  if (counts) await noteEvidence(tx, invoice, [{ kind, country }]);
}
