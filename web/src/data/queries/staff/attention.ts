import { queryOptions } from '@tanstack/react-query';
import { staffThing } from './read.ts';

/**
 * Asked for again and again while somebody looks, as nothing else is but whether a payment has come: how the product does. What
 * stands still tells no event, so without this the line would stay green exactly when it breaks.
 */
export const concerns = () =>
  queryOptions({
    ...staffThing('/staff/attention')(),
    refetchInterval: 30_000,
    refetchIntervalInBackground: false,
  });
