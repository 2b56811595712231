import { type Context, fail, statement, type TxContext } from '../../platform/index.ts';
import { takeRecoveryCode } from './recoveryCodes.ts';
import { hasTotp, takeCode } from './totp.ts';

/** What somebody shows as second factor: one of the two. */
export interface Shown {
  code?: string | undefined;
  recovery_code?: string | undefined;
}

export type SecondFactor = 'totp' | 'recovery_code' | 'passkey';

const hasTotpOf = (userId: string) =>
  `exists (select 1 from totp_factors f where f.user_id = ${userId} and f.enabled_at is not null)`;
const hasPasskeyOf = (userId: string) => `exists (select 1 from passkeys p where p.user_id = ${userId})`;

const whichOf = statement<{ totp: boolean; passkey: boolean }, { userId: number }>(
  'account.factorsOf',
  `select ${hasTotpOf(':userId')} as totp, ${hasPasskeyOf(':userId')} as passkey`,
);

/** What this person has to show beside the password; empty for who has set up nothing. */
export async function factorsOf(ctx: Context, userId: number): Promise<SecondFactor[]> {
  const { totp, passkey } = await ctx.db.one(whichOf, { userId });
  if (!totp && !passkey) return [];
  return [...(totp ? (['totp'] as const) : []), 'recovery_code', ...(passkey ? (['passkey'] as const) : [])];
}

/** SQL that says whether the person whose id this is has something to show beside the password. */
export function isSecured(userId: string): string {
  return `(${hasTotpOf(userId)} or ${hasPasskeyOf(userId)})`;
}

/** Whether what is shown is right; then it is used up. */
export async function takeFactor(
  tx: TxContext,
  userId: number,
  { code, recovery_code }: Shown,
): Promise<boolean> {
  // A secret that was made and never enabled may be known to whoever was signed in then.
  if (code !== undefined) return (await hasTotp(tx, userId)) && takeCode(tx, userId, code);
  return recovery_code !== undefined && takeRecoveryCode(tx, userId, recovery_code);
}

/** Neither and both are a mistake. */
export function requireOne({ code, recovery_code }: Shown): void {
  if ((code === undefined) !== (recovery_code === undefined)) return;
  const message =
    code === undefined ? 'is missing: send it, or a recovery_code' : 'is one too many beside recovery_code';
  throw fail('invalid_request', { details: [{ field: 'code', message }] });
}
