import { Type } from 'typebox';
import {
  Id,
  IdParams,
  ListQuery,
  listOf,
  Nullable,
  named,
  routes,
  SortBy,
  Strict,
  Timestamp,
} from '../../platform/http/index.ts';
import { examples } from '../examples.ts';
import { endImpersonation, listImpersonations, startImpersonation } from './impersonate.ts';

const Person = named('ImpersonationPerson', Type.Object({ id: Id, email: Type.String() }), 'Who, by address');
const Impersonation = named(
  'Impersonation',
  Type.Object({
    id: Id,
    staff: Person,
    user: Person,
    organization_id: Nullable(Id),
    reason: Type.String(),
    read_only: Type.Boolean(),
    expires_at: Timestamp,
    ended_at: Nullable(Timestamp),
    created_at: Timestamp,
  }),
  'That staff acts as a customer for a while',
);
const ImpersonationData = named('ImpersonationAnswer', Type.Object({ impersonation: Impersonation }));
const ImpersonationStarted = named(
  'ImpersonationStarted',
  Type.Object({
    impersonation: Impersonation,
    token: Type.String({ description: 'For the header `token`; shown this once' }),
  }),
);
const NewImpersonation = named(
  'NewImpersonation',
  Strict({
    reason: Type.String({ minLength: 1, maxLength: 500, description: 'The customer reads it' }),
    organization_id: Type.Optional(Id),
    read_only: Type.Optional(Type.Boolean({ default: true })),
  }),
);

const group = {
  tag: 'Staff: impersonation',
  about: 'Seeing what a customer sees, for half an hour, with a reason that they read.',
  examples,
};
const staff = { auth: 'staff', staffRoles: ['administrator', 'support'] } as const;

export const impersonationRoutes = routes('/staff', group, (route) => {
  route.post(
    '/users/:id/impersonate',
    {
      ...staff,
      fresh: true,
      idempotency: 'off',
      operation: 'impersonateUser',
      summary: 'Impersonate user',
      description:
        'A token that acts as this customer in one organization, the first they joined unless you name another: reading alone ' +
        'unless you ask for more, never passwords, factors, keys and what opens machines, and for thirty minutes or until you sign out. Answers to ' +
        'it bear the header `x-impersonation`. The customer gets a mail with the reason, and finds all that is done in their activity.',
      params: IdParams,
      body: NewImpersonation,
      data: ImpersonationStarted,
      errors: ['not_found', 'staff_account', 'conflict'],
    },
    (ctx, req) => startImpersonation(ctx, req.params.id, req.body, req.principal),
  );
  route.get(
    '/impersonations',
    {
      ...staff,
      operation: 'listImpersonations',
      summary: 'List impersonations',
      description: 'Who of staff acted as whom and why, newest first.',
      query: ListQuery({
        user_id: Type.Optional(Id),
        staff_id: Type.Optional(Id),
        sort: SortBy(['created_at'], '-created_at'),
      }),
      data: named('ImpersonationList', listOf('impersonations', Impersonation)),
    },
    (ctx, req) => listImpersonations(ctx, req.query),
  );
  route.post(
    '/impersonations/:id/end',
    {
      ...staff,
      operation: 'endImpersonation',
      summary: 'End impersonation',
      description: "At once: your own or, as an administrator, anybody's.",
      params: IdParams,
      data: ImpersonationData,
      errors: ['not_found', 'permission_denied', 'conflict'],
    },
    (ctx, req) => endImpersonation(ctx, req.params.id),
  );
});
