import { queryOptions } from '@tanstack/react-query';
import type { Schema } from '../../../../client/index.ts';
import { client } from '../client.ts';
import { listed } from './listed.ts';

export interface InvoiceFilter {
  status?: Schema<'InvoiceStatus'>;
  search?: string;
}

export const invoices = (filter: InvoiceFilter = {}) =>
  listed(['invoices', 'list', filter], (from, signal) =>
    client.get('/dashboard/invoices', { query: { ...filter, limit: 25, ...from }, signal }),
  );

export const invoice = (id: number) =>
  queryOptions({
    queryKey: ['invoices', id],
    queryFn: ({ signal }) => client.get('/dashboard/invoices/{id}', { path: { id }, signal }),
  });

export const paymentMethods = queryOptions({
  queryKey: ['payment-methods'],
  queryFn: async ({ signal }) => (await client.get('/dashboard/payment-methods', { signal })).payment_methods,
});

/** What was added to the organization's credit and taken from it. */
export const creditEntries = listed(['invoices', 'credit'], (from, signal) =>
  client.get('/dashboard/credit/transactions', { query: { limit: 25, ...from }, signal }),
);
