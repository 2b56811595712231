import { VatError } from '../../drivers/vat/index.ts';
import { record } from '../../events/index.ts';
import { ownerOf } from '../../organizations/index.ts';
import {
  type Context,
  enqueue,
  isJobOpenAbout,
  job,
  statement,
  systemActor,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { readSettings } from '../../settings/index.ts';
import { company } from '../documents/company.ts';
import { taxIdChecked } from '../events.ts';
import { plainTaxId } from '../profile/taxId.ts';
import { isInUnion } from './union.ts';

const minute = 60_000;
const day = 24 * 60 * minute;

/** Between two tries, at most: a register that is away for a week is no reason to forget the question. */
const longestPause = 6 * 60 * minute;

/** Companies end, and ids with them; and one that was just given out is not in the register yet. */
const validFor = 30 * day;
const invalidFor = day;

/** Another id may be told while one is asked about; after so many the periodic job takes over. */
const roundsAtMost = 2;

/** Until then nobody else asks the same. */
const claimed = 15 * minute;

const batch = 50;

interface Asked {
  organization_id: number;
  tax_id: string;
  state: 'valid' | 'invalid' | 'unknown';
  tries: number;
}

const lockDue = statement<Asked, { now: Date; limit: number }>(
  'billing.lockDueTaxIds',
  `select organization_id, tax_id, state, tries from tax_standings where ask_at <= :now order by ask_at limit :limit
   for update skip locked`,
);
/** When the next one is to be asked, for {@link askDueTaxIds}. */
export const nextTaxId = statement<{ at: Date | null }>(
  'billing.nextTaxId',
  'select min(ask_at) as at from tax_standings where ask_at is not null',
);
const claim = statement<never, { organizationIds: number[]; until: Date }>(
  'billing.claimTaxIds',
  'update tax_standings set ask_at = :until where organization_id = any(:organizationIds::bigint[])',
);
const standingOf = statement<Asked, { organizationId: number }>(
  'billing.taxIdToAsk',
  `select organization_id, tax_id, state, tries from tax_standings
   where organization_id = :organizationId and tax_id is not null and ask_at is not null`,
);
const lockStanding = statement<Asked, { organizationId: number; taxId: string }>(
  'billing.lockAskedTaxId',
  `select organization_id, tax_id, state, tries from tax_standings
   where organization_id = :organizationId and tax_id = :taxId and ask_at is not null for update`,
);
const writeAnswer = statement<
  never,
  {
    organizationId: number;
    state: 'valid' | 'invalid';
    consultationNumber: string | null;
    name: string | null;
    address: string | null;
    now: Date;
    askAt: Date;
  }
>(
  'billing.writeTaxIdAnswer',
  `update tax_standings set state = :state, checked_at = :now, checked_by = 'register',
     consultation_number = :consultationNumber, registered_name = :name, registered_address = :address,
     unknown_since = null, tries = 0, failure = null, ask_at = :askAt, updated_at = :now
   where organization_id = :organizationId`,
);
const writeFailure = statement<
  never,
  { organizationId: number; failure: string; now: Date; askAt: Date | null }
>(
  'billing.writeTaxIdFailure',
  `update tax_standings set tries = tries + 1, failure = :failure, ask_at = :askAt, updated_at = :now
   where organization_id = :organizationId`,
);

interface Payload {
  organizationId: number;
  taxId: string;
}

/**
 * Has the register asked about a tax id that was just told. An organization has one question open at a time: the job that
 * waits asks about the id that is told by then. The caller holds the organization's lock, or the standing's row.
 */
export async function askAbout(tx: TxContext, { organizationId, taxId }: Payload): Promise<void> {
  if (await isJobOpenAbout(tx, taxIdCheck, { organizationId })) return;
  await enqueue(tx, taxIdCheck, { organizationId, taxId }, { organizationId });
}

/** When a question that {@link askAbout} carries is asked again, should its job be lost. */
export function askedAgainAt(now: Date): Date {
  return new Date(now.getTime() + claimed);
}

/**
 * Asks the register about one tax id, once. What cannot be told is tried again by {@link askDueTaxIds}, for as long as
 * it takes: nothing waits for it, and a sale least of all.
 */
export const taxIdCheck = job<Payload>(
  'billing.checkTaxId',
  async ({ ctx, drivers, payload: { organizationId } }) => {
    let before: string | null = null;
    for (let round = 0; round < roundsAtMost; round += 1) {
      const asked = await ctx.db.maybe(standingOf, { organizationId });
      if (asked === null || asked.tax_id === before) return;
      before = asked.tax_id;
      try {
        const { valid, ...told } = await drivers.vat.check(asked.tax_id, await ourVatId(ctx));
        await keep(ctx, asked, { state: valid ? 'valid' : 'invalid', ...told });
      } catch (error) {
        if (!(error instanceof VatError)) throw error;
        await tryLater(ctx, asked, error);
      }
    }
  },
  // The register asks others, who may take their time.
  { queue: 'names' },
);

/** The provider's own, for the register to number its answers; without one that can be asked for, they have no number. */
async function ourVatId(ctx: Context): Promise<string | null> {
  const { vat_id: vatId, country } = await readSettings(ctx, company);
  return vatId === null || country === null || !isInUnion(country) ? null : plainTaxId(vatId, country);
}

interface Answer {
  state: 'valid' | 'invalid';
  consultationNumber: string | null;
  name: string | null;
  address: string | null;
}

function keep(ctx: Context, asked: Asked, answer: Answer): Promise<void> {
  const { organization_id: organizationId, tax_id: taxId } = asked;
  return transaction({ ...ctx, actor: systemActor }, 'billing.keepTaxIdAnswer', async (tx) => {
    const before = await tx.db.maybe(lockStanding, { organizationId, taxId });
    if (before === null) return; // told anew meanwhile, or staff has looked it up
    const now = tx.clock.now();
    const askAt = new Date(now.getTime() + (answer.state === 'valid' ? validFor : invalidFor));
    await tx.db.run(writeAnswer, { organizationId, ...answer, now, askAt });
    if (before.state === answer.state) return;
    await record(tx, taxIdChecked, {
      subject: { type: 'organization', id: organizationId },
      organizationId,
      data: {
        user_id: await ownerOf(tx, organizationId),
        tax_id: taxId,
        state: answer.state,
        by: 'register',
      },
    });
  });
}

function tryLater(ctx: Context, asked: Asked, error: VatError): Promise<void> {
  const { organization_id: organizationId, tax_id: taxId } = asked;
  return transaction(ctx, 'billing.keepTaxIdFailure', async (tx) => {
    const before = await tx.db.maybe(lockStanding, { organizationId, taxId });
    if (before === null) return;
    const now = tx.clock.now();
    const pause = Math.min(longestPause, minute * 2 ** before.tries);
    // Without a register staff looks ids up; one may be set any day.
    const inMs = error.code === 'not_supported' ? day : pause;
    const askAt = error.code === 'vat_id_malformed' ? null : new Date(now.getTime() + inMs);
    await tx.db.run(writeFailure, { organizationId, failure: error.message.slice(0, 500), now, askAt });
  });
}

/** Has the register asked about tax ids that it could not tell of before, or told of long ago: a batch of them. */
export async function askDueTaxIds(tx: TxContext): Promise<'more' | 'done'> {
  const now = tx.clock.now();
  const due = await tx.db.many(lockDue, { now, limit: batch });
  if (due.length === 0) return 'done';
  const organizationIds = due.map((each) => each.organization_id);
  await tx.db.run(claim, { organizationIds, until: askedAgainAt(now) });
  for (const { organization_id: organizationId, tax_id: taxId } of due)
    await askAbout(tx, { organizationId, taxId });
  return due.length === batch ? 'more' : 'done';
}
