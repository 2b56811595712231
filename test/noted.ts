import { afterAll, expect, it } from 'vitest';
import { allRoutes } from '../src/api.ts';
import { listRoutes } from '../src/platform/http/index.ts';
import { settled, sql } from './sql.ts';

/** Changes that succeeded in this file, by the id under which the journal has what they did. */
export interface Changes {
  /** Names of operations that were called and succeeded. */
  seen(): Set<string>;
  /** Those of which no call left an entry in the journal. */
  silent(product: { databaseUrl: string }): Promise<string[]>;
  /**
   * Declares the last test of a file: each of these operations succeeded in it, and left an entry in the journal. What the
   * story of the examples cannot send is held against the journal so; `description/examples.test.ts` sees that nothing is missing.
   */
  leaveEntries(product: () => { databaseUrl: string }, operations: readonly string[]): void;
}

/** Looks on while requests are sent, from here to the end of the file. */
export function watchChanges(): Changes {
  const made: { operation: string; id: string }[] = [];
  const changes = listRoutes(allRoutes)
    .filter(({ method }) => method !== 'GET')
    .map(({ method, path, operation }) => ({
      ...{ method, operation },
      path: new RegExp(`/api${path.replaceAll(/:\w+/g, '[^/]+')}$`),
    }));
  const send = globalThis.fetch;
  globalThis.fetch = async (input, init) => {
    const answer = await send(input, init);
    const { pathname } = new URL(String(input));
    const isIt = (each: (typeof changes)[number]) => each.method === init?.method && each.path.test(pathname);
    const found = changes.filter(isIt).toSorted((a, b) => b.path.source.length - a.path.source.length)[0];
    if (answer.status === 200 && found !== undefined && answer.headers.get('test-key') === null)
      made.push({ operation: found.operation, id: answer.headers.get('x-request-id') ?? '' });
    return answer;
  };
  afterAll(() => {
    globalThis.fetch = send;
  });
  const watch: Changes = {
    seen: () => new Set(made.map(({ operation }) => operation)),
    async silent(product) {
      await settled(product);
      const ids = made.map(({ id }) => id);
      const rows = await sql<{ request_id: string }>(
        product,
        'select distinct request_id from journal where request_id = any ($1)',
        ids,
      );
      const noted = new Set(rows.map(({ request_id }) => request_id));
      const loud = new Set(made.filter(({ id }) => noted.has(id)).map(({ operation }) => operation));
      return [...watch.seen()].filter((operation) => !loud.has(operation)).sort();
    },
    leaveEntries(product, operations) {
      it('that succeeds leaves an entry in the journal', async () => {
        const silent = await watch.silent(product());
        const seen = watch.seen();
        const wanting = operations.filter((name) => !seen.has(name) || silent.includes(name));
        expect(wanting, 'not sent here, or without an entry').toEqual([]);
      });
    },
  };
  return watch;
}
