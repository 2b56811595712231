import pg from 'pg';

/**
 * Runs `work` on a connection of its own, on which rows are written the same whatever the server's settings are.
 * `schema` is where names are looked up.
 */
export async function withSession<T>(
  url: string,
  schema: string,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 10_000,
    application_name: 'innkeeper backup',
  });
  client.on('error', () => undefined); // whatever runs on it fails and tells
  await client.connect();
  try {
    await client.query(
      `set search_path = ${pg.escapeIdentifier(schema)}; set datestyle = 'ISO'; set intervalstyle = 'postgres';
       set timezone = 'UTC'; set extra_float_digits = 1; set bytea_output = 'hex'; set xmloption = 'content';
       set idle_in_transaction_session_timeout = 0; set statement_timeout = 0; set lock_timeout = 0;
       set synchronize_seqscans = off`,
    );
    return await work(client);
  } finally {
    await client.end();
  }
}
