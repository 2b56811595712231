import type pg from 'pg';
import { asUnavailable } from './failures.ts';

/** Commits that wait for a standby which is away. */
export interface LateCommits {
  /** `unavailable` while so many wait that who only reads would find no connection. */
  requireRoom(): void;
  /** Commits; {@link LateCommit} when it takes longer than anybody waits. It may still come about then. */
  commit(client: pg.ClientBase): Promise<pg.QueryResult>;
  /** Gives a connection back once its commit has ended. The server would wait on without it, and each that is opened in its place is one more. */
  keep(client: pg.PoolClient, late: LateCommit): void;
  /** Nobody waits any more: connections are thrown away. */
  close(): void;
}

/** What it has come to nobody knows yet. */
export class LateCommit extends Error {
  readonly ended: Promise<unknown>;
  constructor(ended: Promise<unknown>) {
    super('the database does not answer a commit');
    this.ended = ended;
  }
}

const askMs = 5_000;
/** Longer than any standby is away. */
const neverMs = 2 ** 31 - 1;
const isWaiting = "select from pg_stat_activity where pid = $1 and wait_event = 'SyncRep'";

/** `patienceMs`: how long a commit may take. */
export function openLateCommits(pool: pg.Pool, patienceMs: number): LateCommits {
  const most = Math.max(1, Math.floor(pool.options.max / 2));
  const kept = new Set<() => void>();

  /** A server that does not say so may be another one by now, and the connection lead nowhere. */
  async function waitsForStandby(client: pg.PoolClient): Promise<boolean> {
    const { processID: pid } = client as { processID?: number };
    const query = { text: isWaiting, values: [pid], query_timeout: askMs };
    return pool.query(query).then(
      ({ rowCount }) => rowCount === 1,
      () => false,
    );
  }

  return {
    requireRoom: () => {
      if (kept.size >= most)
        throw asUnavailable(new Error('the standby does not answer, and commits wait for it'));
    },
    commit: async (client) => {
      const query: pg.QueryConfig & { query_timeout: number } = { text: 'commit', query_timeout: neverMs };
      const ended = client.query(query);
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(() => reject(new LateCommit(ended)), patienceMs);
      });
      return Promise.race([ended, late]).finally(() => clearTimeout(timer));
    },
    keep: (client, late) => {
      let asking: NodeJS.Timeout | undefined;
      const release = (broken?: Error) => {
        if (!kept.delete(throwAway)) return;
        clearTimeout(asking);
        client.release(broken);
      };
      const throwAway = () => release(late);
      const ask = async () => {
        if (!(await waitsForStandby(client))) throwAway();
        else if (kept.has(throwAway)) asking = setTimeout(() => void ask(), askMs);
      };
      late.ended.then(() => release(), release);
      if (kept.size >= most) return client.release(late);
      kept.add(throwAway);
      void ask();
    },
    close: () => {
      for (const throwAway of kept) throwAway();
    },
  };
}
