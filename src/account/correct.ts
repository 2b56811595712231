import { record } from '../events/index.ts';
import { fail, type StaffContext, transaction } from '../platform/index.ts';
import { lockCustomer, organizationOf } from './block.ts';
import { type Facts, writeFacts } from './change.ts';
import { accountCorrected } from './events.ts';
import { readUser } from './userStaff.ts';

/**
 * Changes what a customer's account says of them; what is absent stays, and null clears. `not_found`,
 * `staff_account`, `conflict` for one that was closed.
 */
export function correctUser(ctx: StaffContext, id: number, change: Partial<Facts>) {
  return transaction(ctx, 'account.correct', async (tx) => {
    const { status } = await lockCustomer(tx, id);
    if (status === 'closed') throw fail('conflict', { message: 'This account was closed by its person' });
    const fields = await writeFacts(tx, id, change);
    if (fields.length > 0)
      await record(tx, accountCorrected, {
        subject: { type: 'user', id },
        organizationId: await organizationOf(tx, id),
        data: { user_id: id, fields },
      });
    return readUser(tx, id);
  });
}
