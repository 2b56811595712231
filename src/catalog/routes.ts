import { IdParams, routes } from '../platform/http/index.ts';
import { examples } from './examples.ts';
import { listProducts, readProduct } from './products.ts';
import * as S from './schema.ts';

const group = {
  tag: 'Catalogue',
  about: 'What is for sale, with prices and options. Needs no key.',
  examples,
};

export const catalogRoutes = routes('/products', group, (route) => {
  route.get(
    '',
    {
      auth: 'public',
      operation: 'listProducts',
      summary: 'List products',
      description: 'Everything that can be ordered now, with its prices and the options to choose.',
      query: S.ProductQuery,
      data: S.ProductList,
    },
    (ctx, req) => listProducts(ctx, req.query),
  );
  route.get(
    '/:id',
    {
      auth: 'public',
      operation: 'getProduct',
      summary: 'Get product',
      description: 'One product. Its `options` say which values an order may name.',
      params: IdParams,
      data: S.ProductData,
      errors: ['not_found'],
      etag: true,
    },
    (ctx, req) => readProduct(ctx, req.params.id),
  );
});
