import { record } from '../../events/index.ts';
import { type AccountContext, fail, newId, statement, type TxContext } from '../../platform/index.ts';
import { emailChangeAsked, emailChangeRefused, emailChangeTold } from '../events.ts';
import { type PersonRow, personByEmail } from '../signIn/person.ts';
import { confirmMs, dropAskedChange, type EmailChange, hashOfLink, heldAddress } from './rows.ts';

const asksADay = 10;

const insertChange = statement<
  never,
  {
    id: number;
    userId: number;
    oldEmail: string;
    newEmail: string;
    state: EmailChange['state'];
    hash: Buffer;
    until: Date;
    now: Date;
  }
>(
  'account.insertEmailChange',
  `insert into email_changes (id, user_id, old_email, new_email, state, hash, until, created_at)
   values (:id, :userId, :oldEmail, :newEmail, :state, :hash, :until, :now)`,
);
const countAsked = statement<{ count: number }, { userId: number; since: Date }>(
  'account.countEmailChanges',
  'select count(*)::int as count from email_changes where user_id = :userId and created_at > :since',
);

/**
 * Somebody wants another address. It is theirs once they follow the link that is sent to it; the latest wish counts. Whether
 * somebody else has the address only the mail to it tells. Wants the person locked. `too_many`.
 */
export async function askForEmail(
  tx: AccountContext & TxContext,
  person: PersonRow,
  email: string,
): Promise<void> {
  const now = tx.clock.now();
  const since = new Date(now.getTime() - confirmMs);
  if ((await tx.db.one(countAsked, { userId: person.id, since })).count >= asksADay)
    throw fail('too_many', {
      message: 'You asked for another address often enough for today; try again tomorrow',
    });
  const other = (await tx.db.maybe(personByEmail, { email }))?.id ?? (await heldAddress(tx, email))?.user_id;
  const state = other === undefined || other === person.id ? 'asked' : 'taken';
  const id = newId();
  await dropAskedChange(tx, person.id);
  await tx.db.run(insertChange, {
    ...{ id, userId: person.id, oldEmail: person.email, newEmail: email, state },
    ...{ hash: hashOfLink(tx, 'confirm', id), until: new Date(now.getTime() + confirmMs), now },
  });
  const entry = {
    subject: { type: 'user', id: person.id },
    organizationId: null,
    data: { user_id: person.id, email_change_id: id },
  };
  await record(tx, state === 'asked' ? emailChangeAsked : emailChangeRefused, entry);
  // The same whatever the new address is, which is not for whoever reads this one to learn.
  await record(tx, emailChangeTold, entry);
}
