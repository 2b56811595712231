import { randomInt } from 'node:crypto';
import { statement, type TxContext } from '../../platform/index.ts';

/** For who lost the phone: ten codes, each good once. */
const count = 10;
const length = 12;
// None that looks like another one on paper.
const letters = 'abcdefghjkmnpqrstuvwxyz23456789';

const insertCode = statement<never, { userId: number; hash: Buffer; now: Date }>(
  'account.insertRecoveryCode',
  'insert into recovery_codes (user_id, hash, created_at) values (:userId, :hash, :now)',
);
const dropCodes = statement<never, { userId: number }>(
  'account.dropRecoveryCodes',
  'delete from recovery_codes where user_id = :userId',
);
const useCode = statement<never, { userId: number; hash: Buffer }>(
  'account.useRecoveryCode',
  'delete from recovery_codes where user_id = :userId and hash = :hash',
);

/** Makes new ones in the place of those there were. The answer is the one time they can be read: `abcd-efgh-jkmn`. */
export async function newRecoveryCodes(tx: TxContext, userId: number): Promise<string[]> {
  await dropRecoveryCodes(tx, userId);
  const codes = Array.from({ length: count }, newCode);
  const now = tx.clock.now();
  for (const code of codes) await tx.db.run(insertCode, { userId, hash: hashOf(tx, userId, code), now });
  return codes;
}

export async function dropRecoveryCodes(tx: TxContext, userId: number): Promise<void> {
  await tx.db.run(dropCodes, { userId });
}

/** Whether this is one of a person's; then it is used up. Written with hyphens and blanks or without. */
export async function takeRecoveryCode(tx: TxContext, userId: number, code: string): Promise<boolean> {
  return (await tx.db.run(useCode, { userId, hash: hashOf(tx, userId, code) })) > 0;
}

function newCode(): string {
  const text = Array.from({ length }, () => letters[randomInt(letters.length)]).join('');
  return text.replace(/(.{4})(?=.)/g, '$1-');
}

/** Twelve letters of 31 are 59 bits: keyed, so that who has the database alone cannot try them out. */
function hashOf(tx: TxContext, userId: number, code: string): Buffer {
  return tx.seal.fingerprint(`recovery ${userId} ${code.toLowerCase().replace(/[\s-]/g, '')}`);
}
