import { useQueryClient } from '@tanstack/react-query';
import { useWatched } from './watched.ts';

/**
 * Has what a machine uses read anew as it is measured, and its screen as it changes, for as long as somebody looks.
 * Tells whether that is so.
 */
export function useMeasured(id: number): boolean {
  const queries = useQueryClient();
  return useWatched(`vps:${id}`, {
    'vps.screen': () => void queries.invalidateQueries({ queryKey: ['screens', id] }),
    'vps.sample': () => {
      void queries.invalidateQueries({ queryKey: ['vps', id], exact: true });
      void queries.invalidateQueries({ queryKey: ['vps', id, 'charts', 'hour'] });
    },
  });
}

const minuteMs = 60_000;

/** The same of what an edge does at the addresses of a machine, and counts there. Null: it is not known yet which. */
export function useShieldSeen(service: number | null): boolean {
  const queries = useQueryClient();
  return useWatched(service === null ? null : `shield:${service}`, {
    'shield.seen': () => {
      void queries.invalidateQueries({ queryKey: ['shield', 'now'] });
      // It has a row a minute, and packets are counted all the time.
      const isOld = ({ state }: { state: { dataUpdatedAt: number } }) =>
        Date.now() - state.dataUpdatedAt > minuteMs / 2;
      void queries.invalidateQueries({ queryKey: ['shield', 'traffic'], predicate: isOld });
    },
  });
}
