import { statement, type TxContext } from '../../platform/index.ts';

const forgetSessions = statement('account.forgetSessions', 'delete from sessions');
const forgetLinks = statement('account.forgetLinks', 'delete from account_links');
const forgetResets = statement('account.forgetFactorResets', 'delete from factor_resets');
// Whoever asked for it may have been a thief, whom its owner stopped since.
const forgetAddresses = statement(
  'account.forgetAskedChanges',
  `update email_changes set state = 'replaced' where state = 'asked'`,
);
const forgetChallenges = statement('account.forgetChallenges', 'delete from passkey_challenges');

/**
 * After a restore: a session that somebody ended since the backup, a link that was used, and a reset of factors or a change of
 * address that was stopped are there again. Everybody signs in anew.
 */
export async function forgetSignIns(tx: TxContext): Promise<void> {
  await tx.db.run(forgetSessions);
  await tx.db.run(forgetLinks);
  await tx.db.run(forgetAddresses);
  await tx.db.run(forgetChallenges);
  await tx.db.run(forgetResets);
}
