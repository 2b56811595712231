import { type Principal, routes } from '../../platform/http/index.ts';
import { fail } from '../../platform/index.ts';
import { examples } from '../examples.ts';
import * as S from '../signIn/schema.ts';
import { disableSecondFactor, enableSecondFactor, renewRecoveryCodes, setUpTotp } from './change.ts';

const group = {
  tag: 'Second factor',
  about: 'What you show beside your password: codes of an authenticator app.',
  examples,
};

// About the person, so whoever is in no organization names none. Answers hold secrets, which are kept nowhere.
const own = { auth: 'organization', organization: 'of-members', fresh: true, idempotency: 'off' } as const;

const guess = {
  limit: 'second-factor',
  isMade: () => true,
  keys: async (_ctx: unknown, { principal }: { principal: Principal }) => ({
    keys: [`s${sessionOf(principal)}`],
    byAddress: false,
  }),
  wrong: 'invalid_code',
  message: 'Too many wrong codes; wait as long as Retry-After says',
} as const;

export const factorRoutes = routes('/dashboard/account/2fa', group, (route) => {
  route.post(
    '/setup',
    {
      ...own,
      operation: 'setUpSecondFactor',
      summary: 'Set up an authenticator app',
      description: 'Makes a secret for the app. It counts once `enable` was shown a code of it.',
      data: S.NewSecondFactor,
      errors: ['second_factor_enabled', 'not_found'],
    },
    (ctx) => setUpTotp(ctx),
  );
  route.post(
    '/enable',
    {
      ...own,
      guess,
      operation: 'enableSecondFactor',
      summary: 'Enable the second factor',
      description:
        'With a code of the app. Answers with ten recovery codes, shown this once. The session goes on under a new cookie.',
      body: S.FirstCode,
      data: S.RecoveryCodes,
      errors: ['invalid_code', 'second_factor_enabled', 'second_factor_missing', 'not_found', 'forbidden'],
    },
    (ctx, req) => enableSecondFactor(ctx, sessionOf(req.principal), req.body.code, req.userAgent),
  );
  route.post(
    '/disable',
    {
      ...own,
      guess,
      operation: 'disableSecondFactor',
      summary: 'Disable the second factor',
      description:
        'With a code of the app or a recovery code. Sessions no longer count as signed in with one.',
      body: S.SecondFactor,
      data: S.SecondFactorDisabled,
      errors: ['invalid_code', 'second_factor_missing'],
    },
    (ctx, req) => disableSecondFactor(ctx, req.body, req.userAgent),
  );
  route.post(
    '/recovery-codes',
    {
      ...own,
      operation: 'renewRecoveryCodes',
      summary: 'Make new recovery codes',
      description: 'Ten, each good once instead of a code; those from before are good no more.',
      data: S.RecoveryCodes,
      errors: ['second_factor_missing'],
    },
    (ctx) => renewRecoveryCodes(ctx),
  );
});

function sessionOf({ sessionId }: Principal): number {
  if (typeof sessionId !== 'number') throw fail('session_required');
  return sessionId;
}
