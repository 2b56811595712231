import type pg from 'pg';
import { atFailpoint } from '../failpoint.ts';
import type { Commits } from './acknowledged.ts';
import { asUnavailable, isAftermath, isWorthRepeating, leadsToStandby } from './failures.ts';
import { LateCommit, type LateCommits } from './lateCommits.ts';
import { queryable, type Scope } from './queryable.ts';
import type { Transaction } from './statement.ts';

const transactionAttempts = 4;

type Work<T> = (tx: Transaction) => Promise<T>;

/** One transaction; after a deadlock or a serialization failure it runs again. */
export async function repeatTransaction<T>(
  pool: pg.Pool,
  commits: Commits,
  late: LateCommits,
  name: string,
  work: Work<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await runTransaction(pool, commits, late, name, work);
    } catch (error) {
      if (attempt >= transactionAttempts || !isWorthRepeating(error)) throw error;
    }
  }
}

async function runTransaction<T>(
  pool: pg.Pool,
  commits: Commits,
  late: LateCommits,
  name: string,
  work: Work<T>,
): Promise<T> {
  const client = await pool.connect().catch((error: unknown) => {
    throw asUnavailable(error);
  });
  const scope: Scope = { firstFailure: null, closed: null, written: { any: false } };
  const committed: (() => void)[] = [];
  let result: T;
  // Not waited for: it goes out together with the first statement, which fails when this does.
  const begun = client.query('begin');
  begun.catch(() => undefined);
  try {
    result = await work(transactionOn(client, scope, committed, 1));
    scope.closed = 'after its transaction had ended';
    await begun;
    await atFailpoint(`${name}: before commit`);
    const command = await commits.commit(client, scope.written.any);
    // PostgreSQL answers so, and not with an error, when a failed statement was swallowed on the way.
    if (command !== 'COMMIT') {
      if (isWorthRepeating(scope.firstFailure)) throw scope.firstFailure;
      throw new Error(`${name} could not be committed: a statement in it had failed`);
    }
  } catch (thrown) {
    scope.closed = 'after its transaction had ended';
    if (thrown instanceof LateCommit) {
      late.keep(client, thrown);
      throw asUnavailable(thrown);
    }
    // A connection that cannot even roll back is thrown away, and the server rolls back for it.
    await client.query('rollback').then(
      () => client.release(leadsToStandby(scope.firstFailure)),
      (broken: Error) => client.release(broken),
    );
    throw asUnavailable(reasonOf(thrown, scope));
  }
  client.release();
  await atFailpoint(`${name}: after commit`);
  for (const then of committed) then();
  return result;
}

/** What the work of a scope gets. `committed` collects what is to be called after the commit. */
function transactionOn(
  client: pg.PoolClient,
  scope: Scope,
  committed: (() => void)[],
  depth: number,
): Transaction {
  return {
    ...queryable(client, scope),
    inTransaction: true,
    afterCommit: (then) => committed.push(then),
    attempt: (work) => attempt(client, { scope, committed, depth }, work),
  };
}

interface Around {
  scope: Scope;
  committed: (() => void)[];
  depth: number;
}

/** A savepoint around `work`; a deadlock in it is the whole transaction's. The scope around it sends nothing meanwhile: it could be taken back with it. */
async function attempt<T>(client: pg.PoolClient, around: Around, work: Work<T>): Promise<T> {
  if (around.scope.closed) throw new Error(`an attempt was begun ${around.scope.closed}`);
  const savepoint = `attempt_${around.depth}`;
  const scope: Scope = { firstFailure: null, closed: null, written: around.scope.written };
  const committed: (() => void)[] = [];
  around.scope.closed = 'beside an attempt: use what the attempt was given';
  // Not waited for: it goes out together with the first statement, which fails when this does.
  const begun = client.query(`savepoint ${savepoint}`);
  begun.catch(() => undefined);
  try {
    const result = await work(transactionOn(client, scope, committed, around.depth + 1));
    scope.closed = 'after its attempt had ended';
    await begun;
    await client.query(`release savepoint ${savepoint}`);
    around.committed.push(...committed);
    return result;
  } catch (thrown) {
    scope.closed = 'after its attempt had ended';
    const reason = reasonOf(thrown, scope);
    // Nobody goes on past a deadlock: the transaction stays failed, whatever is caught, and runs again as a whole.
    if (isWorthRepeating(reason)) {
      around.scope.firstFailure = reason;
      throw reason;
    }
    // When even this fails, the transaction is lost as a whole, and its next statement or its commit says so.
    await client
      .query(`rollback to savepoint ${savepoint}; release savepoint ${savepoint}`)
      .catch((error: unknown) => {
        around.scope.firstFailure ??= error;
      });
    throw asUnavailable(reason);
  } finally {
    around.scope.closed = null;
  }
}

function reasonOf(thrown: unknown, scope: Scope): unknown {
  return isAftermath(thrown) ? (scope.firstFailure ?? thrown) : thrown;
}
