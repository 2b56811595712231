import { IdParams, routes } from '../platform/http/index.ts';
import { lockKey } from './apiKeys/change.ts';
import {
  listStaffKeys,
  makeStaffKey,
  readStaffKey,
  revokeStaffKey,
  rotateStaffKey,
} from './apiKeys/staffKeys.ts';
import { blockUser, lockCustomer, unblockUser } from './block.ts';
import { correctUser } from './correct.ts';
import { examples } from './examples.ts';
import { requireProof } from './proof.ts';
import * as Staff from './staff/schema.ts';
import * as S from './staffSchema.ts';
import { listUsers, readUser } from './userStaff.ts';

const people = { tag: 'Staff: people', about: 'Everybody who has an account.', examples };

/** Operators look after machines, which people own only through their organizations. */
const staffRoles = ['administrator', 'billing', 'support'];
const correctors = ['administrator', 'support'];

export const userStaffRoutes = routes('/staff/users', people, (route) => {
  route.get(
    '',
    {
      auth: 'staff',
      staffRoles,
      area: 'billing',
      operation: 'listUsers',
      summary: 'List users',
      description:
        'Everybody with an account, newest first, or those of an organization, of a status or with a role of staff.',
      query: S.UserQuery,
      data: S.UserList,
    },
    (ctx, req) => listUsers(ctx, req.query),
  );
  route.get(
    '/:id',
    {
      auth: 'staff',
      staffRoles,
      area: 'billing',
      operation: 'getUser',
      summary: 'Get user',
      description: 'One person. `GET /staff/organizations?user_id=` tells in which organizations they are.',
      params: IdParams,
      data: S.UserData,
      errors: ['not_found'],
      etag: { without: ['last_activity_at'] },
    },
    (ctx, req) => readUser(ctx, req.params.id),
  );
  route.patch(
    '/:id',
    {
      auth: 'staff',
      staffRoles: correctors,
      area: 'billing',
      operation: 'correctUser',
      summary: 'Correct user',
      description:
        'Corrects what a customer got wrong. The address to sign in with is theirs alone to change, and so are password, factors ' +
        'and keys.',
      params: IdParams,
      body: S.UserCorrection,
      data: S.UserData,
      errors: ['not_found', 'staff_account', 'conflict'],
      lock: (tx, req) => lockCustomer(tx, req.params.id),
    },
    (ctx, req) => correctUser(ctx, req.params.id, req.body),
  );
  route.post(
    '/:id/block',
    {
      auth: 'staff',
      staffRoles: correctors,
      area: 'billing',
      operation: 'blockUser',
      summary: 'Block user',
      description:
        'Ends the sessions of a customer and lets them in no more, with API keys neither. What they ordered goes on, and so do ' +
        'the others of their organizations.',
      params: IdParams,
      body: Staff.Blocking,
      data: S.UserData,
      errors: ['not_found', 'staff_account', 'conflict'],
    },
    (ctx, req) => blockUser(ctx, req.params.id, req.body.reason),
  );
  route.post(
    '/:id/unblock',
    {
      auth: 'staff',
      staffRoles: correctors,
      area: 'billing',
      operation: 'unblockUser',
      summary: 'Unblock user',
      description: 'Lets a customer in again.',
      params: IdParams,
      data: S.UserData,
      errors: ['not_found', 'staff_account', 'conflict'],
    },
    (ctx, req) => unblockUser(ctx, req.params.id),
  );
});

const keys = {
  tag: 'Staff: keys',
  about: "The API keys of the provider's people. A key is never mightier than the one that made it.",
  examples,
};

// Every key may see to keys: how far, the rules of each say.
const key = { auth: 'staff', area: 'any' } as const;

export const staffKeyRoutes = routes('/staff/keys', keys, (route) => {
  route.get(
    '',
    {
      ...key,
      operation: 'listStaffKeys',
      summary: 'List API keys of staff',
      description:
        'Your own keys; of an administrator, those of everybody in staff, or of one person. Revoked ones are gone.',
      query: S.StaffKeyQuery,
      data: S.StaffKeyList,
      errors: ['permission_denied'],
    },
    (ctx, req) => listStaffKeys(ctx, req.query),
  );
  route.get(
    '/:id',
    {
      ...key,
      operation: 'getStaffKey',
      summary: 'Get API key of staff',
      description: 'One key, without what it opens with.',
      params: IdParams,
      data: S.StaffKeyData,
      errors: ['not_found', 'permission_denied'],
      etag: true,
    },
    (ctx, req) => readStaffKey(ctx, req.params.id),
  );
  route.post(
    '',
    {
      ...key,
      operation: 'createStaffKey',
      summary: 'Create API key of staff',
      description:
        'Makes a key for yourself or, as an administrator, for somebody else of staff, who is told by mail. `token` is ' +
        'the whole key, shown this once. What the body leaves out is as with the key that asks.',
      body: S.NewStaffKey,
      data: S.StaffKeyMade,
      errors: ['not_found', 'permission_denied', 'conflict', 'too_many', 'reauthentication_required'],
    },
    (ctx, req) => {
      requireProof(req.principal, ctx.clock);
      return makeStaffKey(ctx, req.body);
    },
  );
  route.post(
    '/:id/rotate',
    {
      ...key,
      operation: 'rotateStaffKey',
      summary: 'Rotate API key of staff',
      description:
        'Makes a key that takes the place of one of yours, with its name and areas, for as long as that one was made ' +
        'for. The old one goes on for the overlap, so that programs can be told.',
      params: IdParams,
      body: S.KeyRotation,
      data: S.StaffKeyRotated,
      errors: ['not_found', 'permission_denied', 'conflict', 'too_many', 'reauthentication_required'],
    },
    (ctx, req) => {
      requireProof(req.principal, ctx.clock);
      return rotateStaffKey(ctx, req.params.id, req.body.overlap_hours ?? 24);
    },
  );
  route.delete(
    '/:id',
    {
      ...key,
      operation: 'revokeStaffKey',
      summary: 'Revoke API key of staff',
      description:
        "Ends a key of yours at once or, as an administrator, somebody else's, who is told by mail.",
      params: IdParams,
      query: S.KeyRevocation,
      data: S.StaffKeyRevoked,
      errors: ['not_found', 'permission_denied', 'last_key'],
      lock: (tx, req) => lockKey(tx, req.params.id),
    },
    (ctx, req) => revokeStaffKey(ctx, req.params.id, req.query.leave_none ?? false),
  );
});
