import { IdParams, routes } from '../platform/http/index.ts';
import { examples } from './examples.ts';
import * as S from './staffSchema.ts';
import { listUsers, readUser } from './userStaff.ts';

const people = { tag: 'Staff: people', about: 'Everybody who has an account.', examples };

/** Operators look after machines, which people own only through their organizations. */
const staffRoles = ['administrator', 'billing', 'support'];

export const userStaffRoutes = routes('/staff/users', people, (route) => {
  route.get(
    '',
    {
      auth: 'staff',
      staffRoles,
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
      operation: 'getUser',
      summary: 'Get user',
      description: 'One person. `GET /staff/organizations?user_id=` tells in which organizations they are.',
      params: IdParams,
      data: S.UserData,
      errors: ['not_found'],
    },
    (ctx, req) => readUser(ctx, req.params.id),
  );
});
