import { connectAlone, endAlone } from './alone.ts';
import { asUnavailable } from './failures.ts';
import { type Reading, valuesOf } from './statement.ts';

/** Long readings under way at a time in one process; each holds a connection of its own. */
const atMost = 2;
let underWay = 0;

/**
 * Begins a reading over a connection of its own, so that a slow reader keeps nobody from the pool. Null while as many are under
 * way as there may be. A reader who takes nothing for a minute is given up: the next batch fails.
 */
export async function openReading(url: string): Promise<Reading | null> {
  if (underWay >= atMost) return null;
  underWay += 1;
  try {
    const client = await connectAlone(url, 'read', (begun) =>
      begun.query(
        `set time zone 'UTC'; set idle_in_transaction_session_timeout = '60s';
         begin isolation level repeatable read read only`,
      ),
    );
    let isOpen = true;
    const giveBack = () => {
      if (!isOpen) return;
      isOpen = false;
      underWay -= 1;
    };
    // Of a reader who takes nothing PostgreSQL ends the session, and nobody would ask for the next batch.
    client.once('end', giveBack);
    return {
      async *batches(statement, params, size) {
        const values = valuesOf(statement, params);
        await client.query(`declare rows no scroll cursor for ${statement.text}`, values);
        for (;;) {
          const { rows } = await client.query<[string]>({
            text: `fetch ${size} from rows`,
            rowMode: 'array',
          });
          if (rows.length > 0) yield rows.map(([row]) => row);
          if (rows.length < size) break;
        }
        await client.query('close rows');
      },
      async end() {
        giveBack();
        await endAlone(client);
      },
    };
  } catch (error) {
    underWay -= 1;
    throw asUnavailable(error);
  }
}
