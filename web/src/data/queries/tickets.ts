import { queryOptions } from '@tanstack/react-query';
import type { Schema } from '../../../../client/index.ts';
import { client } from '../client.ts';
import type { ticketOrders } from '../states.ts';
import { listed } from './listed.ts';

export interface TicketFilter {
  status?: Schema<'TicketStatus'>;
  priority?: Schema<'TicketPriority'>;
  department?: string;
  search?: string;
  sort?: (typeof ticketOrders)[number];
}

export const tickets = (filter: TicketFilter = {}) =>
  listed(['tickets', 'list', filter], (from, signal) =>
    client.get('/dashboard/tickets', { query: { ...filter, limit: 25, ...from }, signal }),
  );

export const ticket = (tid: string) =>
  queryOptions({
    queryKey: ['tickets', tid],
    queryFn: async ({ signal }) =>
      (await client.get('/dashboard/tickets/{tid}', { path: { tid }, signal })).ticket,
  });

export const departments = queryOptions({
  queryKey: ['departments'],
  queryFn: async ({ signal }) => (await client.get('/dashboard/tickets/departments', { signal })).departments,
});
