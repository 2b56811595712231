import { setTimeout as sleep } from 'node:timers/promises';
import type { TestProduct } from '../product.ts';
import { sql } from '../sql.ts';

const stillForMs = 600;
const withinMs = 15_000;

/**
 * Sets the clock on, once what servers have said and were told is written down: what is written afterwards is of the later time, and their silence would
 * be counted from then.
 */
export async function later(
  product: Pick<TestProduct, 'clock' | 'databaseUrl'>,
  minutes: number,
): Promise<void> {
  const written = async () =>
    JSON.stringify(
      await sql(
        product,
        'select id, state, powered_at, heard_at, step, bytes from server_assignments order by id',
      ),
    );
  const end = Date.now() + withinMs;
  for (let before = await written(); Date.now() < end; ) {
    await sleep(stillForMs);
    const now = await written();
    if (now === before) break;
    before = now;
  }
  product.clock.travel(minutes * 60_000);
}
