import { IdParams, routes } from '../../platform/http/index.ts';
import { examples } from '../examples.ts';
import {
  addMember,
  blockMember,
  changeMember,
  lockForChange,
  removeMember,
  unblockMember,
} from './change.ts';
import { listMembers, readMember } from './list.ts';
import * as S from './schema.ts';

const group = {
  tag: 'Staff: staff',
  about: "The accounts of the provider's people. Administrators make, change and block them.",
  examples,
};

const read = { auth: 'staff', staffRoles: ['administrator'] } as const;
/** Nobody makes themselves mightier with a key that they found, or at a browser that was left open. */
const change = { ...read, fresh: true, idempotency: 'off' } as const;

export const staffAccountRoutes = routes('/staff/staff', group, (route) => {
  route.get(
    '',
    {
      ...read,
      operation: 'listStaff',
      summary: 'List staff',
      description: "The provider's people, newest first, or those with a role or of a status.",
      query: S.MemberQuery,
      data: S.MemberList,
    },
    (ctx, req) => listMembers(ctx, req.query),
  );
  route.post(
    '',
    {
      ...change,
      operation: 'addStaff',
      summary: 'Add staff',
      description:
        'Makes an account of staff. A mail brings the link that sets its password; then a passkey or an authenticator app ' +
        'is to be set up, before the first route of staff.',
      body: S.NewMember,
      data: S.MemberData,
      errors: ['email_taken', 'not_found'],
    },
    (ctx, req) => addMember(ctx, req.body),
  );
  route.get(
    '/:id',
    {
      ...read,
      operation: 'getStaff',
      summary: 'Get staff',
      description: "One of the provider's people.",
      params: IdParams,
      data: S.MemberData,
      errors: ['not_found'],
      etag: { without: ['last_activity_at'] },
    },
    (ctx, req) => readMember(ctx, req.params.id),
  );
  route.patch(
    '/:id',
    {
      ...change,
      operation: 'updateStaff',
      summary: 'Update staff',
      description: 'Changes name or role. With another role, sessions of this person end.',
      params: IdParams,
      body: S.MemberChange,
      data: S.MemberData,
      errors: ['not_found', 'last_administrator'],
      lock: (tx, req) => lockForChange(tx, req.params.id),
    },
    (ctx, req) => changeMember(ctx, req.params.id, req.body),
  );
  route.delete(
    '/:id',
    {
      ...change,
      operation: 'removeStaff',
      summary: 'Remove staff',
      description: 'Takes the role away and ends the sessions. The account stays, as one of a customer.',
      params: IdParams,
      data: S.MemberRemoved,
      errors: ['not_found', 'last_administrator'],
      lock: (tx, req) => lockForChange(tx, req.params.id),
    },
    (ctx, req) => removeMember(ctx, req.params.id),
  );
  route.post(
    '/:id/block',
    {
      ...change,
      operation: 'blockStaff',
      summary: 'Block staff',
      description: 'Ends the sessions of this person and lets them in no more, with keys neither.',
      params: IdParams,
      body: S.Blocking,
      data: S.MemberData,
      errors: ['not_found', 'last_administrator', 'conflict'],
    },
    (ctx, req) => blockMember(ctx, req.params.id, req.body.reason),
  );
  route.post(
    '/:id/unblock',
    {
      ...change,
      operation: 'unblockStaff',
      summary: 'Unblock staff',
      description: 'Lets this person in again; keys that were not revoked work again.',
      params: IdParams,
      data: S.MemberData,
      errors: ['not_found', 'conflict'],
    },
    (ctx, req) => unblockMember(ctx, req.params.id),
  );
});
