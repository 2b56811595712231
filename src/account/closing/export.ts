import { Readable } from 'node:stream';
import type { Bytes, Principal } from '../../platform/http/index.ts';
import {
  type AccountContext,
  type Context,
  fail,
  type PersonalRoom,
  type PersonalTable,
  statement,
} from '../../platform/index.ts';

const batch = 200;
/** Of rows that are opened, each of which may become a hundred kilobytes. */
const batchOpened = 10;
/** Who takes it so slowly holds a connection, and the database what was deleted since, for no longer than this. */
const longestMs = 30 * 60_000;

/** Who takes less than this after a while gives way to others: two who read a byte now and then would keep everybody from theirs. */
const slow = { afterMs: 60_000, bytesPerS: 65_536 };

/** An export that is being sent. */
interface Running {
  userId: number;
  fromMs: number;
  bytes: number;
  cut(): void;
}

const running = new Set<Running>();

/** Ends the slowest of those that are slow; false when none is. */
function endSlowest(nowMs: number): boolean {
  const rate = ({ fromMs, bytes }: Running) => (bytes * 1_000) / (nowMs - fromMs);
  const [slowest] = [...running]
    .filter((each) => nowMs - each.fromMs > slow.afterMs && rate(each) < slow.bytesPerS)
    .toSorted((one, other) => rate(one) - rate(other));
  slowest?.cut();
  return slowest !== undefined;
}

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
 * are left out. `permission_denied` for a key for trying out, `rate_limited` while others are exported that are not slow, or the
 * caller is.
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
  // Nobody's is ended for one that is refused.
  const isOwn = [...running].some((run) => run.userId === userId);
  let opened = isOwn ? 'own' : await ctx.db.openReading(userId);
  if (opened === 'others' && endSlowest(ctx.clock.now().getTime())) opened = await ctx.db.openReading(userId);
  if (opened === 'others' || opened === 'own')
    throw fail('rate_limited', { message: busy[opened], retryAfterS: 60 });
  const reading = opened;
  const from = ctx.clock.now();
  const tables = rooms
    .flatMap((room) => room.tables)
    .flatMap(({ table, rows, opened }) => (rows === null ? [] : [{ table, rows, opened }]));
  const head = `{"success":true,"data":{"exported_at":"${from.toISOString()}","user_id":${userId},"tables":{`;
  const rows: string[] = [];
  let nth = -1;
  let isAmid = false;
  let open: PersonalTable['opened'];
  let separator = '';

  /** Begins a table, sends the next rows of the one that is begun, or ends. */
  const send = async (to: Readable): Promise<void> => {
    if (isAmid) {
      const most = open === undefined ? batch : batchOpened;
      await reading.next(rows, most);
      if (open !== undefined) openAll(rows, open);
      if (ctx.clock.now().getTime() - from.getTime() > longestMs) throw new Error('an export took too long');
      isAmid = rows.length === most;
      return pass(to, isAmid ? '' : ']');
    }
    nth += 1;
    const next = tables[nth];
    if (next === undefined) {
      // Before the last word: who comes again at once finds nothing under way.
      await reading.end();
      to.push('}}}\n');
      to.push(null);
      return;
    }
    await reading.begin(next.rows, whose);
    isAmid = true;
    open = next.opened;
    separator = '';
    to.push(`${nth === 0 ? head : ','}"${next.table}":[`);
  };
  // No text is in what waits for an answer: V8 would not see soon that it was sent, and keep it until it cleans up everywhere.
  const pass = (to: Readable, after: string): void => {
    const text = rows.length === 0 ? after : `${separator}${rows.join(',')}${after}`;
    separator = ',';
    rows.fill('');
    rows.length = 0;
    run.bytes += text.length;
    to.push(text);
  };
  const run: Running = {
    userId,
    fromMs: from.getTime(),
    bytes: 0,
    cut() {
      running.delete(run);
      void reading.end();
      body.destroy(new Error('an export was taken slowly while others waited'));
    },
  };
  const body = new Readable({
    read() {
      send(this).catch((error: Error) => this.destroy(error));
    },
  });
  // Also of who goes away before the first word.
  body.once('close', () => {
    running.delete(run);
    void reading.end();
  });
  running.add(run);
  return { body, type: 'application/json; charset=utf-8', name: `account-${userId}.json` };
}

/** In place, as `rows` is. */
function openAll(rows: string[], open: NonNullable<PersonalTable['opened']>): void {
  for (const [nth, row] of rows.entries())
    rows[nth] = JSON.stringify(open(JSON.parse(row) as Record<string, unknown>));
}
