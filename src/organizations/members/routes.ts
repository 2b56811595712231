import { IdParams, requireFresh, routes } from '../../platform/http/index.ts';
import { lockOrganization } from '../chosen.ts';
import { examples } from '../examples.ts';
import { changeRole, handOver, removeMember } from './change.ts';
import { listMembers, readMember } from './list.ts';
import * as S from './schema.ts';

const group = { tag: 'Members', about: 'Who acts for an organization, and as what.', examples };

const endangering = ['session_required', 'reauthentication_required'] as const;

export const memberRoutes = routes('/dashboard/organizations', group, (route) => {
  route.get(
    '/:id/members',
    {
      auth: 'organization',
      permission: 'members.read',
      operation: 'listOrganizationMembers',
      summary: 'List organization members',
      description:
        'Who acts for the organization, with their roles, and who was invited to; and what each role may do.',
      params: IdParams,
      query: S.MemberQuery,
      data: S.MemberList,
      errors: ['not_found'],
    },
    (ctx, req) => listMembers(ctx, req.params.id, req.query),
  );
  route.get(
    '/:id/members/:user_id',
    {
      auth: 'organization',
      permission: 'members.read',
      operation: 'getOrganizationMember',
      summary: 'Get organization member',
      description: 'One member of the organization.',
      params: S.MemberParams,
      data: S.MemberData,
      errors: ['not_found'],
      etag: { without: ['last_active_at'] },
    },
    (ctx, req) => readMember(ctx, req.params.id, req.params.user_id),
  );
  route.patch(
    '/:id/members/:user_id',
    {
      auth: 'organization',
      permission: 'members.manage',
      personal: true,
      operation: 'updateOrganizationMember',
      summary: 'Change the role of a member',
      description:
        'Owners alone make and lower owners. Whoever makes one, or lowers another one, is asked again who they are after ' +
        'ten minutes, and does it signed in. The last owner stays one.',
      params: S.MemberParams,
      body: S.MemberChange,
      data: S.MemberData,
      errors: ['not_found', 'last_owner', ...endangering],
      lock: (tx, req) => lockOrganization(tx, req.params.id),
    },
    (ctx, req) => {
      const { params, body, principal } = req;
      return changeRole(ctx, params.id, params.user_id, body.role, () => requireFresh(principal, ctx.clock));
    },
  );
  route.delete(
    '/:id/members/:user_id',
    {
      auth: 'organization',
      permission: 'members.read',
      personal: true,
      limit: 'revoke',
      operation: 'removeOrganizationMember',
      summary: 'Remove a member, or leave',
      description:
        'Everybody may leave, by their own id; removing others takes `members.manage`, and removing an owner another owner ' +
        'who proved lately who they are. The last owner stays.',
      params: S.MemberParams,
      data: S.MemberRemoved,
      errors: ['not_found', 'last_owner', ...endangering],
      lock: (tx, req) => lockOrganization(tx, req.params.id),
    },
    (ctx, req) => {
      const { params, principal } = req;
      return removeMember(ctx, params.id, params.user_id, () => requireFresh(principal, ctx.clock));
    },
  );
  route.post(
    '/:id/hand-over',
    {
      auth: 'organization',
      permission: 'members.manage',
      fresh: true,
      operation: 'handOverOrganization',
      summary: 'Hand over an organization',
      description: 'A member becomes its owner in your place, and you are an administrator of it afterwards.',
      params: IdParams,
      body: S.HandOver,
      data: S.MemberData,
      errors: ['not_found', 'conflict'],
    },
    (ctx, req) => handOver(ctx, req.params.id, req.body.user_id),
  );
});
