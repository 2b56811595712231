import { IdParams, routes } from '../platform/http/index.ts';
import * as S from './schema.ts';
import { changeProduct, lockProductForStaff, readProductForStaff } from './staff.ts';

export const catalogStaffRoutes = routes('/staff/products', { tag: 'Staff: catalogue' }, (route) => {
  route.get(
    '/:id',
    {
      auth: 'staff',
      operation: 'getProductAsStaff',
      summary: 'Get product as staff',
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
      staffRoles: ['administrator', 'billing'],
      operation: 'updateProduct',
      summary: 'Change stock, prices and bounds of a product',
      params: IdParams,
      body: S.ProductChange,
      data: S.StaffProductData,
      errors: ['not_found'],
      current: (ctx, req) => lockProductForStaff(ctx, req.params.id),
    },
    (ctx, req) => changeProduct(ctx, req.params.id, req.body),
  );
});
