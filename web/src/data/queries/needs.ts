import { queryOptions } from '@tanstack/react-query';
import { client } from '../client.ts';

/**
 * What waits for the organization. Not everything of it is told by events: it is read anew by whoever comes back, but not by a
 * page whose scripts came after what the first of them had asked for.
 */
export const needs = queryOptions({
  queryKey: ['needs'],
  queryFn: async ({ signal }) => (await client.get('/dashboard/attention', { signal })).needs,
  staleTime: 5_000,
});
