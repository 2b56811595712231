import { Secret, TOTP } from 'otpauth';
import { type Context, type SealedValue, statement, type TxContext } from '../../platform/index.ts';

/** One-time codes of an authenticator app (RFC 6238): six digits, another one every thirty seconds. */
const periodS = 30;
const secretBytes = 20;
/** Clocks differ by a step either way. */
const window = 1;

interface FactorRow {
  sealed: Buffer;
  enabled: boolean;
}

const readFactor = statement<FactorRow, { userId: number }>(
  'account.totpFactor',
  'select sealed, enabled_at is not null as enabled from totp_factors where user_id = :userId',
);
const putFactor = statement<never, { userId: number; sealed: Buffer; now: Date }>(
  'account.putTotpFactor',
  `insert into totp_factors (user_id, sealed, enabled_at, last_step, created_at)
   values (:userId, :sealed, null, 0, :now)
   on conflict (user_id) do update set sealed = excluded.sealed, last_step = 0, created_at = excluded.created_at
     where totp_factors.enabled_at is null`,
);
// The one place where a step is taken: of several that show the same code at once, one finds it unused.
const takeStep = statement<never, { userId: number; step: number }>(
  'account.takeTotpStep',
  'update totp_factors set last_step = :step where user_id = :userId and last_step < :step',
);
const enable = statement<never, { userId: number; now: Date }>(
  'account.enableTotp',
  'update totp_factors set enabled_at = :now where user_id = :userId and enabled_at is null',
);
const remove = statement<never, { userId: number }>(
  'account.removeTotp',
  'delete from totp_factors where user_id = :userId',
);

/** What of people's factors waits sealed, for the proof of the secret key. */
export const sealedFactors = statement<SealedValue, { limit: number }>(
  'account.sealedFactors',
  `select sealed, 'totp ' || user_id as context from totp_factors limit :limit`,
);

export interface NewSecret {
  /** Base32, for who types it in. */
  secret: string;
  /** For a QR code. */
  otpauth_url: string;
}

/** Makes a secret for a person, that counts once a code of it was shown. Null when they have one that counts. */
export async function newSecret(tx: TxContext, userId: number, email: string): Promise<NewSecret | null> {
  const secret = new Secret({ size: secretBytes });
  const sealed = tx.seal.close(secret.base32, contextOf(userId));
  if ((await tx.db.run(putFactor, { userId, sealed, now: tx.clock.now() })) === 0) return null;
  const issuer = new URL(tx.config.publicUrl).hostname;
  const otpauth_url = new TOTP({ issuer, label: email, secret, period: periodS }).toString();
  return { secret: secret.base32, otpauth_url };
}

/** Whether this person signs in with codes. */
export async function hasTotp(ctx: Context, userId: number): Promise<boolean> {
  return (await ctx.db.maybe(readFactor, { userId }))?.enabled === true;
}

/** Whether this person has a secret, also one that does not count yet. */
export async function isSetUp(ctx: Context, userId: number): Promise<boolean> {
  return (await ctx.db.maybe(readFactor, { userId })) !== null;
}

/** Whether a code is right, and was never used before nor after; then it is used up. */
export async function takeCode(tx: TxContext, userId: number, code: string): Promise<boolean> {
  const factor = await tx.db.maybe(readFactor, { userId });
  if (factor === null) return false;
  const secret = Secret.fromBase32(tx.seal.open(factor.sealed, contextOf(userId)));
  const timestamp = tx.clock.now().getTime();
  const delta = new TOTP({ secret, period: periodS }).validate({ token: code, timestamp, window });
  if (delta === null) return false;
  const step = TOTP.counter({ period: periodS, timestamp }) + delta;
  return (await tx.db.run(takeStep, { userId, step })) > 0;
}

/** Makes a factor that counts at once, for who gets it together with the account. Returns the secret in base32. */
export async function giveTotp(tx: TxContext, userId: number, email: string): Promise<string> {
  const made = await newSecret(tx, userId, email);
  if (made === null) throw new Error(`account ${userId} has a second factor already`);
  await enableTotp(tx, userId);
  return made.secret;
}

export async function enableTotp(tx: TxContext, userId: number): Promise<boolean> {
  return (await tx.db.run(enable, { userId, now: tx.clock.now() })) > 0;
}

export async function removeTotp(tx: TxContext, userId: number): Promise<void> {
  await tx.db.run(remove, { userId });
}

function contextOf(userId: number): string {
  return `totp ${userId}`;
}
