import { IdParams, routes } from '../platform/http/index.ts';
import {
  changeShieldProduct,
  listShieldProducts,
  lockShieldProduct,
  readShieldProduct,
} from './products/products.ts';
import { staffExamples } from './staffExamples.ts';
import * as S from './staffSchema.ts';

const shield = { auth: 'staff', area: 'shield', staffRoles: ['administrator', 'operator'] } as const;
const one = { ...shield, params: IdParams } as const;
const group = {
  tag: 'Staff: Shield',
  about: 'What stands in front of addresses, attacks on them, and what is done about these.',
  examples: staffExamples,
};

export const shieldStaffRoutes = routes('/staff/shield', group, (route) => {
  route.get(
    '/products',
    {
      ...shield,
      operation: 'listShieldProducts',
      summary: 'List sensitivities of products',
      description:
        'From where on traffic to machines of each product is an attack, and what is done about it, until owners say otherwise.',
      query: S.ProductQuery,
      data: S.ProductList,
    },
    (ctx, req) => listShieldProducts(ctx, req.query),
  );
  route.get(
    '/products/:id',
    {
      ...one,
      operation: 'getShieldProduct',
      summary: 'Get sensitivity of product',
      description: 'The same of one product.',
      data: S.ProductData,
      errors: ['not_found'],
      etag: true,
    },
    (ctx, req) => readShieldProduct(ctx, req.params.id),
  );
  route.patch(
    '/products/:id',
    {
      ...one,
      operation: 'updateShieldProduct',
      summary: 'Change sensitivity of product',
      description:
        'Sets what is named, also for machines that were sold already, where their owner has said nothing; null is as for all others.',
      body: S.ProductChange,
      data: S.ProductData,
      errors: ['not_found'],
      lock: (tx, req) => lockShieldProduct(tx, req.params.id),
    },
    (ctx, req) => changeShieldProduct(ctx, req.params.id, req.body),
  );
});
