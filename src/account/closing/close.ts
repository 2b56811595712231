import { randomBytes } from 'node:crypto';
import { record } from '../../events/index.ts';
import { answer } from '../../platform/http/index.ts';
import {
  type AccountContext,
  type ErrorDetail,
  fail,
  type PersonalRoom,
  requireRow,
  statement,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { accountClosed } from '../events.ts';
import { noSession } from '../sessions/cookies.ts';
import { endSessionsOf } from '../sessions/end.ts';
import { hashPassword } from '../signIn/passwords.ts';
import { lockedPerson } from '../signIn/person.ts';
import { clearAccount } from './forget.ts';

// Addresses that were this account's, confirmed: of what else somebody names, they cannot have the mails forgotten.
const addressesToForget = statement<{ address: string }, { userId: number }>(
  'account.addressesToForget',
  `select old_email as address from email_changes where user_id = :userId and state = 'confirmed'
   union select new_email from email_changes where user_id = :userId and state = 'confirmed'`,
);

/** Which organizations end with an account, locked; and whose owner would be missing. They stand upstairs. */
export type EndingOrganizations = (
  tx: TxContext,
  userId: number,
) => Promise<{ organizationIds: number[]; obstacles: ErrorDetail[] }>;

/**
 * Closes the caller's account for good, with the organizations that nobody else is in: nobody signs in to it any more, its
 * address can register anew, and what is kept leads to nobody. `account_in_use` names what stands in the way,
 * `staff_account`.
 */
export async function closeAccount(
  ctx: AccountContext,
  { give_up_credit: givesUpCredit = false }: { give_up_credit?: boolean | undefined },
  rooms: readonly PersonalRoom[],
  endingOrganizations: EndingOrganizations,
) {
  // Nobody knows it.
  const passwordHash = await hashPassword(randomBytes(32).toString('base64url'));
  return transaction(ctx, 'account.close', async (tx) => {
    const { userId } = tx.actor;
    const person = await requireRow(tx, lockedPerson, { id: userId });
    if (person.status !== 'active') throw fail('unauthorized');
    if (person.staff_role !== null) throw fail('staff_account');
    const { organizationIds, obstacles } = await endingOrganizations(tx, userId);
    const closing = { userId, organizationIds, givesUpCredit };
    for (const room of rooms) obstacles.push(...((await room.obstacles?.(tx, closing)) ?? []));
    if (obstacles.length > 0) throw fail('account_in_use', { details: obstacles });
    const addresses = (await tx.db.many(addressesToForget, { userId })).map(({ address }) => address);
    for (const room of rooms) await room.forget?.(tx, closing);
    const email_change_id = await clearAccount(tx, person, addresses, passwordHash);
    await endSessionsOf(tx, userId, null);
    await record(tx, accountClosed, {
      subject: { type: 'user', id: userId },
      organizationId: null,
      data: { user_id: userId, email_change_id, organization_ids: organizationIds },
    });
    return answer({ closed: true, organization_ids: organizationIds, kept: keptBy(rooms) }, noSession);
  });
}

/** Why what is kept is kept, each reason once, with the tables that it is about. */
function keptBy(rooms: readonly PersonalRoom[]): { tables: string[]; why: string }[] {
  const reasons = new Map<string, string[]>();
  for (const { table, closing, hidden } of rooms.flatMap((room) => room.tables)) {
    if (typeof closing === 'string' || hidden !== undefined) continue;
    reasons.set(closing.kept, [...(reasons.get(closing.kept) ?? []), table]);
  }
  return [...reasons].map(([why, tables]) => ({ why, tables }));
}
