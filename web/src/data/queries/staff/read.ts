import { queryOptions } from '@tanstack/react-query';
import type { DataOf, OperationAt, PathOf } from '../../../../../client/index.ts';
import { client } from '../../client.ts';
import { listed } from '../listed.ts';

/** What lists are filtered by: words of the address, which the API judges. */
export type Filter = Readonly<Record<string, string | number | undefined>>;
type InPath = Readonly<Record<string, string | number>>;

type Answer<P extends PathOf<'get'>> = DataOf<OperationAt<'get', P>>;
type ListName<P extends PathOf<'get'>> = {
  [K in keyof Answer<P>]: Answer<P>[K] extends readonly unknown[] ? K : never;
}[keyof Answer<P>];
type ItemOf<List> = List extends readonly (infer Item)[] ? Item : never;

/** A call whose types were settled by its path already. */
const read = client.get.bind(client) as unknown as <Data>(path: string, given: object) => Promise<Data>;

/**
 * A list of staff's: `staffList('/staff/jobs', 'jobs')` makes the query for a filter. The word after `/staff/` is the kind
 * by which `staffEvents.ts` has it read anew.
 */
export function staffList<P extends PathOf<'get'>, K extends ListName<P>>(path: P, name: K) {
  type Page = { items: readonly ItemOf<Answer<P>[K]>[]; total: number; next_cursor: string | null };
  return (filter: Filter = {}, inPath: InPath = {}) =>
    listed(['staff', kindOf(path), path, inPath, filter], async (from, signal): Promise<Page> => {
      const query = { limit: 50, ...filter, ...from };
      const page = await read<Answer<P> & Omit<Page, 'items'>>(path, { query, path: inPath, signal });
      const items = page[name] as unknown as Page['items'];
      return { items, total: page.total, next_cursor: page.next_cursor };
    });
}

/** One thing: `staffThing('/staff/nodes/{id}')` makes the query for an id. */
export function staffThing<P extends PathOf<'get'>>(path: P) {
  return (inPath: InPath = {}, query: Filter = {}) =>
    queryOptions({
      queryKey: ['staff', kindOf(path), path, inPath, query],
      queryFn: ({ signal }): Promise<Answer<P>> => read(path, { path: inPath, query, signal }),
    });
}

function kindOf(path: string): string {
  return path.split('/')[2] ?? '';
}
