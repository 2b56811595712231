import { IdParams, routes } from '../platform/http/index.ts';
import { changeProduct, lockProduct, readProductForStaff } from './changeProduct.ts';
import { examples } from './examples.ts';
import { listEveryProduct } from './products.ts';
import * as S from './schema.ts';

const group = { tag: 'Staff: catalogue', about: 'What the provider sells.', examples };

export const catalogStaffRoutes = routes('/staff/products', group, (route) => {
  route.get(
    '',
    {
      auth: 'staff',
      area: 'any',
      operation: 'listProductsAsStaff',
      summary: 'List products as staff',
      description: 'Every product, also those that are hidden or retired.',
      query: S.StaffProductQuery,
      data: S.StaffProductList,
    },
    (ctx, req) => listEveryProduct(ctx, req.query),
  );
  route.get(
    '/:id',
    {
      auth: 'staff',
      area: 'any',
      operation: 'getProductAsStaff',
      summary: 'Get product as staff',
      description: 'One product, also when it is hidden or retired.',
      params: IdParams,
      data: S.StaffProductData,
      errors: ['not_found'],
      etag: true,
    },
    (ctx, req) => readProductForStaff(ctx, req.params.id),
  );
  route.patch(
    '/:id',
    {
      auth: 'staff',
      area: 'billing',
      staffRoles: ['administrator', 'billing'],
      operation: 'updateProduct',
      summary: 'Change stock, prices and bounds of a product',
      description: 'Changes what the body names. Invoices and services that exist keep their terms.',
      params: IdParams,
      body: S.ProductChange,
      data: S.StaffProductData,
      errors: ['not_found'],
      lock: (tx, req) => lockProduct(tx, req.params.id),
    },
    (ctx, req) => changeProduct(ctx, req.params.id, req.body),
  );
});
