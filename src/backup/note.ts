import { withSession } from './session.ts';

/**
 * Remembers in the database that there is a backup of it: staff is told while there is none. An older version's database
 * has no place for it, and is backed up all the same.
 */
export async function noteBackup(url: string, now: Date): Promise<void> {
  await withSession(url, 'public', async (client) => {
    const { rows } = await client.query(
      `select from information_schema.columns
       where table_schema = 'public' and table_name = 'installation' and column_name = 'backed_up_at'`,
    );
    if (rows.length > 0) await client.query('update installation set backed_up_at = $1', [now]);
  });
}
