import { statement, type TxContext } from '../../platform/index.ts';

/** What a mail server says later of a mail that it or another took (RFC 3464), as read from the mail that brings it. */
export interface DeliveryReport {
  /** Of the mail that it is about: `<4503599627370614.1.invoice.created@inn.example>`. */
  messageId: string;
  recipient: string;
  action: 'failed' | 'delayed' | 'delivered' | 'relayed' | 'expanded';
  /** RFC 3463: `5.1.1`. */
  status: string;
  /** In the words of that server. */
  diagnostic: string;
}

const markAddress = statement<never, { address: string; mailId: number; reason: string; now: Date }>(
  'events.markAddress',
  `insert into bounced_addresses (address, mail_id, reason, bounced_at) values (lower(:address), :mailId, :reason, :now)
   on conflict (address) do update set mail_id = excluded.mail_id, reason = excluded.reason,
     bounced_at = excluded.bounced_at`,
);
const bouncedAt = statement<{ bounced_at: Date }, { address: string }>(
  'events.bouncedAt',
  'select bounced_at from bounced_addresses where address = lower(:address)',
);
// When it was sent stays: whoever was warned by it was, as far as we could.
const bounceMail = statement<
  { id: number },
  { id: number; recipient: string; sendings: number; error: string }
>(
  'events.bounceMail',
  `update mails set state = 'failed', error = :error
   where id = :id and lower(recipient) = lower(:recipient) and sendings = :sendings and state in ('sent', 'failed')
   returning id`,
);

/**
 * Takes a report that came back by mail. A mail that failed for good is written down as failed, which staff has in its list of what needs a
 * person, and its address is marked. Anybody can write such a report, so it counts only with the number of a mail of ours,
 * which nobody guesses, and the address that it went to. `unknown`: it is about no such mail.
 */
export async function takeDeliveryReport(
  tx: TxContext,
  { messageId, recipient, action, status, diagnostic }: DeliveryReport,
): Promise<'marked' | 'noted' | 'unknown'> {
  const [, id, sendings] = /^<?(\d{1,16})\.(\d{1,6})\./.exec(messageId) ?? [];
  if (id === undefined) return 'unknown';
  if (action !== 'failed' || !status.startsWith('5.')) return 'noted';
  const error = `${status} ${diagnostic}`.slice(0, 500);
  const mail = { id: Number(id), sendings: Number(sendings), recipient, error };
  const found = await tx.db.maybe(bounceMail, mail);
  if (found === null) return 'unknown';
  await bounce(tx, recipient, found.id, error);
  return 'marked';
}

/** Marks an address that no mail reaches: what its reader need not have is written to it no more. */
export async function bounce(tx: TxContext, address: string, mailId: number, reason: string): Promise<void> {
  await tx.db.run(markAddress, { address, mailId, reason, now: tx.clock.now() });
}

/** Whether no mail reaches an address, as far as is known. */
export async function hasBounced(tx: TxContext, address: string): Promise<boolean> {
  return (await tx.db.maybe(bouncedAt, { address })) !== null;
}
