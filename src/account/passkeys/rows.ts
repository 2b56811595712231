import { type Context, fail, statement, type TxContext } from '../../platform/index.ts';

/** A passkey, with what proves it. */
export interface PasskeyRow {
  id: number;
  user_id: number;
  name: string;
  credential_id: Buffer;
  public_key: Buffer;
  transports: string[];
  synced: boolean;
  last_used_at: Date | null;
  created_at: Date;
}

export const selectPasskey = `select t.id, t.user_id, t.name, t.credential_id, t.public_key, t.transports, t.synced,
    t.last_used_at, t.created_at from passkeys t`;

const byCredential = statement<PasskeyRow, { credentialId: Buffer }>(
  'account.passkeyOfCredential',
  `${selectPasskey} where t.credential_id = :credentialId`,
);
export const passkeyById = statement<PasskeyRow, { id: number }>(
  'account.passkey',
  `${selectPasskey} where t.id = :id`,
);
const ofPerson = statement<PasskeyRow, { userId: number }>(
  'account.passkeysOf',
  `${selectPasskey} where t.user_id = :userId order by t.created_at, t.id`,
);
const anyOf = statement<{ has: boolean }, { userId: number }>(
  'account.hasPasskey',
  'select exists (select 1 from passkeys where user_id = :userId) as has',
);
// The one place where a counter is taken: of two that show the same number at once, one finds it used.
const takeCounter = statement<never, { id: number; counter: number; synced: boolean; now: Date }>(
  'account.takePasskeyCounter',
  `update passkeys set counter = :counter, synced = :synced, last_used_at = :now
   where id = :id and (counter < :counter::bigint or (counter = 0 and :counter::bigint = 0))`,
);

const drop = statement<never, { userId: number }>(
  'account.dropPasskeys',
  'delete from passkeys where user_id = :userId',
);

/** Takes all of a person's. */
export async function dropPasskeys(tx: TxContext, userId: number): Promise<void> {
  await tx.db.run(drop, { userId });
}

export function findPasskey(ctx: Context, credentialId: Buffer): Promise<PasskeyRow | null> {
  return ctx.db.maybe(byCredential, { credentialId });
}

export function passkeysOf(ctx: Context, userId: number): Promise<PasskeyRow[]> {
  return ctx.db.many(ofPerson, { userId });
}

/** Whether this person can sign in with a passkey. */
export async function hasPasskey(ctx: Context, userId: number): Promise<boolean> {
  return (await ctx.db.one(anyOf, { userId })).has;
}

/** Notes that a passkey was used. False when its counter did not go on: then somebody else uses a copy of it. */
export async function noteCounter(
  tx: TxContext,
  { id }: PasskeyRow,
  { counter, synced }: { counter: number; synced: boolean },
): Promise<boolean> {
  if ((await tx.db.run(takeCounter, { id, counter, synced, now: tx.clock.now() })) > 0) return true;
  // Removed since we looked at it.
  if ((await tx.db.maybe(passkeyById, { id })) === null) throw fail('invalid_passkey');
  return false;
}
