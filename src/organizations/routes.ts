import { routes } from '../platform/http/index.ts';
import { createOrganization, listOrganizations } from './organizations.ts';
import * as S from './schema.ts';

export const organizationRoutes = routes('/dashboard/organizations', { tag: 'Organizations' }, (route) => {
  route.get(
    '',
    {
      auth: 'account',
      operation: 'listOrganizations',
      summary: 'List organizations',
      query: S.OrganizationQuery,
      data: S.OrganizationList,
      errors: ['invalid_cursor'],
    },
    (ctx, req) => listOrganizations(ctx, req.query),
  );
  route.post(
    '',
    {
      auth: 'account',
      operation: 'createOrganization',
      summary: 'Create organization',
      body: S.NewOrganization,
      data: S.OrganizationData,
      errors: ['too_many'],
    },
    (ctx, req) => createOrganization(ctx, req.body),
  );
});
