import { statement, type TxContext } from '../../platform/index.ts';

const forgetSessions = statement('account.forgetSessions', 'delete from sessions');
const forgetLinks = statement('account.forgetLinks', 'delete from account_links');
const forgetChallenges = statement('account.forgetChallenges', 'delete from passkey_challenges');

/**
 * After a restore: a session that somebody ended since the backup, and a link that was used, are there again. Everybody signs
 * in anew.
 */
export async function forgetSignIns(tx: TxContext): Promise<void> {
  await tx.db.run(forgetSessions);
  await tx.db.run(forgetLinks);
  await tx.db.run(forgetChallenges);
}
