import {
  type Context,
  type StaffContext,
  statement,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { nameOf } from '../read.ts';
import { lockTicket } from '../rows.ts';

/** Whose page has not said so for this long writes no more. */
const quietMs = 60_000;

const note = statement<never, { ticketId: number; userId: number; now: Date; quiet: Date }>(
  'tickets.noteWriting',
  `insert into ticket_writers (ticket_id, user_id, since, seen_at) values (:ticketId, :userId, :now, :now)
   on conflict (ticket_id, user_id) do update set seen_at = excluded.seen_at,
     since = case when ticket_writers.seen_at < :quiet then excluded.since else ticket_writers.since end`,
);
const forget = statement<never, { ticketId: number; userId: number; quiet: Date }>(
  'tickets.forgetWriting',
  'delete from ticket_writers where ticket_id = :ticketId and (user_id = :userId or seen_at < :quiet)',
);
const writers = statement<
  { id: number; first_name: string; last_name: string; since: Date },
  { ticketId: number; userId: number | null; quiet: Date }
>(
  'tickets.writers',
  `select w.user_id as id, u.first_name, u.last_name, w.since from ticket_writers w join users u on u.id = w.user_id
   where w.ticket_id = :ticketId and w.user_id is distinct from :userId and w.seen_at >= :quiet order by w.since, w.user_id`,
);

/** Says that the caller writes a reply, or does so no more, and tells who else does. Pages say it every half a minute. */
export function sayWriting(ctx: StaffContext, tid: string, { writing }: { writing: boolean }) {
  return transaction(ctx, 'tickets.sayWriting', async (tx) => {
    const { id: ticketId } = await lockTicket(tx, tid);
    const now = tx.clock.now();
    if (writing) await tx.db.run(note, { ticketId, userId: tx.actor.userId, now, quiet: quietAt(tx) });
    else await stopWriting(tx, ticketId);
    return { writing: await writersOf(tx, ticketId) };
  });
}

export async function stopWriting(tx: StaffContext & TxContext, ticketId: number): Promise<void> {
  await tx.db.run(forget, { ticketId, userId: tx.actor.userId, quiet: quietAt(tx) });
}

/** Who else of staff has a reply under way. */
export async function writersOf(ctx: Context, ticketId: number) {
  const rows = await ctx.db.many(writers, { ticketId, userId: ctx.actor.userId, quiet: quietAt(ctx) });
  return rows.map(({ id, since, ...name }) => ({ id, name: nameOf(name), since }));
}

function quietAt({ clock }: Context): Date {
  return new Date(clock.now().getTime() - quietMs);
}
