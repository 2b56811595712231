import {
  type Query,
  type QueryClient,
  type QueryKey,
  useMutation,
  useQueryClient,
} from '@tanstack/react-query';
import { useRefused } from './refused.ts';

/** What is shown as if it were done. */
export interface Shown<Data> {
  /** Which of what was read is changed: the key of its query. */
  of: QueryKey;
  /** Whether the key is how those of several begin, as of a list by whatever it is filtered. */
  isOfSeveral?: boolean;
  /** How it will be; `ageMs` is how long ago the API said how it is. */
  becomes: (now: Data, ageMs: number) => Data;
}

type Change = (now: unknown) => unknown;

/** What was read, and the changes that are shown of it as if they were done. */
interface Held {
  read: unknown;
  readAt: number;
  changes: readonly Change[];
  shown: unknown;
}

const holds = new WeakMap<Query, Held>();

/** What is held of a query; what has been read meanwhile, as after an event, is newer than all that, and stays. */
function heldOf(query: Query): Held | undefined {
  const held = holds.get(query);
  const { data, dataUpdatedAt } = query.state;
  return held?.shown === data && held?.readAt === dataUpdatedAt ? held : undefined;
}

/** Shows what was read with those changes, as old as it was: whoever looks again reads it anew. */
function show(query: Query, read: unknown, readAt: number, changes: readonly Change[]): void {
  const changed = changes.reduce((now, change) => change(now), read);
  holds.set(query, {
    read,
    readAt,
    changes,
    shown: query.setData(changed, { updatedAt: readAt, manual: true }),
  });
}

/**
 * Shows a change before its answer has come. What it returns takes that one back, whatever else is under way: what was
 * read is shown with the others, and read anew, since what was being read was given up for it.
 */
export async function showAhead<Data>(
  queries: QueryClient,
  { of, isOfSeveral = false, becomes }: Shown<Data>,
): Promise<() => void> {
  // What is being read was asked for before: it would take back what is shown now.
  const which = { queryKey: of, exact: !isOfSeveral };
  await queries.cancelQueries(which);
  const mine = new Set<Change>();
  for (const query of queries.getQueryCache().findAll(which)) {
    const { data, dataUpdatedAt: readAt } = query.state;
    if (data === undefined) continue;
    const ageMs = Date.now() - readAt;
    const change: Change = (now) => becomes(now as Data, ageMs);
    mine.add(change);
    const { read, changes } = heldOf(query) ?? { read: data, changes: [] };
    show(query, read, readAt, [...changes, change]);
  }
  return () => {
    for (const query of queries.getQueryCache().findAll(which)) {
      const held = heldOf(query);
      const left = held?.changes.filter((change) => !mine.has(change));
      if (held !== undefined && left !== undefined && left.length < held.changes.length)
        show(query, held.read, held.readAt, left);
    }
    void queries.invalidateQueries(which);
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
  const { refused, begin } = useRefused();
  const change = useMutation({
    mutationFn: send,
    onMutate: async (given) => {
      const say = begin();
      const before = queries.getQueryData<Data>(of);
      if (before === undefined || !isAllowed(before, given)) return { say, takeBack: () => {} };
      const shown = { of, becomes: (now: Data, ageMs: number) => becomes(now, given, ageMs) };
      return { say, takeBack: await showAhead<Data>(queries, shown) };
    },
    onError: (error, _given, begun) => {
      begun?.takeBack();
      begun?.say(error);
    },
    // Not waited for: what was refused is said at once.
    onSettled: () => {
      for (const queryKey of anew) void queries.invalidateQueries({ queryKey });
    },
  });
  return { ...change, refused };
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
