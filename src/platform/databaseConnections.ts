import type { Concern, ConcernSource } from './attention.ts';
import { keepAlone } from './database/alone.ts';
import { type Queryable, statement } from './database/index.ts';
import type { Logger } from './log.ts';

/** First key of the shared advisory locks by which processes show how many connections they open at most; the second is how many. */
const connectionsClass = 741_122;

// PostgreSQL 15 has no `reserved_connections`. A limit of -1 is none.
const room = `
  select least(
    current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
      - coalesce(nullif(current_setting('reserved_connections', true), '')::int, 0),
    nullif(d.datconnlimit, -1), nullif(r.rolconnlimit, -1)) as connections
  from pg_database d, pg_roles r where d.datname = current_database() and r.rolname = current_user`;
const pledges = `
  select l.pid, l.objid::bigint as most from pg_locks l
  where l.locktype = 'advisory' and l.classid = ${connectionsClass}::int::oid and l.objsubid = 2 and l.granted
    and l.database = (select oid from pg_database where datname = current_database())`;

const sums = statement<Connections>(
  'database.connections',
  `select (select count(*)::int from (${pledges}) p) as processes,
     (select coalesce(sum(most), 0)::int from (${pledges}) p) as together, (${room}) as room`,
);

/** What the processes of the product open at most, all together, and what PostgreSQL has for them. */
export interface Connections {
  processes: number;
  together: number;
  room: number;
}

/** Shows the other processes how many connections this one opens at most, for as long as it lives. Returns how to stop. */
export function pledgeConnections(url: string, most: number, log: Logger): Promise<() => Promise<void>> {
  const pledge = 'select pg_advisory_lock_shared($1, $2)';
  return keepAlone(url, 'process', (client) => client.query(pledge, [connectionsClass, most]), log);
}

export function readConnections(db: Queryable): Promise<Connections> {
  return db.one(sums);
}

const advice =
  'raise max_connections of PostgreSQL (or the limit of its role or database), or lower DATABASE_POOL_SIZE';

/** What is wrong with them; null when they fit. */
export function tooMany({ processes, together, room: fit }: Connections): string | null {
  if (together <= fit) return null;
  return `${processes} processes open ${together} connections to the database at most, and it has ${fit} for them: ${advice}`;
}

/** More connections than PostgreSQL has: one day requests are refused, or a worker that was restarted finds none. */
export const connectionConcerns: ConcernSource[] = [
  {
    kind: 'database.connections',
    subject: 'database',
    title: 'The database has too few connections for all processes',
    find: statement<Concern, { limit: number; now: Date }>(
      'database.connectionConcerns',
      `with fit as (${room}), pledged as (${pledges})
       select 2::bigint as id, null::bigint as organization_id, coalesce(max(a.backend_start), :now) as since,
         count(*) || ' processes open ' || sum(most) || ' connections to the database at most, and it has ' ||
         (select connections from fit) || ' for them: ${advice}' as message
       from pledged left join pg_stat_activity a using (pid) having sum(most) > (select connections from fit) limit :limit`,
    ),
  },
];
