import type pg from 'pg';
import { connectAlone, endAlone } from './alone.ts';

/** A pooler gives each transaction whichever connection is free; the message says what to do. */
export class SharedSessions extends Error {}

const rounds = 3;
/** Of an answer that never comes: the only connection of a pooler may be with somebody else. */
const patienceMs = 10_000;

/**
 * Refuses a database that is reached through a pooler which breaks sessions: {@link SharedSessions}. Statements are prepared once a
 * session, and locks of a session say which worker lives: there the one are missing, and the others held by nobody. Two connections
 * that are open at once have a session each, and the same one each time; a pooler that shares them shows it in one or the other.
 */
export async function requireOwnSessions(url: string): Promise<void> {
  const clients: pg.Client[] = [];
  try {
    for (const name of ['session a', 'session b'])
      clients.push(await connectAlone(url, name, async () => undefined, { waitMs: patienceMs }));
    const [one, other] = clients as [pg.Client, pg.Client];
    const mine = await sessionOf(one);
    const theirs = await sessionOf(other);
    for (let round = 1; round <= rounds; round += 1) {
      // Twice: who goes around its connections gives the second question another one than the first.
      const seen = [await sessionOf(one), await sessionOf(one), await sessionOf(other)];
      if (mine === theirs || seen[0] !== mine || seen[1] !== mine || seen[2] !== theirs) throw shared(url);
    }
  } finally {
    for (const client of clients) await endAlone(client);
  }
}

async function sessionOf(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
  return rows[0]?.pid ?? 0;
}

function shared(url: string): SharedSessions {
  const at = new URL(url.replace('@/', '@localhost/')).host;
  return new SharedSessions(
    `Between this process and PostgreSQL stands a pooler (${at}) that gives a connection to somebody else after each transaction: ` +
      'prepared statements and the locks by which workers show that they live do not survive that. Either have it keep ' +
      'a connection for whoever holds it (of PgBouncer: pool_mode = session), or have DATABASE_URL, and ' +
      'DATABASE_OWNER_URL and DATABASE_RETENTION_URL where they are set, lead past it to PostgreSQL itself, for workers before all.',
  );
}
