import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query';

interface Ahead<Data, Given> {
  /** Which of what was read is changed: the key of its query. */
  of: QueryKey;
  /** What the API said of it: nothing that it does not allow is shown as if it were done. */
  isAllowed: (now: Data, given: Given) => boolean;
  /** How it will be; `ageMs` is how long ago the API said how it is. */
  becomes: (now: Data, given: Given, ageMs: number) => Data;
  send: (given: Given) => Promise<unknown>;
  /** Kinds of what is read anew afterwards. */
  anew: readonly QueryKey[];
}

/**
 * A change that is shown before its answer has come. A refusal brings back what was shown before; what has been read
 * meanwhile, as after an event, is newer than both and stays.
 */
export function useAhead<Data, Given = void>({ of, isAllowed, becomes, send, anew }: Ahead<Data, Given>) {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: send,
    onMutate: async (given) => {
      // What is being read was asked for before: it would take back what is shown now.
      await queries.cancelQueries({ queryKey: of, exact: true });
      const before = queries.getQueryData<Data>(of);
      if (before === undefined || !isAllowed(before, given)) return null;
      const { dataUpdatedAt: readAt = 0 } = queries.getQueryState(of) ?? {};
      // As old as it was: whoever looks again reads it anew.
      const shown = queries.setQueryData<Data>(of, becomes(before, given, Date.now() - readAt), {
        updatedAt: readAt,
      });
      return { before, shown, readAt };
    },
    onError: (_error, _given, ahead) => {
      if (ahead == null || queries.getQueryData(of) !== ahead.shown) return;
      queries.setQueryData(of, ahead.before, { updatedAt: ahead.readAt });
    },
    // Not waited for: what was refused is said at once.
    onSettled: () => {
      for (const queryKey of anew) void queries.invalidateQueries({ queryKey });
    },
  });
}
