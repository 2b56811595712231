import { Readable } from 'node:stream';
import type { Bytes, Principal } from '../../platform/http/index.ts';
import {
  type AccountContext,
  type Context,
  fail,
  type PersonalRoom,
  statement,
} from '../../platform/index.ts';

const batch = 500;
/** Who takes it so slowly holds a connection, and the database what was deleted since, for no longer than this. */
const longestMs = 30 * 60_000;

const busy = {
  others: 'Others are being exported; try again in a minute',
  own: 'Your account is being exported already; take that, or try again in a minute',
};

// An address for bills is whatever somebody says it is; this one was confirmed.
const addressesOf = statement<{ email: string; email_verified: boolean }, { userId: number }>(
  'account.addressesOf',
  'select email, email_verified from users where id = :userId',
);

/** The organizations whose rows somebody gets: they own them. Organizations know, which stand upstairs. */
export type OwnedOrganizations = (
  ctx: Context,
  userId: number,
  /** Whether a second factor was shown; null for an API key, of which its person's having one counts. */
  isStrong: boolean | null,
) => Promise<number[]>;

/**
 * Every row that concerns the caller, of one moment, as JSON that is made while it is sent: a batch in memory at a time. Secrets
 * are left out. `permission_denied` for a key for trying out, `rate_limited` while others are exported, or the caller is.
 */
export async function exportAccount(
  ctx: AccountContext,
  { signIn, isTest }: Principal,
  rooms: readonly PersonalRoom[],
  ownedOrganizations: OwnedOrganizations,
): Promise<Bytes> {
  // What is tried out ends with its answer, and this answer goes on and on.
  if (isTest) throw fail('permission_denied', { message: 'A key for trying out exports nothing' });
  const { userId } = ctx.actor;
  const { email, email_verified } = await ctx.db.one(addressesOf, { userId });
  const whose = {
    userId,
    emails: email_verified ? [email] : [],
    organizationIds: await ownedOrganizations(ctx, userId, signIn?.strong ?? null),
  };
  const opened = await ctx.db.openReading(userId);
  if (opened === 'others' || opened === 'own')
    throw fail('rate_limited', { message: busy[opened], retryAfterS: 60 });
  const reading = opened;
  const from = ctx.clock.now();
  const tables = rooms.flatMap((room) => room.tables);

  async function* text(): AsyncGenerator<string> {
    try {
      yield `{"success":true,"data":{"exported_at":"${from.toISOString()}","user_id":${userId},"tables":{`;
      let first = true;
      for (const { table, rows } of tables) {
        if (rows === null) continue;
        yield `${first ? '' : ','}"${table}":[`;
        first = false;
        let separator = '';
        for await (const found of reading.batches(rows, whose, batch)) {
          if (ctx.clock.now().getTime() - from.getTime() > longestMs)
            throw new Error('an export took too long');
          yield `${separator}${found.join(',')}`;
          separator = ',';
        }
        yield ']';
      }
      yield '}}}\n';
    } finally {
      await reading.end();
    }
  }
  const body = Readable.from(text(), { objectMode: false });
  // Who goes away before the first word would leave the connection open.
  body.once('close', () => void reading.end());
  return { body, type: 'application/json; charset=utf-8', name: `account-${userId}.json` };
}
