import type pg from 'pg';
import { livenessClass } from '../platform/index.ts';
import { BackupError } from './failure.ts';
import { withSession } from './session.ts';
import { forgetCluster, writeRestore } from './writeRestore.ts';

/**
 * Says of the database at `url` that it came back as it was at `asOf` by other means than a restore of ours, so that the same follows
 * from it; `asOf` null says that nothing is missing. Refuses the first beside a worker that goes on as if nothing had happened.
 */
export async function noteRecovery(url: string, asOf: Date | null, now: Date): Promise<void> {
  await withSession(url, 'public', async (client) => {
    await client.query('begin');
    if (asOf === null) await forgetCluster(client);
    else {
      await requireNobodyWorks(client);
      await writeRestore(client, asOf, (await seenAt(client)) ?? now);
    }
    await client.query('commit');
  });
}

/** When the product has noticed; what customers have asked for since then is theirs, and is not held. */
async function seenAt(client: pg.Client): Promise<Date | null> {
  const { rows } = await client.query<{ seen_at: Date | null }>(
    'select recovery_seen_at as seen_at from installation',
  );
  return rows[0]?.seen_at ?? null;
}

/** Workers that have noticed it themselves wait for us. */
async function requireNobodyWorks(client: pg.Client): Promise<void> {
  const { rows } = await client.query(
    `select from pg_locks where locktype = 'advisory' and classid = $1 and objsubid = 2 and granted
       and database = (select oid from pg_database where datname = current_database())
       and not exists (select from installation where recovery_seen_at is not null)`,
    [livenessClass],
  );
  if (rows.length === 0) return;
  throw new BackupError('A worker runs on this database. Stop the product, say this again, and start it.');
}
