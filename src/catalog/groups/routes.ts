import { IdParams, routes } from '../../platform/http/index.ts';
import { examples } from './examples.ts';
import { changeGroup, createGroup, listGroups, lockGroup, readGroup } from './groups.ts';
import * as S from './schema.ts';

const staffRoles = ['administrator', 'billing'];

export const groupStaffRoutes = routes(
  '/staff/product-groups',
  { tag: 'Staff: catalogue', examples },
  (route) => {
    route.get(
      '',
      {
        auth: 'staff',
        area: 'any',
        operation: 'listProductGroups',
        summary: 'List product groups',
        description: 'The headings that products are listed under, in the order in which customers see them.',
        query: S.GroupQuery,
        data: S.GroupList,
      },
      (ctx, req) => listGroups(ctx, req.query),
    );
    route.post(
      '',
      {
        auth: 'staff',
        area: 'billing',
        staffRoles,
        operation: 'createProductGroup',
        summary: 'Create a product group',
        description: 'A heading for products, behind the others unless it says where.',
        body: S.NewGroup,
        data: S.GroupData,
        errors: ['conflict'],
      },
      (ctx, req) => createGroup(ctx, req.body),
    );
    route.get(
      '/:id',
      {
        auth: 'staff',
        area: 'any',
        operation: 'getProductGroup',
        summary: 'Get a product group',
        description: 'One heading, and how many products are listed under it.',
        params: IdParams,
        data: S.GroupData,
        errors: ['not_found'],
        etag: { without: ['products'] },
      },
      (ctx, req) => readGroup(ctx, req.params.id),
    );
    route.patch(
      '/:id',
      {
        auth: 'staff',
        area: 'billing',
        staffRoles,
        operation: 'updateProductGroup',
        summary: 'Rename or move a product group',
        description: 'Changes what the body names; the products of the group go along.',
        params: IdParams,
        body: S.GroupChange,
        data: S.GroupData,
        errors: ['not_found', 'conflict'],
        lock: (tx, req) => lockGroup(tx, req.params.id),
      },
      (ctx, req) => changeGroup(ctx, req.params.id, req.body),
    );
  },
);
