import { IdParams, routes } from '../platform/http/index.ts';
import { changeProduct, lockProduct, readProductForStaff } from './changeProduct.ts';
import { createProduct } from './createProduct.ts';
import { examples } from './examples.ts';
import { previewProduct } from './preview.ts';
import { listEveryProduct } from './products.ts';
import * as S from './schema.ts';
import type { Selling } from './selling.ts';

const group = { tag: 'Staff: catalogue', about: 'What the provider sells.', examples };

/** What the room that sells products knows of them is handed over by `api.ts`. */
export const catalogStaffRoutes = (selling: Selling) =>
  routes('/staff/products', group, (route) => {
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
    route.post(
      '',
      {
        auth: 'staff',
        area: 'billing',
        staffRoles: ['administrator', 'billing'],
        operation: 'createProduct',
        summary: 'Create a product',
        description:
          'Puts a product into the catalogue, hidden unless the body says otherwise. What is hidden may be incomplete: prices ' +
          'and options can be added until it is `active`.',
        body: S.NewProduct,
        data: S.StaffProductData,
      },
      (ctx, req) => createProduct(ctx, req.body, selling),
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
        summary: 'Change a product',
        description:
          'Changes what the body names. Invoices and services that exist keep their terms: a cycle that is no longer sold and ' +
          'an option that is retired stay with those who have them.',
        params: IdParams,
        body: S.ProductChange,
        data: S.StaffProductData,
        errors: ['not_found', 'product_sold'],
        lock: (tx, req) => lockProduct(tx, req.params.id),
      },
      (ctx, req) => changeProduct(ctx, req.params.id, req.body, selling),
    );
    route.post(
      '/:id/preview',
      {
        auth: 'staff',
        area: 'billing',
        staffRoles: ['administrator', 'billing'],
        operation: 'previewProduct',
        summary: 'Preview a change of a product',
        description:
          'Says how the product would be, what an order of it would cost, and what those who have it would pay if they were ' +
          'moved to its prices. Nothing is changed.',
        params: IdParams,
        body: S.PreviewedProduct,
        data: S.ProductPreview,
        errors: ['not_found', 'product_sold', 'amount_too_large'],
        idempotency: 'off',
      },
      (ctx, req) => previewProduct(ctx, req.params.id, req.body, selling),
    );
  });
