import { statement, type TxContext } from '../../platform/index.ts';

// The last one is written after the account is closed. Who has the address by now keeps their own.
const forget = statement<never, { address: string; userId: number; before: Date; limit: number }>(
  'events.forgetMails',
  `update mails set recipient = '', subject = '', body = '', blocks = null, link = null, error = null, answer = null,
     state = case when state in ('queued', 'failed') then 'kept' else state end
   where id in (select id from mails
     where recipient <> '' and (user_id = :userId or (user_id is null and recipient = :address))
     and (created_at <= :before or template = 'account.closed') limit :limit)`,
);

const forgetBounce = statement<never, { address: string }>(
  'events.forgetBounce',
  'delete from bounced_addresses where address = lower(:address)',
);

// One mail a template, entry and recipient: of those that went to nobody any more each keeps a number of its own.
const forgetOfOrganization = statement<never, { organizationId: number; limit: number }>(
  'events.forgetMailsOf',
  `update mails set recipient = id || '@closed.invalid', subject = '', body = '', blocks = null, link = null, error = null,
     answer = null, state = case when state in ('queued', 'failed') then 'kept' else state end
   where id in (select id from mails where organization_id = :organizationId and user_id is null
     and recipient <> '' and recipient <> id || '@closed.invalid' limit :limit)`,
);

const batch = 1_000;

/**
 * Takes address and text from the mails that went to somebody, and of older ones to their address, until the account was
 * closed, a batch at a time.
 */
export async function forgetMailsTo(
  tx: TxContext,
  { address, userId, before }: { address: string; userId: number; before: Date },
): Promise<'more' | 'done'> {
  await tx.db.run(forgetBounce, { address });
  return (await tx.db.run(forget, { address, userId, before, limit: batch })) >= batch ? 'more' : 'done';
}

/** The same of those that an organization got at addresses of its own, such as that of its billing profile. */
export async function forgetMailsOf(tx: TxContext, organizationId: number): Promise<'more' | 'done'> {
  return (await tx.db.run(forgetOfOrganization, { organizationId, limit: batch })) >= batch ? 'more' : 'done';
}
