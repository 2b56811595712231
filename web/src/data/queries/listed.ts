import { type InfiniteData, infiniteQueryOptions } from '@tanstack/react-query';
import { isInSight, markOld } from '../sight.ts';
import { queryClient } from './session.ts';

/** Where a page begins, as the API's lists take it. */
export interface From {
  cursor?: string;
}

interface Paged {
  next_cursor: string | null;
}

/** A list of so many pages is read anew as a whole. */
const fewPages = 4;

/** A list that is read page by page. */
export function listed<Page extends Paged>(
  queryKey: readonly unknown[],
  read: (from: From, signal: AbortSignal) => Promise<Page>,
) {
  return infiniteQueryOptions({
    queryKey,
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: cursor, signal }) => {
      const page = () => read(cursor === undefined ? {} : { cursor }, signal);
      const before = queryClient.getQueryData<InfiniteData<Page>>(queryKey);
      const nth = before?.pageParams.indexOf(cursor) ?? -1;
      if (before === undefined || nth < 0 || before.pages.length <= fewPages) return page();
      return readAgain(before.pages, nth, page, signal);
    },
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
  });
}

/** Keys of rows that were found further up than they were, while a list is read anew once. */
const moved = new WeakMap<AbortSignal, Set<unknown>>();

/** A page of a long list: it ends where it ended, so that those below it begin where they begin. */
async function readAgain<Page extends Paged>(
  pages: readonly Page[],
  nth: number,
  read: () => Promise<Page>,
  signal: AbortSignal,
): Promise<Page> {
  const [before, below] = [pages[nth], pages[nth + 1]];
  const name = before === undefined ? undefined : rowsNameOf(before);
  if (before === undefined || name === undefined) return read();
  const rows = rowsIn(before, name);
  if (nth > 0 && !rows.some(isInSight)) {
    markOld(rows, true);
    const left = moved.get(signal);
    if (left === undefined || !rows.some((row) => left.has(keyOf(row)))) return before;
    return { ...before, [name]: rows.filter((row) => !left.has(keyOf(row))) };
  }
  const now = await read();
  markOld(rows, false);
  if (below === undefined) return now;
  const found = rowsIn(now, name);
  const [known, next] = [rows, rowsIn(below, name)].map((each) => new Set(each.map(keyOf)));
  const cameHere = found.map(keyOf).filter((key) => !known?.has(key) && !next?.has(key));
  if (cameHere.length > 0) moved.set(signal, new Set([...(moved.get(signal) ?? []), ...cameHere]));
  const end = found.findIndex((row) => next?.has(keyOf(row)));
  // Fewer than before, and the page went on into the next one.
  if (end >= 0) return { ...before, [name]: found.slice(0, end) };
  const last = keyOf(found.at(-1));
  const at = rows.findIndex((row) => keyOf(row) === last);
  // Nothing of it is left: what is below is read from where this one ends now.
  if (at < 0) return now;
  return { ...before, [name]: [...found, ...rows.slice(at + 1)] };
}

type Row = Readonly<Record<string, unknown>>;

/** Under which name the rows of a page stand; none where they cannot be told apart. */
function rowsNameOf(page: object): string | undefined {
  const [name, rows] = Object.entries(page).find(([, value]) => Array.isArray(value)) ?? [];
  const keys = (rows as Row[] | undefined)?.map(keyOf);
  const areTold = keys !== undefined && !keys.includes(undefined) && new Set(keys).size === keys.length;
  return areTold ? name : undefined;
}

const rowsIn = (page: object, name: string) => (page as Readonly<Record<string, readonly Row[]>>)[name] ?? [];
const keyOf = (row: Row | undefined) =>
  row?.id ?? row?.tid ?? row?.address ?? row?.number ?? row?.user_id ?? row?.created_at;

interface Found {
  data?: { pages: readonly unknown[] } | undefined;
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  isFetching: boolean;
  isError: boolean;
  fetchNextPage: (options: { cancelRefetch: boolean }) => Promise<Pick<Found, 'data' | 'isError'>>;
  refetch: (options: { cancelRefetch: boolean }) => Promise<unknown>;
}

/** The rest of a list, as `List` offers it. */
export function moreOf({
  data,
  hasNextPage,
  isFetchingNextPage,
  isFetching,
  isError,
  fetchNextPage,
  refetch,
}: Found) {
  const pages = data?.pages.length ?? 0;
  return {
    has: hasNextPage,
    isLoading: isFetchingNextPage,
    // What failed is asked for again by whoever reads that it failed.
    isIdle: !isFetching && !isError,
    load: async () => {
      // Nothing is read beside what is read anew, which may have begun since this was drawn: what is asked for then is its answer,
      // and the next ones are asked for when that has come.
      for (let tries = 0; tries < 3; tries += 1) {
        const { data, isError: failed } = await fetchNextPage({ cancelRefetch: false });
        if (failed || (data?.pages.length ?? 0) > pages) return;
      }
    },
    /** What is in sight, anew. */
    again: () => void refetch({ cancelRefetch: false }),
  };
}
