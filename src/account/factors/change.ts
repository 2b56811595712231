import { type Event, record } from '../../events/index.ts';
import { answer, forgetPrincipals } from '../../platform/http/index.ts';
import { type AccountContext, fail, requireRow, type TxContext, transaction } from '../../platform/index.ts';
import {
  recoveryCodesMade,
  secondFactorDisabled,
  secondFactorEnabled,
  secondFactorSetUp,
} from '../events.ts';
import { renewSession } from '../sessions/renew.ts';
import { personById } from '../signIn/person.ts';
import { noteRefusal } from '../signIn/refusals.ts';
import { lockUser } from '../users.ts';
import { factorsOf, requireOne, type Shown, takeFactor } from './factor.ts';
import { gainFactor, loseFactor } from './gained.ts';
import { newRecoveryCodes } from './recoveryCodes.ts';
import { enableTotp, hasTotp, isSetUp, newSecret, removeTotp, takeCode } from './totp.ts';

/** Makes a secret for an authenticator app, in the place of one that was never enabled. `second_factor_enabled`. */
export function setUpTotp(ctx: AccountContext) {
  return ofPerson(ctx, 'account.setUpTotp', async (tx, userId) => {
    const { email } = await requireRow(tx, personById, { id: userId });
    const made = await newSecret(tx, userId, email);
    if (made === null) throw fail('second_factor_enabled');
    await tell(tx, secondFactorSetUp);
    return made;
  });
}

/**
 * Lets codes count from now on, once one of them was shown. The session that asks has shown a second factor by that, so it
 * goes on under a new token. `invalid_code`, `second_factor_enabled`, `second_factor_missing`.
 */
export async function enableSecondFactor(
  ctx: AccountContext,
  sessionId: number,
  code: string,
  userAgent: string | null,
) {
  const done = await ofPerson(ctx, 'account.enableTotp', async (tx, userId) => {
    if (await hasTotp(tx, userId)) throw fail('second_factor_enabled');
    if (!(await isSetUp(tx, userId))) throw fail('second_factor_missing');
    if (!(await takeCode(tx, userId, code))) return null;
    const recovery_codes = (await gainFactor(tx, userId, sessionId)) ?? (await newRecoveryCodes(tx, userId));
    await enableTotp(tx, userId);
    await tell(tx, secondFactorEnabled);
    return answer({ recovery_codes }, await renewSession(tx, sessionId, { strong: true }));
  });
  return done ?? refuse(ctx, userAgent);
}

/** Ends it, with a code of it or a recovery code. `invalid_code`, `second_factor_missing`. */
export async function disableSecondFactor(ctx: AccountContext, shown: Shown, userAgent: string | null) {
  requireOne(shown);
  const done = await ofPerson(ctx, 'account.disableTotp', async (tx, userId) => {
    if (!(await hasTotp(tx, userId))) throw fail('second_factor_missing');
    if (!(await takeFactor(tx, userId, shown))) return null;
    await removeTotp(tx, userId);
    await loseFactor(tx, userId);
    await tell(tx, secondFactorDisabled);
    return { disabled: true };
  });
  return done ?? refuse(ctx, userAgent);
}

/** Ten new recovery codes; the old ones are good no more. `second_factor_missing`. */
export function renewRecoveryCodes(ctx: AccountContext) {
  return ofPerson(ctx, 'account.renewRecoveryCodes', async (tx, userId) => {
    if ((await factorsOf(tx, userId)).length === 0) throw fail('second_factor_missing');
    const recovery_codes = await newRecoveryCodes(tx, userId);
    await tell(tx, recoveryCodesMade);
    return { recovery_codes };
  });
}

/** One change of a person's factors at a time. */
function ofPerson<T>(
  ctx: AccountContext,
  name: string,
  work: (tx: AccountContext & TxContext, userId: number) => Promise<T>,
): Promise<T> {
  return transaction(ctx, name, async (tx) => {
    const { userId } = ctx.actor;
    await lockUser(tx, userId);
    return work(tx, userId);
  });
}

function refuse(ctx: AccountContext, userAgent: string | null): never {
  noteRefusal(ctx, ctx.actor.userId, 'wrong_code', userAgent);
  throw fail('invalid_code');
}

async function tell(tx: AccountContext & TxContext, event: Event<{ user_id: number }>): Promise<void> {
  const { userId } = tx.actor;
  await record(tx, event, {
    subject: { type: 'user', id: userId },
    organizationId: null,
    data: { user_id: userId },
  });
  tx.db.afterCommit(forgetPrincipals);
}
