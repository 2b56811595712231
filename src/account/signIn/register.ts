import { record } from '../../events/index.ts';
import {
  acceptedLanguage,
  actingAs,
  attempt,
  type Context,
  isDuplicate,
  requireCountry,
  type TxContext,
} from '../../platform/index.ts';
import { heldAddress } from '../emailChange/rows.ts';
import {
  accountRegistered,
  addressHeld,
  passwordForgotten,
  registrationRepeated,
  verificationSent,
} from '../events.ts';
import { insertAccount } from '../users.ts';
import { makeLink } from './links.ts';
import { requireGoodPassword } from './passwordRules.ts';
import { hashPassword } from './passwords.ts';
import { type PersonRow, personByEmail } from './person.ts';
import { answeringRequests, askFor, type Registration } from './requests.ts';

export interface NewRegistration {
  email: string;
  password: string;
  first_name: string;
  last_name: string;
  organization_name?: string | undefined;
  country?: string | undefined;
  language?: string | undefined;
}

const sent = { mail_sent: true } as const;

/**
 * Takes a stranger's registration; what became of it a mail tells. `accepts` is the languages that their browser wants.
 * `password_refused`, `rate_limited`.
 */
export async function register(ctx: Context, body: NewRegistration, accepts: string | undefined) {
  const { email, password, first_name, last_name } = body;
  requireCountry('country', body.country);
  requireGoodPassword(password, { email, firstName: first_name, lastName: last_name });
  const data = {
    ...{ first_name, last_name, password_hash: await hashPassword(password) },
    organization_name: body.organization_name ?? `${first_name} ${last_name}`.trim(),
    country: body.country ?? null,
    language: body.language ?? acceptedLanguage(accepts),
  };
  await askFor(ctx, { kind: 'register', email, data });
  return sent;
}

/** Has the link sent again that confirms an address. */
export async function resendVerification(ctx: Context, email: string) {
  await askFor(ctx, { kind: 'verify', email, data: {} });
  return sent;
}

/** Has a link sent by which a password is set anew. */
export async function forgetPassword(ctx: Context, email: string) {
  await askFor(ctx, { kind: 'reset', email, data: {} });
  return sent;
}

/** Whether somebody with this address may register, which rooms upstairs know. */
type MayRegister = (ctx: Context, email: string) => Promise<boolean>;

/** What is done about each of them, where nobody waits for the answer: it would tell who was invited. */
export const addressRequests = (mayRegister: MayRegister) =>
  answeringRequests(async (tx, request) => {
    if (request.kind === 'register') return enter(tx, request.email, request.data, mayRegister);
    const person = await tx.db.maybe(personByEmail, { email: request.email });
    if (person === null || person.status !== 'active') return;
    const isVerifying = request.kind === 'verify';
    if (isVerifying && person.email_verified) return;
    const link_id = await makeLink(tx, isVerifying ? 'verify' : 'reset', person.id);
    await record(tx, isVerifying ? verificationSent : passwordForgotten, {
      subject: { type: 'user', id: person.id },
      organizationId: null,
      data: { user_id: person.id, link_id },
    });
  });

/**
 * Makes the account, or tells whoever has one with this address. Whoever may not register is told nothing: it would be a mail of
 * ours to a stranger, sent by whoever likes.
 */
async function enter(
  tx: TxContext,
  email: string,
  data: Registration,
  mayRegister: MayRegister,
): Promise<void> {
  const there = await tx.db.maybe(personByEmail, { email });
  if (there !== null) return tellAgain(tx, there);
  const held = await heldAddress(tx, email);
  if (held !== null) return tellHeld(tx, held);
  if (!(await mayRegister(tx, email))) return;
  let userId: number;
  try {
    userId = await attempt(tx, (inner) =>
      insertAccount(inner, {
        ...{ email, firstName: data.first_name, lastName: data.last_name },
        ...{ passwordHash: data.password_hash, emailVerified: false, language: data.language },
      }),
    );
  } catch (error) {
    // Of two registrations at once, the other one was faster.
    if (isDuplicate(error, 'users_email')) return tellAgain(tx, await tx.db.one(personByEmail, { email }));
    throw error;
  }
  const link_id = await makeLink(tx, 'verify', userId);
  const { organization_name, country } = data;
  await record(actingAs(tx, userId), accountRegistered, {
    subject: { type: 'user', id: userId },
    organizationId: null,
    data: { user_id: userId, organization_name, country, link_id },
  });
}

/** The account that had the address can have it back for a week, so for so long it is nobody else's. */
async function tellHeld(tx: TxContext, held: { id: number; user_id: number }): Promise<void> {
  await record(tx, addressHeld, {
    subject: { type: 'user', id: held.user_id },
    organizationId: null,
    data: { user_id: held.user_id, email_change_id: held.id },
  });
}

/** Whoever really has the address gets a link that sets the password: who registered first may be somebody else. */
async function tellAgain(tx: TxContext, person: PersonRow): Promise<void> {
  if (person.status !== 'active') return;
  await record(tx, registrationRepeated, {
    subject: { type: 'user', id: person.id },
    organizationId: null,
    data: { user_id: person.id, link_id: await makeLink(tx, 'reset', person.id) },
  });
}
