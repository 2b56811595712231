import { Type } from 'typebox';
import { Id, IdParams, named, routes, Strict, Timestamp } from '../../platform/http/index.ts';
import { examples } from '../examples.ts';
import { budgetOf } from '../sessions/cookies.ts';
import { LinkOnly } from '../signIn/schema.ts';
import { askForReset, keepFactors, lockReset, readFactorReset, revokeReset } from './reset.ts';

const FactorReset = named(
  'FactorReset',
  Type.Object({
    user_id: Id,
    asked_by: Type.Object({ id: Id, email: Type.String() }),
    reason: Type.String(),
    due_at: Timestamp,
    created_at: Timestamp,
  }),
  'Second factors of an account that will be taken away, unless its person stops it',
);
const FactorResetData = named('FactorResetAnswer', Type.Object({ factor_reset: FactorReset }));
const NewFactorReset = named(
  'NewFactorReset',
  Strict({
    reason: Type.String({
      minLength: 1,
      maxLength: 500,
      description: 'How you made sure that it is this person who asks; staff reads it later',
    }),
  }),
);
const FactorResetStopped = named('FactorResetStopped', Type.Object({ stopped: Type.Boolean() }));
const FactorsKept = named('FactorsKept', Type.Object({ kept: Type.Boolean() }));

const group = {
  tag: 'Staff: lost factors',
  about: 'What staff does for who lost phone, passkeys and recovery codes.',
  examples,
};
const staff = { auth: 'staff', staffRoles: ['administrator', 'support'], params: IdParams } as const;

export const factorResetRoutes = routes('/staff/users/:id/factor-reset', group, (route) => {
  route.get(
    '',
    {
      ...staff,
      operation: 'getFactorReset',
      summary: 'Get reset of factors',
      description: 'What was asked for and waits.',
      data: FactorResetData,
      errors: ['not_found'],
      etag: true,
    },
    (ctx, req) => readFactorReset(ctx, req.params.id),
  );
  route.post(
    '',
    {
      ...staff,
      fresh: true,
      operation: 'askForFactorReset',
      summary: 'Ask for a reset of factors',
      description:
        'Tells the person by a mail whose link stops it. Three days after that mail left, authenticator app, passkeys and ' +
        'recovery codes are gone, sessions end, and the password alone signs in. For staff, an administrator asks.',
      body: NewFactorReset,
      data: FactorResetData,
      errors: ['not_found', 'second_factor_missing', 'conflict', 'permission_denied'],
    },
    (ctx, req) => askForReset(ctx, req.params.id, req.body.reason),
  );
  route.delete(
    '',
    {
      ...staff,
      fresh: true,
      operation: 'revokeFactorReset',
      summary: 'Revoke reset of factors',
      description: 'Takes back what was asked for; the person is told.',
      data: FactorResetStopped,
      errors: ['not_found', 'permission_denied'],
      lock: (tx, req) => lockReset(tx, req.params.id),
    },
    (ctx, req) => revokeReset(ctx, req.params.id),
  );
});

export const keepFactorsRoutes = routes('/auth/second-factor', { tag: 'Sign-in', examples }, (route) => {
  route.post(
    '/keep',
    {
      auth: 'public',
      actor: 'visitor',
      budget: budgetOf,
      limit: 'sign-in',
      operation: 'keepFactors',
      summary: 'Keep the second factor',
      description:
        'Stops that staff takes the second factors of an account away, by the link in the mail that tells of it.',
      body: LinkOnly,
      data: FactorsKept,
      errors: ['invalid_link'],
    },
    (ctx, req) => keepFactors(ctx, req.body.token),
  );
});
