import { type QueryClient, type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query';

/** What is shown as if it were done. */
export interface Shown<Data> {
  /** Which of what was read is changed: the key of its query. */
  of: QueryKey;
  /** Whether the key is how those of several begin, as of a list by whatever it is filtered. */
  isOfSeveral?: boolean;
  /** How it will be; `ageMs` is how long ago the API said how it is. */
  becomes: (now: Data, ageMs: number) => Data;
}

/**
 * Shows a change before its answer has come. What it returns takes it back: that brings what was shown before; what has
 * been read meanwhile, as after an event, is newer than both and stays.
 */
export async function showAhead<Data>(
  queries: QueryClient,
  { of, isOfSeveral = false, becomes }: Shown<Data>,
): Promise<() => void> {
  // What is being read was asked for before: it would take back what is shown now.
  const which = { queryKey: of, exact: !isOfSeveral };
  await queries.cancelQueries(which);
  const changed = queries.getQueriesData<Data>(which).flatMap(([queryKey, before]) => {
    if (before === undefined) return [];
    const { dataUpdatedAt: readAt = 0 } = queries.getQueryState(queryKey) ?? {};
    // As old as it was: whoever looks again reads it anew.
    const shown = queries.setQueryData<Data>(queryKey, becomes(before, Date.now() - readAt), {
      updatedAt: readAt,
    });
    return [{ queryKey, before, shown, readAt }];
  });
  return () => {
    for (const { queryKey, before, shown, readAt } of changed)
      if (queries.getQueryData(queryKey) === shown)
        queries.setQueryData(queryKey, before, { updatedAt: readAt });
  };
}

interface Ahead<Data, Given> {
  of: QueryKey;
  /** What the API said of it: nothing that it does not allow is shown as if it were done. */
  isAllowed: (now: Data, given: Given) => boolean;
  becomes: (now: Data, given: Given, ageMs: number) => Data;
  send: (given: Given) => Promise<unknown>;
  /** Kinds of what is read anew afterwards. */
  anew: readonly QueryKey[];
}

/** A change of one thing that is shown before its answer has come, and taken back by a refusal. */
export function useAhead<Data, Given = void>({ of, isAllowed, becomes, send, anew }: Ahead<Data, Given>) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: send,
    onMutate: async (given) => {
      const before = queries.getQueryData<Data>(of);
      if (before === undefined || !isAllowed(before, given)) return () => {};
      return showAhead<Data>(queries, { of, becomes: (now, ageMs) => becomes(now, given, ageMs) });
    },
    onError: (_error, _given, takeBack) => takeBack?.(),
    // Not waited for: what was refused is said at once.
    onSettled: () => {
      for (const queryKey of anew) void queries.invalidateQueries({ queryKey });
    },
  });
}

/** Pages of a list that is read one by one. */
interface Pages<Page> {
  pages: readonly Page[];
}

/** A list, page by page, in which some things are different, or gone where `change` makes nothing of them. */
export function inPages<Name extends string, Item>(name: Name, change: (item: Item) => Item | null) {
  return <Of extends Pages<Readonly<Record<Name, readonly Item[]>>>>(now: Of): Of => ({
    ...now,
    pages: now.pages.map((page) => ({
      ...page,
      [name]: page[name].flatMap((item) => change(item) ?? []),
    })),
  });
}
