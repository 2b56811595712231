import { linkToken, type MailLink } from '../../events/index.ts';
import { type Context, fail, newId, statement, type TxContext } from '../../platform/index.ts';
import { hashToken } from '../sessions/token.ts';

/** What a link in a mail does for whoever follows it. */
export type LinkKind = 'verify' | 'reset';

const minutesOf: Record<LinkKind, number> = { verify: 24 * 60, reset: 60 };
const pageOf: Record<LinkKind, string> = { verify: '/verify-email', reset: '/reset-password' };
const linksAtMost = 5;

const insertLink = statement<
  never,
  { id: number; userId: number; kind: LinkKind; hash: Buffer; expiresAt: Date; now: Date }
>(
  'account.insertLink',
  `insert into account_links (id, user_id, kind, hash, expires_at, created_at)
   values (:id, :userId, :kind, :hash, :expiresAt, :now)`,
);
const dropOlder = statement<never, { userId: number; kind: LinkKind; keep: number }>(
  'account.dropOlderLinks',
  `delete from account_links where id in (select id from account_links where user_id = :userId and kind = :kind
     order by created_at desc, id desc offset :keep)`,
);
const whoseLink = statement<{ user_id: number }, { hash: Buffer; kind: LinkKind; now: Date }>(
  'account.whoseLink',
  'select user_id from account_links where hash = :hash and kind = :kind and expires_at > :now',
);
// Whoever deletes the row has used the link; the next one finds none.
const useLink = statement<{ user_id: number }, { hash: Buffer; kind: LinkKind; now: Date }>(
  'account.useLink',
  'delete from account_links where hash = :hash and kind = :kind and expires_at > :now returning user_id',
);
const dropLinks = statement<never, { userId: number; kind: LinkKind }>(
  'account.dropLinks',
  'delete from account_links where user_id = :userId and kind = :kind',
);
const dropAll = statement<never, { userId: number }>(
  'account.dropAllLinks',
  'delete from account_links where user_id = :userId',
);
const purge = statement<never, { now: Date; limit: number }>(
  'account.purgeLinks',
  'delete from account_links where id in (select id from account_links where expires_at <= :now limit :limit)',
);

/** How the mail that brings a link names it; its token is nowhere but there. */
export function mailLink(kind: LinkKind, id: number): MailLink {
  return { page: pageOf[kind], for: `${kind} ${id}` };
}

/** Makes a link for a person. Returns its id, which is no secret. */
export async function makeLink(tx: TxContext, kind: LinkKind, userId: number): Promise<number> {
  const id = newId();
  const now = tx.clock.now();
  const hash = hashToken(linkToken(tx.seal, mailLink(kind, id).for));
  const expiresAt = new Date(now.getTime() + minutesOf[kind] * 60_000);
  await tx.db.run(insertLink, { id, userId, kind, hash, expiresAt, now });
  await tx.db.run(dropOlder, { userId, kind, keep: linksAtMost });
  return id;
}

/** A link by which a person sets their password, for who hands it on at the console. */
export async function passwordLink(tx: TxContext, userId: number): Promise<string> {
  const { page, for: wanted } = mailLink('reset', await makeLink(tx, 'reset', userId));
  return `${tx.config.publicUrl}${page}?token=${linkToken(tx.seal, wanted)}`;
}

/** Whose link this is, which stays good. `invalid_link`. */
export async function readLink(ctx: Context, kind: LinkKind, token: string): Promise<number> {
  const row = await ctx.db.maybe(whoseLink, { hash: hashToken(token), kind, now: ctx.clock.now() });
  if (row === null) throw fail('invalid_link');
  return row.user_id;
}

/** Uses a link up, and the others of its kind with it. Returns whose it was. `invalid_link`. */
export async function takeLink(tx: TxContext, kind: LinkKind, token: string): Promise<number> {
  const row = await tx.db.maybe(useLink, { hash: hashToken(token), kind, now: tx.clock.now() });
  if (row === null) throw fail('invalid_link');
  await tx.db.run(dropLinks, { userId: row.user_id, kind });
  return row.user_id;
}

/** Ends all links of a person: they were sent to an address that is theirs no more. */
export async function dropLinksOf(tx: TxContext, userId: number): Promise<void> {
  await tx.db.run(dropAll, { userId });
}

const batch = 1_000;

/** Forgets links that nobody followed in time, a batch at a time. */
export async function purgeLinks(ctx: Context): Promise<'more' | 'done'> {
  return (await ctx.db.run(purge, { now: ctx.clock.now(), limit: batch })) >= batch ? 'more' : 'done';
}
