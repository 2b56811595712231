import { routes } from '../platform/http/index.ts';
import { examples } from './examples.ts';
import { createOrganization, listOrganizations } from './organizations.ts';
import * as S from './schema.ts';

const group = {
  tag: 'Organizations',
  about: 'The companies and teams that you act for; they own services and invoices.',
  examples,
};

export const organizationRoutes = routes('/dashboard/organizations', group, (route) => {
  route.get(
    '',
    {
      auth: 'account',
      operation: 'listOrganizations',
      summary: 'List organizations',
      description:
        'The organizations that you belong to, with your role. Their ids go into the header `x-organization-id`.',
      query: S.OrganizationQuery,
      data: S.OrganizationList,
    },
    (ctx, req) => listOrganizations(ctx, req.query),
  );
  route.post(
    '',
    {
      auth: 'account',
      operation: 'createOrganization',
      summary: 'Create organization',
      description:
        'Founds an organization with you as its owner. The country decides the tax on its invoices.',
      body: S.NewOrganization,
      data: S.OrganizationData,
      errors: ['too_many'],
    },
    (ctx, req) => createOrganization(ctx, req.body),
  );
});
