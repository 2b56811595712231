import { record } from '../events/index.ts';
import { type Answer, answer, type Principal, requireFresh } from '../platform/http/index.ts';
import {
  type AccountContext,
  fail,
  requireRow,
  statement,
  type TxContext,
  transaction,
} from '../platform/index.ts';
import { askForEmail } from './emailChange/ask.ts';
import { dropAskedChange } from './emailChange/rows.ts';
import { passwordChanged } from './events.ts';
import { readAccount, type Upstairs } from './read.ts';
import { endSessionsOf } from './sessions/end.ts';
import { renewSession } from './sessions/renew.ts';
import { dropLinksOf } from './signIn/links.ts';
import { requireGoodPassword } from './signIn/passwordRules.ts';
import { hashPassword, isPassword } from './signIn/passwords.ts';
import { lockedPerson, personById, setPassword } from './signIn/person.ts';
import { noteRefusal } from './signIn/refusals.ts';
import { recordChange } from './users.ts';

/** What people change of their account; what is absent stays, and null clears. */
export interface AccountChange {
  first_name?: string;
  last_name?: string;
  phone?: string | null;
  billing_email?: string | null;
  abuse_email?: string | null;
  email?: string;
  password?: string;
  /** Goes with `password`. */
  current_password?: string;
}

/** What an account says of its person. */
export interface Facts {
  first_name: string;
  last_name: string;
  phone: string | null;
  billing_email: string | null;
  abuse_email: string | null;
}

const readFacts = statement<Facts, { userId: number }>(
  'account.facts',
  'select first_name, last_name, phone, billing_email, abuse_email from users where id = :userId',
);
const putFacts = statement<never, Facts & { userId: number; now: Date }>(
  'account.writeFacts',
  `update users set first_name = :first_name, last_name = :last_name, phone = :phone, billing_email = :billing_email,
     abuse_email = :abuse_email, updated_at = :now
   where id = :userId`,
);

interface Asked {
  principal: Principal;
  userAgent: string | null;
}

/**
 * Changes the caller's account. Another address counts once it is confirmed, and is asked for by somebody who proved who they
 * are; another password wants the one before, and ends all other sessions. `session_required`, `reauthentication_required`,
 * `invalid_credentials`, `password_refused`, `too_many`.
 */
export async function changeAccount(
  ctx: AccountContext,
  { email, password, current_password, ...facts }: AccountChange,
  { principal, userAgent }: Asked,
  upstairs: Upstairs,
): Promise<Awaited<ReturnType<typeof readAccount>> | Answer<Awaited<ReturnType<typeof readAccount>>>> {
  const { userId } = ctx.actor;
  const person = await requireRow(ctx, personById, { id: userId });
  const wantsEmail = email !== undefined && email !== person.email;
  if (wantsEmail) requireFresh(principal, ctx.clock);
  const { first_name: firstName = person.first_name, last_name: lastName = person.last_name } = facts;
  let passwordHash: string | null = null;
  requireBoth(password, current_password);
  if (password !== undefined && current_password !== undefined) {
    if (typeof principal.sessionId !== 'number') throw fail('session_required');
    if (!(await isPassword(current_password, person.password_hash))) {
      noteRefusal(ctx, userId, 'wrong_password', userAgent);
      throw fail('invalid_credentials', { message: 'current_password is not the password of your account' });
    }
    requireGoodPassword(password, { email: person.email, firstName, lastName });
    passwordHash = await hashPassword(password);
  }
  return transaction(ctx, 'account.change', async (tx) => {
    const now = await tx.db.one(lockedPerson, { id: userId });
    if (now.status !== 'active') throw fail('unauthorized'); // closed or blocked while this was on its way
    await changeFacts(tx, facts);
    if (passwordHash === null) {
      if (wantsEmail) await askForEmail(tx, now, email);
      return readAccount(tx, principal, upstairs);
    }
    // Somebody else may have set one meanwhile.
    if (now.password_hash !== person.password_hash) throw fail('invalid_credentials');
    const cookies = await replacePassword(tx, passwordHash, Number(principal.sessionId));
    // After the password, with which what was asked for before falls.
    if (wantsEmail) await askForEmail(tx, now, email);
    return answer(await readAccount(tx, principal, upstairs), cookies);
  });
}

async function changeFacts(tx: AccountContext & TxContext, change: Partial<Facts>): Promise<void> {
  const fields = await writeFacts(tx, tx.actor.userId, change);
  if (fields.length > 0) await recordChange(tx, fields);
}

/** Changes what an account says; answers which fields are others now. */
export async function writeFacts(tx: TxContext, userId: number, change: Partial<Facts>): Promise<string[]> {
  const before = await tx.db.one(readFacts, { userId });
  const after: Facts = { ...before, ...change };
  const fields = (Object.keys(before) as (keyof Facts)[]).filter((field) => before[field] !== after[field]);
  if (fields.length > 0) await tx.db.run(putFacts, { ...after, userId, now: tx.clock.now() });
  return fields;
}

async function replacePassword(tx: AccountContext & TxContext, passwordHash: string, sessionId: number) {
  const { userId } = tx.actor;
  await tx.db.run(setPassword, { id: userId, passwordHash, now: tx.clock.now() });
  const sessions_ended = await endSessionsOf(tx, userId, sessionId);
  await dropLinksOf(tx, userId);
  await dropAskedChange(tx, userId);
  await record(tx, passwordChanged, {
    subject: { type: 'user', id: userId },
    organizationId: null,
    data: { user_id: userId, sessions_ended },
  });
  return renewSession(tx, sessionId, { strong: false });
}

function requireBoth(password: string | undefined, current: string | undefined): void {
  if ((password === undefined) === (current === undefined)) return;
  const field = password === undefined ? 'password' : 'current_password';
  const message = `is missing: another password wants both, the new one and the one that is good now`;
  throw fail('invalid_request', { details: [{ field, message }] });
}
