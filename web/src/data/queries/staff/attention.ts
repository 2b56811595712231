import { queryOptions } from '@tanstack/react-query';
import { staffThing } from './read.ts';

/**
 * The only thing that is asked for again and again, while somebody looks: how the product does. All else is told by events, and
 * what stands still tells of none. Without this, the line would stay green exactly when it breaks.
 */
export const concerns = () =>
  queryOptions({
    ...staffThing('/staff/attention')(),
    refetchInterval: 30_000,
    refetchIntervalInBackground: false,
  });
