import { type ListRequest, listData, pagedList } from '../../platform/http/index.ts';
import { type AccountContext, fail, requireRow, statement } from '../../platform/index.ts';
import type { Method } from './open.ts';

interface SessionRow {
  id: number;
  user_id: number;
  method: Method;
  strong: boolean;
  ip: string | null;
  user_agent: string | null;
  last_seen_at: Date;
  expires_at: Date;
  created_at: Date;
}

const select = `select t.id, t.user_id, t.method, t.strong, host(t.ip) as ip, t.user_agent, t.last_seen_at, t.expires_at,
    t.created_at from sessions t`;
const living = 'not t.half and t.expires_at > :now::timestamptz and t.last_seen_at > :idleSince::timestamptz';

const sessions = pagedList<SessionRow>({
  name: 'account.sessions',
  from: 'sessions t',
  select,
  within: `t.user_id = :userId and ${living}`,
  key: { by: 't.id', type: 'bigint', of: (row) => row.id },
  sorts: {
    created_at: { by: 't.created_at', type: 'timestamptz', of: (row) => row.created_at.toISOString() },
  },
  order: '-created_at',
});
const sessionById = statement<SessionRow, { id: number; now: Date; idleSince: Date }>(
  'account.session',
  `${select} where t.id = :id and ${living}`,
);

/** What says which sessions go on. */
export function lifeOf(ctx: AccountContext) {
  const now = ctx.clock.now();
  return { now, idleSince: new Date(now.getTime() - ctx.config.sessions.idleHours * 3_600_000) };
}

/** Where the caller is signed in. `current` is the session that asks; null for a key. */
export async function listSessions(ctx: AccountContext, query: ListRequest, current: unknown) {
  const { now, idleSince } = lifeOf(ctx);
  const { rows, at } = await sessions(ctx, query, {
    userId: ctx.actor.userId,
    now: now.toISOString(),
    idleSince: idleSince.toISOString(),
  });
  return listData(
    'sessions',
    rows.map((row) => view(row, current)),
    at,
  );
}

/** One of the caller's sessions; `forbidden` when it is another person's. */
export async function readSession(ctx: AccountContext, id: number, current: unknown) {
  return { session: view(await requireSession(ctx, id), current) };
}

/** The row of a session of the caller's. `not_found`, `forbidden`. */
export async function requireSession(ctx: AccountContext, id: number): Promise<SessionRow> {
  const row = await requireRow(ctx, sessionById, { id, ...lifeOf(ctx) });
  if (row.user_id !== ctx.actor.userId) throw fail('forbidden');
  return row;
}

function view(row: SessionRow, current: unknown) {
  return {
    id: row.id,
    current: row.id === current,
    method: row.method,
    second_factor: row.strong,
    ip: row.ip,
    user_agent: row.user_agent,
    last_seen_at: row.last_seen_at,
    expires_at: row.expires_at,
    created_at: row.created_at,
  };
}
