import { infiniteQueryOptions } from '@tanstack/react-query';

/** Where a page begins, as the API's lists take it. */
export interface From {
  cursor?: string;
}

/** A list that is read page by page. */
export function listed<Page extends { next_cursor: string | null }>(
  queryKey: readonly unknown[],
  read: (from: From, signal: AbortSignal) => Promise<Page>,
) {
  return infiniteQueryOptions({
    queryKey,
    initialPageParam: undefined as string | undefined,
    queryFn: ({ pageParam: cursor, signal }) => read(cursor === undefined ? {} : { cursor }, signal),
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
  });
}

interface Found {
  hasNextPage: boolean;
  isFetchingNextPage: boolean;
  fetchNextPage: () => Promise<unknown>;
}

/** The rest of a list, as `List` offers it. */
export function moreOf({ hasNextPage, isFetchingNextPage, fetchNextPage }: Found) {
  return { has: hasNextPage, isLoading: isFetchingNextPage, load: () => void fetchNextPage() };
}
