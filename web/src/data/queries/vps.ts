import { queryOptions } from '@tanstack/react-query';
import { client } from '../client.ts';

export const machine = (id: number) =>
  queryOptions({
    queryKey: ['vps', id],
    queryFn: async ({ signal }) =>
      (await client.get('/dashboard/service/{id}/vps/overview', { path: { id }, signal })).vps,
  });

export const machineHistory = (id: number) =>
  queryOptions({
    queryKey: ['vps', id, 'history'],
    queryFn: async ({ signal }) =>
      client.get('/dashboard/service/{id}/vps/history', { path: { id }, query: { limit: 10 }, signal }),
  });
