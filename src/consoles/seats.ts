import { type Context, statement } from '../platform/index.ts';
import type { Ticket } from './tickets.ts';

const take = statement<never, { serverId: number; ticket: Buffer; now: Date }>(
  'consoles.takeSeat',
  `insert into console_seats (server_id, ticket, taken_at) values (:serverId, :ticket, :now)
   on conflict (server_id) do update set ticket = excluded.ticket, taken_at = excluded.taken_at`,
);
const holder = statement<{ ticket: Buffer }, { serverId: number }>(
  'consoles.seat',
  'select ticket from console_seats where server_id = :serverId',
);
const leave = statement<never, { serverId: number; ticket: Buffer }>(
  'consoles.leaveSeat',
  'delete from console_seats where server_id = :serverId and ticket = :ticket',
);

/** The one seat before the serial line of a server, by all processes: whoever came last has it. */
export interface Seat {
  take(): Promise<void>;
  /** Somebody else has taken it. */
  isTaken(): Promise<boolean>;
  /** Leaves it to nobody, unless somebody else has it. */
  leave(): Promise<void>;
}

export function seatAt(ctx: Context, serverId: number, { hash: ticket }: Pick<Ticket, 'hash'>): Seat {
  return {
    take: async () => void (await ctx.db.run(take, { serverId, ticket, now: ctx.clock.now() })),
    isTaken: async () => {
      const now = await ctx.db.maybe(holder, { serverId });
      return now !== null && !now.ticket.equals(ticket);
    },
    leave: async () => void (await ctx.db.run(leave, { serverId, ticket })),
  };
}
