import { queryOptions } from '@tanstack/react-query';
import type { Schema } from '../../../../client/index.ts';
import { client } from '../client.ts';
import { listed } from './listed.ts';

export interface ServiceFilter {
  status?: Schema<'ServiceStatus'>;
  search?: string;
}

export const services = (filter: ServiceFilter = {}) =>
  listed(['services', 'list', filter], (from, signal) =>
    client.get('/dashboard/services', { query: { ...filter, limit: 50, ...from }, signal }),
  );

export const service = (id: number) =>
  queryOptions({
    queryKey: ['services', id],
    queryFn: async ({ signal }) =>
      (await client.get('/dashboard/services/{id}', { path: { id }, signal })).service,
  });
