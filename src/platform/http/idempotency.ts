import { createHash } from 'node:crypto';
import { type Context, type TxContext, transaction } from '../context.ts';
import { statement } from '../database/index.ts';
import { fail } from '../errors.ts';
import type { SealedValue } from '../installation.ts';

const keptMs = 24 * 60 * 60 * 1000;
const keyPattern = /^[\x20-\x7e]{1,255}$/;

const tryLock = statement<{ locked: boolean }, { key: string }>(
  'idempotency.lock',
  'select pg_try_advisory_xact_lock(:key::bigint) as locked',
);

const findAnswer = statement<{ request_hash: Buffer; answer: Buffer }, { scope: Buffer; expired: Date }>(
  'idempotency.find',
  'select request_hash, answer from idempotency_keys where scope = :scope and created_at > :expired',
);

const keepAnswer = statement<
  never,
  { scope: Buffer; requestHash: Buffer; userId: number; answer: Buffer; now: Date; expired: Date }
>(
  'idempotency.keep',
  `insert into idempotency_keys (scope, request_hash, user_id, answer, created_at)
   values (:scope, :requestHash, :userId, :answer, :now)
   on conflict (scope) do update set request_hash = excluded.request_hash, answer = excluded.answer,
     created_at = excluded.created_at
   where idempotency_keys.created_at <= :expired`,
);

/** The newest answers, to prove the secret key by. */
export const sealedAnswers = statement<SealedValue, { limit: number }>(
  'idempotency.sealed',
  `select answer as sealed, 'idempotency ' || encode(scope, 'hex') as context from idempotency_keys
   order by created_at desc limit :limit`,
);

const purgeBatch = 5_000;

const purge = statement<never, { expired: Date; limit: number }>(
  'idempotency.purge',
  `delete from idempotency_keys where scope in
     (select scope from idempotency_keys where created_at <= :expired order by created_at limit :limit)`,
);

/** A POST that may be sent again. */
export interface RepeatableRequest {
  key: string;
  userId: number;
  /** What the caller came with: another credential may be allowed less, and reads no answer that was made for this one. */
  credential: string;
  /** Path with its parameters filled in, and the query apart. */
  path: string;
  query: string;
  body: Buffer | null;
}

/** Throws `idempotency_key_invalid` unless the header can be a key. */
export function checkIdempotencyKey(key: string): void {
  if (!keyPattern.test(key)) throw fail('idempotency_key_invalid');
}

/**
 * Runs `work` once for a key. Its effect and the answer it makes are one commit: after a crash either both are
 * there, and a repeated request gets the answer, or neither, and a repeated request starts over. Failures are
 * not kept, since nothing happened. Returns the JSON to send, and whether it was there already. Throws
 * `idempotency_in_flight` while the first request still runs and `idempotency_key_reused` for another body.
 */
export function once<C extends Context>(
  ctx: C,
  request: RepeatableRequest,
  name: string,
  work: (ctx: C & TxContext) => Promise<string>,
): Promise<{ json: string; replayed: boolean }> {
  const scope = scopeOf(ctx, request);
  const requestHash = ctx.seal.fingerprint(requestHashOf(request));
  const sealedFor = `idempotency ${scope.toString('hex')}`;
  return transaction(ctx, name, async (tx) => {
    // Two statements: the second one's snapshot has to begin after the lock is ours.
    const { locked } = await tx.db.one(tryLock, { key: scope.readBigInt64BE(0).toString() });
    if (!locked) throw fail('idempotency_in_flight', { retryAfterS: 1 });
    const now = ctx.clock.now();
    const expired = new Date(now.getTime() - keptMs);
    const kept = await tx.db.maybe(findAnswer, { scope, expired });
    if (kept !== null) {
      if (!kept.request_hash.equals(requestHash)) throw fail('idempotency_key_reused');
      return { json: ctx.seal.open(kept.answer, sealedFor), replayed: true };
    }
    const json = await work(tx);
    // Some answers show a secret, once; sealed, they show it to nobody who reads the database.
    const answer = ctx.seal.close(json, sealedFor);
    const written = await tx.db.run(keepAnswer, {
      scope,
      requestHash,
      userId: request.userId,
      answer,
      now,
      expired,
    });
    if (written !== 1) throw fail('idempotency_in_flight', { retryAfterS: 1 });
    return { json, replayed: false };
  });
}

const forgetOf = statement<never, { userId: number }>(
  'idempotency.forgetOf',
  'delete from idempotency_keys where user_id = :userId',
);

/** Forgets what a person was answered. */
export async function forgetAnswersOf(tx: TxContext, userId: number): Promise<void> {
  await tx.db.run(forgetOf, { userId });
}

/** Deletes what is older than a day, a batch at a time. */
export async function purgeIdempotencyKeys(ctx: Context): Promise<'more' | 'done'> {
  const gone = await ctx.db.run(purge, {
    expired: new Date(ctx.clock.now().getTime() - keptMs),
    limit: purgeBatch,
  });
  return gone === purgeBatch ? 'more' : 'done';
}

function scopeOf(ctx: Context, request: RepeatableRequest): Buffer {
  const parts = [request.userId, request.credential, ctx.organizationId, 'POST', request.path, request.key];
  return createHash('sha256').update(JSON.stringify(parts)).digest();
}

function requestHashOf(request: RepeatableRequest): Buffer {
  const hash = createHash('sha256').update(JSON.stringify([request.key, request.query]));
  if (request.body !== null) hash.update(request.body);
  return hash.digest();
}
