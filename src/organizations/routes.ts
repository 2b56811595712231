import { IdParams, routes } from '../platform/http/index.ts';
import { lockOrganization } from './chosen.ts';
import { examples } from './examples.ts';
import {
  createOrganization,
  listOrganizations,
  readOrganization,
  updateOrganization,
} from './organizations.ts';
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
        'The organizations that you belong to, with your role and what it allows. Their ids go into the header `x-organization-id`.',
      query: S.OrganizationQuery,
      data: S.OrganizationList,
    },
    (ctx, req) => listOrganizations(ctx, req.query),
  );
  route.post(
    '',
    {
      auth: 'account',
      area: 'all',
      personal: true,
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
  route.get(
    '/:id',
    {
      auth: 'organization',
      operation: 'getOrganization',
      summary: 'Get organization',
      description: 'The organization that the header chose.',
      params: IdParams,
      data: S.OrganizationData,
      errors: ['not_found'],
      etag: true,
    },
    (ctx, req) => readOrganization(ctx, req.params.id),
  );
  route.patch(
    '/:id',
    {
      auth: 'organization',
      permission: 'organization.manage',
      operation: 'updateOrganization',
      summary: 'Update organization',
      description:
        'Address and tax id are parts of the billing profile (`PATCH /dashboard/billing/profile`). To want no second factor ' +
        'any more (`require_2fa: false`) takes somebody signed in who proved in the last ten minutes who they are.',
      params: IdParams,
      body: S.OrganizationChange,
      data: S.OrganizationData,
      errors: ['not_found', 'second_factor_missing', 'session_required', 'reauthentication_required'],
      lock: (tx, req) => lockOrganization(tx, req.params.id),
    },
    (ctx, req) => updateOrganization(ctx, req.params.id, req.body, req.principal),
  );
});
