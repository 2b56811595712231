import { type Event, record } from '../../events/index.ts';
import { forgetPrincipals } from '../../platform/http/index.ts';
import { type AccountContext, statement, type TxContext, transaction } from '../../platform/index.ts';
import { passkeyRemoved, passkeyRenamed } from '../events.ts';
import { loseFactor } from '../factors/gained.ts';
import { lockUser } from '../users.ts';
import { readPasskey, requirePasskey } from './list.ts';

const rename = statement<never, { id: number; name: string }>(
  'account.renamePasskey',
  'update passkeys set name = :name where id = :id',
);
const remove = statement<never, { id: number }>(
  'account.removePasskey',
  'delete from passkeys where id = :id',
);

/** Gives a passkey of the caller's another name. `not_found`, `forbidden`. */
export function renamePasskey(ctx: AccountContext, id: number, name: string) {
  return ofPerson(ctx, 'account.renamePasskey', id, async (tx) => {
    await tx.db.run(rename, { id, name });
    await tell(tx, passkeyRenamed, id, name);
    return readPasskey(tx, id);
  });
}

/** Removes a passkey of the caller's; with the last factor go the recovery codes. `not_found`, `forbidden`. */
export function removePasskey(ctx: AccountContext, id: number) {
  return ofPerson(ctx, 'account.removePasskey', id, async (tx, name) => {
    await tx.db.run(remove, { id });
    await loseFactor(tx, tx.actor.userId);
    await tell(tx, passkeyRemoved, id, name);
    return { removed: true };
  });
}

/** One change of a person's factors at a time. */
function ofPerson<T>(
  ctx: AccountContext,
  action: string,
  id: number,
  work: (tx: AccountContext & TxContext, name: string) => Promise<T>,
): Promise<T> {
  return transaction(ctx, action, async (tx) => {
    await lockUser(tx, ctx.actor.userId);
    const { name } = await requirePasskey(tx, id);
    return work(tx, name);
  });
}

async function tell(
  tx: AccountContext & TxContext,
  event: Event<{ user_id: number; passkey_id: number; name: string }>,
  passkey_id: number,
  name: string,
): Promise<void> {
  const { userId } = tx.actor;
  await record(tx, event, {
    subject: { type: 'user', id: userId },
    organizationId: null,
    data: { user_id: userId, passkey_id, name },
  });
  tx.db.afterCommit(forgetPrincipals);
}
