import type pg from 'pg';

/** How far ahead the journal's numbers go on: farther than anybody had got before it was restored. */
const ahead = 1_000_000_000;

/**
 * Writes down that a database came back as it was at `madeAt`. What this means for jobs, money and numbers of invoices follows from
 * the row. The journal's numbers go on far ahead: who had read entries that are gone must not take new ones for those.
 */
export async function writeRestore(client: pg.Client, madeAt: Date, restoredAt: Date): Promise<void> {
  const { rows } = await client.query<{ first: string }>(
    `select setval(pg_get_serial_sequence('journal', 'id'), nextval(pg_get_serial_sequence('journal', 'id')) + $1)::text as first`,
    [ahead],
  );
  await client.query(
    'insert into restores (made_at, restored_at, journal_from) values ($1, $2, $3::bigint)',
    [madeAt, restoredAt, rows[0]?.first],
  );
  await forgetCluster(client);
}

/** Where it is now is where it belongs, and how long it lay somewhere else says nothing of the clock. */
export async function forgetCluster(client: pg.Client): Promise<void> {
  await client.query(
    'update installation set cluster_id = null, timeline = null, recovery_seen_at = null, clock_at = null',
  );
}
