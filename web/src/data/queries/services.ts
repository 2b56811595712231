import { type InfiniteData, queryOptions } from '@tanstack/react-query';
import type { Schema } from '../../../../client/index.ts';
import { client } from '../client.ts';
import { listed } from './listed.ts';
import { queryClient } from './session.ts';

export interface ServiceFilter {
  status?: Schema<'ServiceStatus'>;
  search?: string;
}

export const services = (filter: ServiceFilter = {}) =>
  listed(['services', 'list', filter], (from, signal) =>
    client.get('/dashboard/services', { query: { ...filter, limit: 50, ...from }, signal }),
  );

export const service = (id: number) =>
  queryOptions<Schema<'Service'>>({
    queryKey: ['services', id],
    queryFn: async ({ signal }) =>
      (await client.get('/dashboard/services/{id}', { path: { id }, signal })).service,
    // Whoever comes from the list waits for nothing that it has said already.
    placeholderData: () => inLists(id),
  });

function inLists(id: number): Schema<'Service'> | undefined {
  const lists = queryClient.getQueriesData<InfiniteData<{ services: Schema<'Service'>[] }>>({
    queryKey: ['services', 'list'],
  });
  for (const [, list] of lists)
    for (const { services } of list?.pages ?? [])
      for (const each of services) if (each.id === id) return each;
  return undefined;
}

/** For how long a service can be renewed, and for how much. */
export const renewal = (id: number) =>
  queryOptions({
    queryKey: ['services', id, 'renew'],
    queryFn: ({ signal }) => client.get('/dashboard/services/{id}/renew', { path: { id }, signal }),
  });

/** What a service can become; with a cycle for a period of that length. */
export const upgrades = (id: number, cycle?: Schema<'Cycle'>) =>
  queryOptions({
    queryKey: ['services', id, 'upgrade', cycle],
    queryFn: ({ signal }) =>
      client.get('/dashboard/services/{id}/upgrade', { path: { id }, query: { cycle }, signal }),
  });

/** What the end of a service would mean. */
export const cancellation = (id: number) =>
  queryOptions({
    queryKey: ['services', id, 'cancel'],
    queryFn: ({ signal }) => client.get('/dashboard/services/{id}/cancel', { path: { id }, signal }),
  });
