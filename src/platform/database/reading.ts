import pg from 'pg';
import { answerMs, connectAlone, endAlone } from './alone.ts';
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
    const watch = newWatch();
    const begin = async (begun: pg.Client) => {
      watch.over(begun);
      await watch.ask(
        begun.query(
          `set time zone 'UTC'; set idle_in_transaction_session_timeout = '60s';
           begin isolation level repeatable read read only`,
        ),
      );
      // It ends with the transaction, however that ends. Workers have the numbers above zero.
      const { rows } = await watch.ask(
        begun.query('select pg_try_advisory_xact_lock(-($1::bigint)) as ours', [id]),
      );
      isOurs = rows[0].ours;
    };
    const client = await connectAlone(url, 'read', begin, { waitMs: null });
    if (!isOurs) {
      underWay -= 1;
      await endAlone(client);
      return 'own';
    }
    let isOpen = true;
    const giveBack = () => {
      if (!isOpen) return;
      isOpen = false;
      underWay -= 1;
    };
    // Of a reader who takes nothing PostgreSQL ends the session, and nobody would ask for the next batch.
    client.once('end', giveBack);
    return {
      async begin(statement, params) {
        const values = valuesOf(statement, params);
        await watch.ask(client.query(`declare rows no scroll cursor for ${statement.text}`, values));
      },
      async next(rows, size) {
        await watch.ask(fetchRows(client, rows, size));
        if (rows.length < size) await watch.ask(client.query('close rows'));
      },
      async end() {
        giveBack();
        // Who comes again at once finds nothing under way, although a connection that is closed lingers in the server.
        if (watch.isIdle()) await watch.ask(client.query('rollback')).catch(() => undefined);
        await endAlone(client);
      },
    };
  } catch (error) {
    underWay -= 1;
    throw asUnavailable(error);
  }
}

/**
 * Ends a connection whose server lets us wait too long for an answer. It is one timer, wound up for each question: pg makes one
 * for each, and all that hangs on it, batches that were read, is not collected while they are young.
 */
function newWatch() {
  let client: pg.Client | null = null;
  let isAsking = false;
  const timer = setTimeout(() => {
    if (isAsking) void client?.end().catch(() => undefined);
  }, answerMs);
  timer.unref();
  return {
    over(begun: pg.Client) {
      client = begun;
      client.once('end', () => clearTimeout(timer));
    },
    isIdle: () => !isAsking,
    async ask<T>(answer: Promise<T>): Promise<T> {
      isAsking = true;
      timer.refresh();
      try {
        return await answer;
      } finally {
        isAsking = false;
      }
    },
  };
}

/** The parts of pg's query that {@link Fetch} builds on; `pg` is pinned. */
interface Internals {
  handleDataRow(message: { fields: (string | null)[] }): void;
}
const Query = pg.Query as unknown as new (
  text: string,
  callback: (error?: Error | null) => void,
) => Internals;

/** Fetches rows of one text each into a list, and leaves them nowhere else: neither in a result nor in what pg made of the row. */
class Fetch extends Query {
  #rows: string[];

  constructor(text: string, rows: string[], callback: (error?: Error | null) => void) {
    super(text, callback);
    this.#rows = rows;
  }

  override handleDataRow({ fields }: { fields: (string | null)[] }): void {
    this.#rows.push(fields[0] ?? '');
    fields[0] = null;
  }
}

/** By a callback: pg's own promise keeps the query, and all that hangs on it. */
function fetchRows(client: pg.Client, rows: string[], size: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = (error?: Error | null) => (error ? reject(error) : resolve());
    client.query(new Fetch(`fetch ${size} from rows`, rows, done) as unknown as pg.Submittable);
  });
}
