import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import { client } from '../client.ts';

/** What is found by its name, number or address: the caller's, or everybody's for staff. */
export const finds = (words: string, isStaff: boolean) =>
  queryOptions({
    queryKey: ['search', isStaff, words],
    queryFn: async ({ signal }): Promise<readonly Find[]> => {
      const query = { q: words };
      if (isStaff) return (await client.get('/staff/search', { query, signal })).found;
      return (await client.get('/dashboard/search', { query, signal })).found;
    },
    enabled: words !== '',
    placeholderData: keepPreviousData,
    staleTime: 10_000,
  });

export interface Find {
  kind:
    | 'service'
    | 'invoice'
    | 'ticket'
    | 'member'
    | 'address'
    | 'shield_rule'
    | 'organization'
    | 'user'
    | 'node';
  id: string;
  title: string;
  detail: string | null;
  status: string | null;
}
