import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Load } from '../load.ts';
import { until } from '../product.ts';
import type { PatroniBed, PatroniNode } from './bed.ts';

/** What a primary that dies costs: how long nothing can be written, and nothing ordered. */
export interface Loss {
  primary: PatroniNode;
  standby: PatroniNode;
  bareMs: number;
  checkoutMs: number;
}

/** Takes the primary's power away while customers order, until they can again. */
export async function losePrimary(bed: PatroniBed, load: Load): Promise<Loss> {
  const { primary, standby } = await bed.settled();
  await primary.kill();
  const killedAtMs = Date.now();
  const bareMs = (await firstWrite(bed.url)) - killedAtMs;
  // What was answered when it died may be heard of a little later.
  const firstAtMs = () => load.orderedAtMs.find((at) => at > killedAtMs + bareMs / 2);
  const atMs = await until(
    async () => firstAtMs() ?? null,
    (found) => found !== null,
    60_000,
  );
  return { primary, standby, bareMs, checkoutMs: (atMs ?? 0) - killedAtMs };
}

/** The moment at which a client that only writes a row, again and again, has had it committed. */
async function firstWrite(url: string): Promise<number> {
  for (;;) {
    const client = new pg.Client({
      connectionString: url,
      connectionTimeoutMillis: 5_000,
      query_timeout: 5_000,
    });
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.query('create table if not exists bare_writes (at timestamptz)');
      await client.query('insert into bare_writes values (now())');
      return Date.now();
    } catch {
      await sleep(100);
    } finally {
      await client.end().catch(() => undefined);
    }
  }
}
