import { linkToken, type MailLink } from '../../events/index.ts';
import { type Context, statement, type TxContext } from '../../platform/index.ts';
import { hashToken } from '../sessions/token.ts';

/** Changes of addresses, from the wish to the last moment at which they can be taken back. */

export const confirmMs = 24 * 3_600_000;
export const revokeMs = 7 * 24 * 3_600_000;

export interface EmailChange {
  id: number;
  user_id: number;
  old_email: string;
  new_email: string;
  state: 'asked' | 'replaced' | 'taken' | 'confirmed' | 'closed';
  created_at: Date;
}

const columns = 'id, user_id, old_email, new_email, state, created_at';

/** The change that a link is of, while the link is good. */
export const changeByLink = statement<EmailChange, { hash: Buffer; state: EmailChange['state']; now: Date }>(
  'account.emailChangeByLink',
  `select ${columns} from email_changes where hash = :hash and state = :state and until > :now for update`,
);
const held = statement<{ id: number; user_id: number }, { email: string; now: Date }>(
  'account.heldAddress',
  `select id, user_id from email_changes where lower(old_email) = lower(:email) and state = 'confirmed' and until > :now
   order by created_at desc limit 1`,
);
const replace = statement<never, { userId: number }>(
  'account.replaceEmailChange',
  `update email_changes set state = 'replaced' where user_id = :userId and state = 'asked'`,
);
const purge = statement<never, { now: Date; limit: number }>(
  'account.purgeEmailChanges',
  `delete from email_changes where id in
     (select id from email_changes where until <= :now and state <> 'closed' limit :limit)`,
);

/** How a mail names the link by which a change is confirmed or taken back. */
export function changeLink(what: 'confirm' | 'revoke', id: number): MailLink {
  return { page: `/${what}-email-change`, for: `email-change-${what} ${id}` };
}

/** What is kept of the token of such a link. */
export function hashOfLink(ctx: Context, what: 'confirm' | 'revoke', id: number): Buffer {
  return hashToken(linkToken(ctx.seal, changeLink(what, id).for));
}

/** The change by which an account gave this address up, while its person can still have it back; null otherwise. */
export function heldAddress(ctx: Context, email: string): Promise<{ id: number; user_id: number } | null> {
  return ctx.db.maybe(held, { email, now: ctx.clock.now() });
}

/** No link that waits confirms a change any more: another wish takes its place, or who asked for it may be a thief. */
export async function dropAskedChange(tx: TxContext, userId: number): Promise<void> {
  await tx.db.run(replace, { userId });
}

const batch = 1_000;

/** Forgets changes that stand for good or were never confirmed, a batch at a time. */
export async function purgeEmailChanges(ctx: Context): Promise<'more' | 'done'> {
  return (await ctx.db.run(purge, { now: ctx.clock.now(), limit: batch })) >= batch ? 'more' : 'done';
}
