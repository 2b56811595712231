import { IdParams, routes } from '../platform/http/index.ts';
import { examples } from './examples.ts';
import { listAllOrganizations, readAnyOrganization } from './organizationStaff.ts';
import * as S from './schema.ts';

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
    },
    (ctx, req) => readAnyOrganization(ctx, req.params.id),
  );
});
