import { IdParams, routes } from '../platform/http/index.ts';
import {
  blockOrganization,
  correctOrganization,
  lockAnyOrganization,
  unblockOrganization,
} from './byStaff.ts';
import { examples } from './examples.ts';
import { listAllOrganizations, readAnyOrganization } from './organizationStaff.ts';
import * as S from './schema.ts';

const bySupport = {
  auth: 'staff',
  staffRoles: ['administrator', 'support'],
  area: 'billing',
} as const;

const group = { tag: 'Staff: organizations', about: 'The customers of the provider.', examples };

export const organizationStaffRoutes = routes('/staff/organizations', group, (route) => {
  route.get(
    '',
    {
      auth: 'staff',
      area: 'billing',
      operation: 'listOrganizationsAsStaff',
      summary: 'List organizations as staff',
      description: 'Every organization, newest first, or those that a person is in.',
      query: S.StaffOrganizationQuery,
      data: S.StaffOrganizationList,
    },
    (ctx, req) => listAllOrganizations(ctx, req.query),
  );
  route.get(
    '/:id',
    {
      auth: 'staff',
      area: 'billing',
      operation: 'getOrganizationAsStaff',
      summary: 'Get organization as staff',
      description:
        'One organization. `GET /staff/users?organization_id=` tells who is in it; services and invoices filter by it too.',
      params: IdParams,
      data: S.StaffOrganizationData,
      errors: ['not_found'],
      etag: true,
    },
    (ctx, req) => readAnyOrganization(ctx, req.params.id),
  );
  route.patch(
    '/:id',
    {
      ...bySupport,
      operation: 'correctOrganization',
      summary: 'Correct organization',
      description:
        'Corrects what an organization says of itself; its owner is told. Address and tax id are parts of its billing profile.',
      params: IdParams,
      body: S.OrganizationCorrection,
      data: S.StaffOrganizationData,
      errors: ['not_found', 'conflict'],
      lock: (tx, req) => lockAnyOrganization(tx, req.params.id),
    },
    (ctx, req) => correctOrganization(ctx, req.params.id, req.body),
  );
  route.post(
    '/:id/block',
    {
      ...bySupport,
      operation: 'blockOrganization',
      summary: 'Block organization',
      description:
        'Lets an organization order and change nothing (403 `organization_blocked`). Its machines run on, services are renewed ' +
        'as before, and invoices can be paid. Its owner is told, and the activity names the reason.',
      params: IdParams,
      body: S.OrganizationBlocking,
      data: S.StaffOrganizationData,
      errors: ['not_found', 'conflict'],
    },
    (ctx, req) => blockOrganization(ctx, req.params.id, req.body.reason),
  );
  route.post(
    '/:id/unblock',
    {
      ...bySupport,
      operation: 'unblockOrganization',
      summary: 'Unblock organization',
      description: 'Lets an organization go on that was blocked.',
      params: IdParams,
      data: S.StaffOrganizationData,
      errors: ['not_found', 'conflict'],
    },
    (ctx, req) => unblockOrganization(ctx, req.params.id),
  );
});
