import { type Context, statement } from '../../platform/index.ts';

/** So long is looked for a start of the rescue system that somebody has claimed; longer its installer prints no nonce that anybody waits for. */
const lookForMs = 20 * 60_000;

/** Starts of the rescue system that were claimed until then are looked for no more. */
export function provingSince({ clock }: Context): Date {
  return new Date(clock.now().getTime() - lookForMs);
}

/**
 * Whether the serial line of the server `s` is the proof's: an installer has been or is about to be started on it, and says on that line what nobody else may
 * read. In the rescue system that is over once its start is proved, or nobody looks for it any more: any machine on the network of servers can claim one. Takes the
 * parameter `provingSince`.
 */
export const isProving = `(exists (select 1 from server_assignments g where g.server_id = s.id and g.ended_at is null
      and (g.state = 'open' or g.kind <> 'rescue'))
    or exists (select 1 from server_starts t join server_assignments g on g.id = t.assignment_id
      where g.server_id = s.id and g.ended_at is null and t.secret_hash is not null and not t.proved
        and coalesce(t.claimed_at, t.opened_at) > :provingSince)
    or exists (select 1 from server_arrivals v where v.server_id = s.id and v.state = 'accepted'))`;

const proving = statement<{ proving: boolean }, { id: number; provingSince: Date }>(
  'fleet.isServerProving',
  `select ${isProving} as proving from servers s where s.id = :id`,
);

/** Whether the serial line of a server is the proof's right now; of one that there is not: no. */
export async function isServerProving(ctx: Context, id: number): Promise<boolean> {
  return (await ctx.db.maybe(proving, { id, provingSince: provingSince(ctx) }))?.proving ?? false;
}
