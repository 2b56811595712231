import { record } from '../../events/index.ts';
import { organizationExists, ownerOf } from '../../organizations/index.ts';
import { type Context, fail, statement, type TxContext, transaction } from '../../platform/index.ts';
import { taxExemptionChanged, taxIdChecked } from '../events.ts';
import { profileOf } from '../profile/read.ts';
import { askAbout, askedAgainAt } from './ask.ts';
import type { TaxIdState } from './decide.ts';
import { lockForTax, taxOf } from './taxOf.ts';
import { isInUnion } from './union.ts';

interface Standing {
  exempt_reason: string | null;
  tax_id: string | null;
  state: TaxIdState | null;
  checked_at: Date | null;
  checked_by: 'register' | 'staff' | null;
  consultation_number: string | null;
  registered_name: string | null;
  registered_address: string | null;
  unknown_since: Date | null;
  tries: number;
  failure: string | null;
  ask_at: Date | null;
  updated_at: Date;
}

const standingOf = statement<Standing, { organizationId: number }>(
  'billing.taxStanding',
  `select exempt_reason, tax_id, state, checked_at, checked_by, consultation_number, registered_name,
     registered_address, unknown_since, tries, failure, ask_at, updated_at
   from tax_standings where organization_id = :organizationId`,
);
// Of another id than before nothing is known.
const startOver = statement<
  never,
  { organizationId: number; taxId: string | null; state: 'unknown' | null; askAt: Date | null; now: Date }
>(
  'billing.expectTaxId',
  `insert into tax_standings as s (organization_id, tax_id, state, unknown_since, ask_at, updated_at)
   values (:organizationId, :taxId, :state, case when :state::text is not null then :now::timestamptz end, :askAt, :now)
   on conflict (organization_id) do update set tax_id = excluded.tax_id, state = excluded.state, checked_at = null,
     checked_by = null, consultation_number = null, registered_name = null, registered_address = null,
     unknown_since = excluded.unknown_since, tries = 0, failure = null, ask_at = excluded.ask_at,
     updated_at = excluded.updated_at`,
);
const askAgain = statement<never, { organizationId: number; askAt: Date; now: Date }>(
  'billing.askTaxIdAgain',
  `update tax_standings set tries = 0, ask_at = :askAt, updated_at = :now where organization_id = :organizationId`,
);
const writeByHand = statement<
  never,
  {
    organizationId: number;
    state: 'valid' | 'invalid';
    consultationNumber: string | null;
    now: Date;
  }
>(
  'billing.writeTaxIdByHand',
  `update tax_standings set state = :state, checked_at = :now, checked_by = 'staff',
     consultation_number = :consultationNumber, registered_name = null, registered_address = null,
     unknown_since = null, tries = 0, failure = null, ask_at = null, updated_at = :now
   where organization_id = :organizationId`,
);
const writeExemption = statement<never, { organizationId: number; reason: string | null; now: Date }>(
  'billing.writeTaxExemption',
  `insert into tax_standings (organization_id, exempt_reason, updated_at) values (:organizationId, :reason, :now)
   on conflict (organization_id) do update set exempt_reason = excluded.exempt_reason, updated_at = excluded.updated_at`,
);

/**
 * Takes up what a profile says of its tax id: another one is unknown until the register has been asked. About the same one,
 * told again, nobody is asked: what is valid stays so until its day comes, and anything else is asked about once an hour at
 * most. The caller holds the organization's lock.
 */
export async function expectTaxId(
  tx: TxContext,
  organizationId: number,
  { country, taxId }: { country: string | null; taxId: string | null },
): Promise<void> {
  const asked = taxId !== null && country !== null && isInUnion(country) ? taxId : null;
  const before = await tx.db.maybe(standingOf, { organizationId });
  const now = tx.clock.now();
  const askAt = askedAgainAt(now);
  if (asked === null) {
    if (before?.tax_id != null)
      await tx.db.run(startOver, { organizationId, taxId: null, state: null, askAt: null, now });
    return;
  }
  if (before?.tax_id === asked && isKnown(before, now)) return;
  if (before?.tax_id === asked) await tx.db.run(askAgain, { organizationId, askAt, now });
  else await tx.db.run(startOver, { organizationId, taxId: asked, state: 'unknown', askAt, now });
  await askAbout(tx, { organizationId, taxId: asked });
}

const againAfterMs = 3_600_000;

function isKnown({ state, updated_at: updatedAt }: Standing, now: Date): boolean {
  const agoMs = now.getTime() - updatedAt.getTime();
  return state === 'valid' || (agoMs >= 0 && agoMs < againAfterMs);
}

/** What an organization's next invoice carries, and why, for staff. `not_found`. */
export async function readTaxStanding(ctx: Context, organizationId: number) {
  if (!(await organizationExists(ctx, organizationId))) throw fail('not_found');
  const [{ tax_id: taxId }, standing, tax] = await Promise.all([
    profileOf(ctx, organizationId),
    ctx.db.maybe(standingOf, { organizationId }),
    taxOf(ctx, organizationId, { lock: false }),
  ]);
  return {
    tax: {
      treatment: tax.treatment,
      country: tax.country,
      rate: (tax.rateBasisPoints / 100).toFixed(2),
      consumer: tax.consumer,
      exempt_reason: standing?.exempt_reason ?? null,
      tax_id: taxId === null || standing?.tax_id !== taxId ? null : viewTaxId(taxId, standing),
    },
  };
}

function viewTaxId(taxId: string, { ask_at, exempt_reason: _, updated_at: __, ...standing }: Standing) {
  return { ...standing, tax_id: taxId, state: standing.state ?? 'unknown', next_ask_at: ask_at };
}

export interface StandingChange {
  exempt_reason?: string | null;
  tax_id_state?: TaxIdState;
  consultation_number?: string;
}

/** Nobody changes what decides an organization's tax until the transaction ends. */
export async function lockTaxStanding(tx: TxContext, organizationId: number): Promise<void> {
  await lockForTax(tx, organizationId);
}

/**
 * Staff says that an organization pays no tax, and why; and what somebody found out about its tax id by hand, or that
 * the register is to be asked once more. `not_found`; `conflict` when it has no VAT id of the European Union.
 */
export async function changeTaxStanding(ctx: Context, organizationId: number, change: StandingChange) {
  return transaction(ctx, 'billing.changeTaxStanding', async (tx) => {
    if (!(await lockForTax(tx, organizationId))) throw fail('not_found');
    if (change.exempt_reason !== undefined) await exempt(tx, organizationId, change.exempt_reason);
    if (change.tax_id_state !== undefined) {
      const { tax_id: taxId } = await profileOf(tx, organizationId);
      const standing = await tx.db.maybe(standingOf, { organizationId });
      if (taxId === null || standing?.tax_id !== taxId) {
        throw fail('conflict', {
          message:
            'This organization has told no VAT id of the European Union, so there is nothing to say of it',
        });
      }
      await sayOfTaxId(tx, organizationId, taxId, change);
    }
    return readTaxStanding(tx, organizationId);
  });
}

async function exempt(tx: TxContext, organizationId: number, reason: string | null): Promise<void> {
  await tx.db.run(writeExemption, { organizationId, reason, now: tx.clock.now() });
  await record(tx, taxExemptionChanged, {
    subject: { type: 'organization', id: organizationId },
    organizationId,
    data: { reason },
  });
}

async function sayOfTaxId(
  tx: TxContext,
  organizationId: number,
  taxId: string,
  { tax_id_state: state, consultation_number: number }: StandingChange,
): Promise<void> {
  const now = tx.clock.now();
  if (state === undefined || state === 'unknown') {
    await tx.db.run(startOver, { organizationId, taxId, state: 'unknown', askAt: askedAgainAt(now), now });
    await askAbout(tx, { organizationId, taxId });
    return;
  }
  await tx.db.run(writeByHand, { organizationId, state, consultationNumber: number ?? null, now });
  await record(tx, taxIdChecked, {
    subject: { type: 'organization', id: organizationId },
    organizationId,
    data: { user_id: await ownerOf(tx, organizationId), tax_id: taxId, state, by: 'staff' },
  });
}
