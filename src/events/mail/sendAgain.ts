import type { Mail } from '../../drivers/mail/index.ts';
import { fail, type StaffContext, statement, transaction } from '../../platform/index.ts';
import { mailSentAgain } from '../events.ts';
import { record } from '../journal.ts';
import { readMail } from './list.ts';
import { enqueueSending } from './send.ts';

const lockMail = statement<
  {
    journal_id: number;
    organization_id: number | null;
    state: string;
    recipient: string;
    has_link: boolean;
  },
  { id: number }
>(
  'events.lockMail',
  'select journal_id, organization_id, state, recipient, link is not null as has_link from mails where id = :id for update',
);
const queueAgain = statement<never, { id: number }>(
  'events.queueAgain',
  `update mails set state = 'queued', error = null, answer = null, sendings = sendings + 1 where id = :id`,
);
const trustAddress = statement<never, { address: string }>(
  'events.trustAddress',
  'delete from bounced_addresses where address = lower(:address)',
);

/**
 * Sends a mail once more as it was written, to the address it was for, which counts as good again until it bounces. `not_found`,
 * `mail_under_way`, `mail_server_missing`.
 */
export function sendAgain(ctx: StaffContext, mail: Mail, id: number) {
  if (!mail.capabilities.includes('delivery')) throw fail('mail_server_missing');
  return transaction(ctx, 'events.sendAgain', async (tx) => {
    const found = await tx.db.maybe(lockMail, { id });
    if (found === null) throw fail('not_found');
    if (found.state === 'queued') throw fail('mail_under_way');
    await tx.db.run(queueAgain, { id });
    await tx.db.run(trustAddress, { address: found.recipient });
    const { journal_id: journalId, organization_id: organizationId, has_link: isAwaited } = found;
    await enqueueSending(tx, { journalId, mailId: id, isAwaited, organizationId });
    const again = await readMail(tx, id);
    const { event, sendings } = again.mail;
    await record(tx, mailSentAgain, {
      subject: { type: 'mail', id },
      organizationId,
      data: { event, sendings },
    });
    return again;
  });
}
