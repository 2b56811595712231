import { connectAlone, endAlone } from './alone.ts';
import { asUnavailable } from './failures.ts';
import { type Reading, valuesOf } from './statement.ts';

/** Long readings under way at a time in one process; each holds a connection of its own. */
const atMost = 2;
let underWay = 0;

/**
 * Begins a reading over a connection of its own, so that a slow reader keeps nobody from the pool. `others` while as many are
 * under way as there may be, and `own` while one for this id is, in whichever process. A reader who takes nothing for a minute
 * is given up: the next batch fails.
 */
export async function openReading(url: string, id: number): Promise<Reading | 'others' | 'own'> {
  if (underWay >= atMost) return 'others';
  underWay += 1;
  try {
    let isOurs = false;
    const client = await connectAlone(url, 'read', async (begun) => {
      await begun.query(
        `set time zone 'UTC'; set idle_in_transaction_session_timeout = '60s';
         begin isolation level repeatable read read only`,
      );
      // It ends with the transaction, however that ends. Workers have the numbers above zero.
      const { rows } = await begun.query('select pg_try_advisory_xact_lock(-($1::bigint)) as ours', [id]);
      isOurs = rows[0].ours;
    });
    if (!isOurs) {
      underWay -= 1;
      await endAlone(client);
      return 'own';
    }
    let isOpen = true;
    let isAsking = false;
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
        const ask = async <T>(work: Promise<T>): Promise<T> => {
          isAsking = true;
          return work.finally(() => {
            isAsking = false;
          });
        };
        await ask(client.query(`declare rows no scroll cursor for ${statement.text}`, values));
        for (;;) {
          const { rows } = await ask(
            client.query<[string]>({ text: `fetch ${size} from rows`, rowMode: 'array' }),
          );
          if (rows.length > 0) yield rows.map(([row]) => row);
          if (rows.length < size) break;
        }
        await client.query('close rows');
      },
      async end() {
        giveBack();
        // Who comes again at once finds nothing under way, although a connection that is closed lingers in the server.
        const isIdle = !isAsking;
        if (isIdle) await client.query('rollback').catch(() => undefined);
        await endAlone(client);
      },
    };
  } catch (error) {
    underWay -= 1;
    throw asUnavailable(error);
  }
}
