import { queryOptions } from '@tanstack/react-query';
import type { Schema } from '../../../../client/index.ts';
import { client } from '../client.ts';
import { listed } from './listed.ts';

export const webhooks = listed(['webhooks', 'list'], (from, signal) =>
  client.get('/dashboard/webhooks', { query: { limit: 50, ...from }, signal }),
);

export const webhook = (id: number) =>
  queryOptions({
    queryKey: ['webhooks', id],
    queryFn: async ({ signal }) =>
      (await client.get('/dashboard/webhooks/{id}', { path: { id }, signal })).webhook,
  });

export const deliveries = (id: number, filter: { state?: Schema<'DeliveryState'> }) =>
  listed(['webhooks', id, 'deliveries', filter], (from, signal) =>
    client.get('/dashboard/webhooks/{id}/deliveries', {
      path: { id },
      query: { ...filter, limit: 25, ...from },
      signal,
    }),
  );

export const delivery = (id: number) =>
  queryOptions({
    queryKey: ['webhooks', 'delivery', id],
    queryFn: async ({ signal }) =>
      (await client.get('/dashboard/webhooks/deliveries/{id}', { path: { id }, signal })).delivery,
  });
