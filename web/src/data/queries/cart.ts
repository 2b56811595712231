import { keepPreviousData, queryOptions } from '@tanstack/react-query';
import type { Schema } from '../../../../client/index.ts';
import { client } from '../client.ts';

/** Everything that is sold now. */
export const products = queryOptions({
  queryKey: ['products'],
  queryFn: async ({ signal }) => {
    const found: Schema<'Product'>[] = [];
    for await (const each of client.all('/products', 'products', { signal })) found.push(each);
    return found;
  },
});

/** One of them, also where it is shown to whoever has it. */
export const product = (id: number) =>
  queryOptions({
    queryKey: ['products', id],
    queryFn: async ({ signal }) => (await client.get('/products/{id}', { path: { id }, signal })).product,
  });

/**
 * What a cart would cost: the same as the invoice would ask for. `key` says which cart it is, without what the price does
 * not depend on.
 */
export const quote = (key: unknown, cart: () => Schema<'Cart'>) =>
  queryOptions({
    queryKey: ['quote', key],
    queryFn: ({ signal }) => client.post('/cart/quote', { body: cart(), signal }),
    placeholderData: keepPreviousData,
  });
