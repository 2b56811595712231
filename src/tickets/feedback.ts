import { hashToken } from '../account/index.ts';
import { linkToken, type MailLink, record } from '../events/index.ts';
import { type Context, fail, statement, type TxContext, transaction } from '../platform/index.ts';
import { ticketRated } from './events.ts';
import type { TicketRow } from './rows.ts';

/** How the mail names its link; the token is nowhere but there. */
export function feedbackLink(ticketId: number): MailLink {
  return { page: '/ticket-feedback', for: `ticket feedback ${ticketId}` };
}

const ask = statement<never, { ticketId: number; organizationId: number; hash: Buffer; now: Date }>(
  'tickets.askFeedback',
  `insert into ticket_feedback (ticket_id, organization_id, hash, asked_at) values (:ticketId, :organizationId, :hash, :now)
   on conflict do nothing`,
);
const rate = statement<
  { ticket_id: number; organization_id: number; tid: string },
  { hash: Buffer; helped: boolean; now: Date }
>(
  'tickets.rate',
  `update ticket_feedback f set helped = :helped, answered_at = :now from tickets t
   where f.hash = :hash and t.id = f.ticket_id and f.helped is distinct from :helped
   returning f.ticket_id, f.organization_id, t.tid`,
);
const known = statement<{ ticket_id: number }, { hash: Buffer }>(
  'tickets.feedbackOfLink',
  'select ticket_id from ticket_feedback where hash = :hash',
);

/** Its customer is asked once, with the mail that says that it is closed. Returns whether this is that time. */
export async function askIfItHelped(
  tx: TxContext,
  { id, organization_id: organizationId }: Pick<TicketRow, 'id' | 'organization_id'>,
): Promise<boolean> {
  const hash = hashToken(linkToken(tx.seal, feedbackLink(id).for));
  const written = await tx.db.run(ask, { ticketId: id, organizationId, hash, now: tx.clock.now() });
  return written === 1;
}

/** Whether it helped, as whoever has the link of the mail says; another click changes one's mind. `invalid_link`. */
export function rateTicket(ctx: Context, { token, helped }: { token: string; helped: boolean }) {
  return transaction(ctx, 'tickets.rate', async (tx) => {
    const hash = hashToken(token);
    const rated = await tx.db.maybe(rate, { hash, helped, now: tx.clock.now() });
    if (rated === null && (await tx.db.maybe(known, { hash })) === null) throw fail('invalid_link');
    if (rated !== null)
      await record(tx, ticketRated, {
        subject: { type: 'ticket', id: rated.ticket_id },
        organizationId: rated.organization_id,
        data: { tid: rated.tid, helped },
      });
    return { helped };
  });
}
