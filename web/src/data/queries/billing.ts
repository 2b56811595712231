import { queryOptions } from '@tanstack/react-query';
import type { Schema } from '../../../../client/index.ts';
import { client } from '../client.ts';
import { listed } from './listed.ts';

export const invoices = (filter: { status?: Schema<'InvoiceStatus'> } = {}) =>
  listed(['invoices', 'list', filter], (from, signal) =>
    client.get('/dashboard/invoices', { query: { ...filter, limit: 25, ...from }, signal }),
  );

export const invoice = (id: number) =>
  queryOptions({
    queryKey: ['invoices', id],
    queryFn: async ({ signal }) =>
      (await client.get('/dashboard/invoices/{id}', { path: { id }, signal })).invoice,
  });

export const paymentMethods = queryOptions({
  queryKey: ['payment-methods'],
  queryFn: async ({ signal }) => (await client.get('/dashboard/payment-methods', { signal })).payment_methods,
});
