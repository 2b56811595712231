import { linkToken, type MailLink, record, recordEntry } from '../../events/index.ts';
import {
  type AccountContext,
  actingAs,
  type Context,
  fail,
  newId,
  requireRow,
  type StaffContext,
  statement,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { organizationOf } from '../block.ts';
import { factorReset, factorResetAsked, factorResetStopped } from '../events.ts';
import { dropPasskeys } from '../passkeys/rows.ts';
import { endSessionsOf } from '../sessions/end.ts';
import { hashToken } from '../sessions/token.ts';
import { lockedPerson } from '../signIn/person.ts';
import { factorsOf } from './factor.ts';
import { dropRecoveryCodes } from './recoveryCodes.ts';
import { removeTotp } from './totp.ts';

/**
 * The way for who lost phone, passkeys and recovery codes. Staff asks for it, after it made sure who it talks to; the person is
 * told by a mail whose link stops it; three days after that mail left, the factors are gone and the password is left. Who asked has
 * to be of staff still: what a thief of their account began ends with them.
 */

export const waitMs = 72 * 3_600_000;

interface ResetRow {
  user_id: number;
  asked_by: number;
  asked_by_email: string;
  reason: string;
  due_at: Date;
  created_at: Date;
}

const readReset = statement<ResetRow, { userId: number }>(
  'account.factorReset',
  `select r.user_id, r.asked_by, s.email as asked_by_email, r.reason, r.due_at, r.created_at
   from factor_resets r join users s on s.id = r.asked_by where r.user_id = :userId`,
);
const insertReset = statement<
  never,
  { userId: number; askedBy: number; reason: string; hash: Buffer; dueAt: Date; now: Date }
>(
  'account.insertFactorReset',
  `insert into factor_resets (user_id, asked_by, reason, hash, due_at, created_at)
   values (:userId, :askedBy, :reason, :hash, :dueAt, :now)`,
);
const noteEntry = statement<never, { userId: number; journalId: number }>(
  'account.noteFactorResetMail',
  'update factor_resets set journal_id = :journalId where user_id = :userId',
);
const deleteReset = statement<{ user_id: number }, { userId: number }>(
  'account.deleteFactorReset',
  'delete from factor_resets where user_id = :userId returning user_id',
);
// Asked for anew since we looked, it waits anew.
const deleteDue = statement<{ may_ask: boolean }, { userId: number; now: Date }>(
  'account.deleteDueFactorReset',
  `delete from factor_resets r using users a, users u
   where r.user_id = :userId and r.due_at <= :now and a.id = r.asked_by and u.id = r.user_id
   returning a.status = 'active' and (a.staff_role = 'administrator' or a.staff_role = 'support' and u.staff_role is null)
     as may_ask`,
);
const deleteByLink = statement<{ user_id: number }, { hash: Buffer }>(
  'account.stopFactorReset',
  'delete from factor_resets where hash = :hash returning user_id',
);
// A mail that did not leave told nobody.
const dueResets = statement<{ user_id: number }, { now: Date; toldBefore: Date; limit: number }>(
  'account.dueFactorResets',
  `select r.user_id from factor_resets r
   join mails m on m.journal_id = r.journal_id and m.state in ('sent', 'kept')
     and coalesce(m.sent_at, m.created_at) <= :toldBefore
   where r.due_at <= :now order by r.due_at limit :limit`,
);

/** How the mail names the link that stops it. */
export function keepLink(id: number): MailLink {
  return { page: '/keep-second-factor', for: `keep-factors ${id}` };
}

/**
 * Has an account's factors taken away in three days. Of the provider's own people only an administrator asks, and nobody for
 * themselves. `not_found`, `second_factor_missing`, `conflict`, `permission_denied`.
 */
export function askForReset(ctx: StaffContext, userId: number, reason: string) {
  return transaction(ctx, 'account.askForFactorReset', async (tx) => {
    const person = await requireRow(tx, lockedPerson, { id: userId });
    requireMay(tx, person);
    if ((await factorsOf(tx, userId)).length === 0)
      throw fail('second_factor_missing', { message: 'This account has no second factor' });
    if ((await tx.db.maybe(readReset, { userId })) !== null)
      throw fail('conflict', { message: 'This was asked for already, and waits' });
    const now = tx.clock.now();
    const link_id = newId();
    const dueAt = new Date(now.getTime() + waitMs);
    const hash = hashToken(linkToken(tx.seal, keepLink(link_id).for));
    await tx.db.run(insertReset, { userId, askedBy: ctx.actor.userId, reason, hash, dueAt, now });
    const journalId = await recordEntry(tx, factorResetAsked, {
      ...(await about(tx, userId)),
      data: { user_id: userId, reason, link_id, due_at: dueAt.toISOString() },
    });
    await tx.db.run(noteEntry, { userId, journalId });
    return readFactorReset(tx, userId);
  });
}

/** What waits for an account. `not_found` when nothing does. */
export async function readFactorReset(ctx: Context, userId: number) {
  const { asked_by, asked_by_email, ...row } = await requireRow(ctx, readReset, { userId });
  return { factor_reset: { ...row, asked_by: { id: asked_by, email: asked_by_email } } };
}

/** Staff takes it back. `not_found`, `permission_denied`. */
export function revokeReset(ctx: StaffContext, userId: number) {
  return transaction(ctx, 'account.revokeFactorReset', async (tx) => {
    requireMay(tx, await requireRow(tx, lockedPerson, { id: userId }));
    await requireRow(tx, deleteReset, { userId });
    await record(tx, factorResetStopped, { ...(await about(tx, userId)), data: { user_id: userId } });
    return { stopped: true };
  });
}

/** Its person stops it by the link in the mail. `invalid_link`. */
export function keepFactors(ctx: Context, token: string) {
  return transaction(ctx, 'account.keepFactors', async (outer) => {
    const row = await outer.db.maybe(deleteByLink, { hash: hashToken(token) });
    if (row === null) throw fail('invalid_link');
    const tx: AccountContext & TxContext = actingAs(outer, row.user_id);
    await record(tx, factorResetStopped, {
      ...(await about(tx, row.user_id)),
      data: { user_id: row.user_id },
    });
    return { kept: true };
  });
}

const batch = 20;

/** When the next days are over, for {@link resetFactors}. */
export const nextReset = statement<{ at: Date | null }>(
  'account.nextFactorReset',
  'select min(due_at) as at from factor_resets',
);

/** Takes the factors from those whose days are over, a batch at a time. */
export async function resetFactors(tx: TxContext): Promise<'more' | 'done'> {
  const now = tx.clock.now();
  const toldBefore = new Date(now.getTime() - waitMs);
  const due = await tx.db.many(dueResets, { now, toldBefore, limit: batch });
  for (const { user_id: userId } of due) await resetOne(tx, userId, now);
  return due.length >= batch ? 'more' : 'done';
}

async function resetOne(tx: TxContext, userId: number, now: Date): Promise<void> {
  await tx.db.one(lockedPerson, { id: userId });
  const due = await tx.db.maybe(deleteDue, { userId, now });
  // Stopped since we looked.
  if (due === null) return;
  if (!due.may_ask) {
    await record(tx, factorResetStopped, { ...(await about(tx, userId)), data: { user_id: userId } });
    return;
  }
  await removeTotp(tx, userId);
  await dropPasskeys(tx, userId);
  await dropRecoveryCodes(tx, userId);
  await endSessionsOf(tx, userId, null);
  await record(tx, factorReset, { ...(await about(tx, userId)), data: { user_id: userId } });
}

/** Nobody changes what waits for an account until the transaction ends. */
export async function lockReset(tx: TxContext, userId: number): Promise<void> {
  await requireRow(tx, lockedPerson, { id: userId });
}

function requireMay(ctx: StaffContext, person: { id: number; staff_role: string | null }): void {
  if (person.id === ctx.actor.userId)
    throw fail('permission_denied', { message: 'Somebody else sees to your own factors' });
  if (person.staff_role !== null && ctx.staffRole !== 'administrator')
    throw fail('permission_denied', { message: "Only administrators see to the provider's people" });
}

async function about(tx: TxContext, id: number) {
  return { subject: { type: 'user', id }, organizationId: await organizationOf(tx, id) };
}
