import { IdParams, routes } from '../platform/http/index.ts';
import { listProducts, readProduct } from './products.ts';
import * as S from './schema.ts';

export const catalogRoutes = routes('/products', { tag: 'Catalogue' }, (route) => {
  route.get(
    '',
    {
      auth: 'public',
      operation: 'listProducts',
      summary: 'List products',
      query: S.ProductQuery,
      data: S.ProductList,
      errors: ['invalid_cursor'],
    },
    (ctx, req) => listProducts(ctx, req.query),
  );
  route.get(
    '/:id',
    {
      auth: 'public',
      operation: 'getProduct',
      summary: 'Get product',
      params: IdParams,
      data: S.ProductData,
      errors: ['not_found'],
      etag: true,
    },
    (ctx, req) => readProduct(ctx, req.params.id),
  );
});
