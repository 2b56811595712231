import { routes } from '../platform/http/index.ts';
import { createOrganization, listOrganizations } from './organizations.ts';
import * as S from './schema.ts';

export const organizationRoutes = routes('/dashboard/organizations', { tag: 'Organizations' }, (route) => {
  route.get('', { auth: 'account', summary: 'List organizations', data: S.OrganizationList }, (ctx) =>
    listOrganizations(ctx),
  );
  route.post(
    '',
    { auth: 'account', summary: 'Create organization', body: S.NewOrganization, data: S.OrganizationData },
    (ctx, req) => createOrganization(ctx, req.body),
  );
});
