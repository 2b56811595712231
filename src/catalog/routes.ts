import { IdParams, routes } from '../platform/http/index.ts';
import { listProducts, readProduct } from './products.ts';
import * as S from './schema.ts';

export const catalogRoutes = routes('/products', { tag: 'Catalogue' }, (route) => {
  route.get('', { auth: 'public', summary: 'List products', data: S.ProductList }, (ctx) =>
    listProducts(ctx),
  );
  route.get(
    '/:id',
    {
      auth: 'public',
      summary: 'Get product',
      params: IdParams,
      data: S.ProductData,
      errors: ['not_found'],
      etag: true,
    },
    (ctx, req) => readProduct(ctx, req.params.id),
  );
});
