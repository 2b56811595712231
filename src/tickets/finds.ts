import { type FindSource, type Found, firstOf, type StaffFindSource } from '../platform/http/index.ts';
import { statement } from '../platform/index.ts';
import { listTickets } from './list.ts';
import { listQueue } from './staff/queue.ts';

interface Row {
  tid: string;
  subject: string;
  status: string;
}

const byTid = statement<Row, { tid: string; organizationId: number | null }>(
  'tickets.byShortCode',
  `select tid, subject, status from tickets where tid = :tid
     and (:organizationId::bigint is null or organization_id = :organizationId)`,
);

const isTid = (words: string) => /^#?[0-9a-f]{8}$/i.test(words);
const plain = (words: string) => words.replace('#', '').toLowerCase();

/** A customer's tickets by what was written, or by their short code. */
export const ticketFinds = {
  kind: 'ticket',
  permission: 'ticket.read',
  find: async (ctx, words, limit) => {
    const { organizationId } = ctx;
    if (isTid(words)) return (await ctx.db.many(byTid, { tid: plain(words), organizationId })).map(asFound);
    return (await listTickets(ctx, firstOf(words, limit))).tickets.map(asFound);
  },
} as const satisfies FindSource;

/** The same of everybody's. */
export const ticketStaffFinds = {
  kind: 'ticket',
  find: async (ctx, words, limit) => {
    if (isTid(words))
      return (await ctx.db.many(byTid, { tid: plain(words), organizationId: null })).map(asFound);
    return (await listQueue(ctx, firstOf(words, limit))).tickets.map(asFound);
  },
} as const satisfies StaffFindSource;

function asFound({ tid, subject, status }: Row): Found {
  return { id: tid, title: subject, detail: `#${tid}`, status };
}
