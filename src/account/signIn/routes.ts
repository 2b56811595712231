import { type Req, type RouteGroup, routes } from '../../platform/http/index.ts';
import { fail } from '../../platform/index.ts';
import { examples } from '../examples.ts';
import { budgetOf } from '../sessions/cookies.ts';
import { showFactor } from './challenge.ts';
import { guessesAt, guessesAtFactor } from './guesses.ts';
import { logOut, reauthenticate } from './leave.ts';
import { logIn } from './logIn.ts';
import { forgetPassword, register, resendVerification } from './register.ts';
import { confirmEmail, resetPassword } from './reset.ts';
import * as S from './schema.ts';

const group = {
  tag: 'Sign-in',
  about: 'How people get in by themselves: registration, sessions, forgotten passwords.',
  examples,
};

const stranger = { auth: 'public', actor: 'visitor', budget: budgetOf } as const;
// A session's cookie belongs to this one answer.
const signedIn = { auth: 'account', sessionOnly: true, idempotency: 'off' } as const;
const tooManyWrong =
  'Too many wrong passwords; wait as long as Retry-After says, or use a browser in which you signed in before';
const tooManyCodes = 'Too many wrong codes; wait as long as Retry-After says';

export const authRoutes: RouteGroup = routes('/auth', group, (route) => {
  route.post(
    '/register',
    {
      ...stranger,
      operation: 'register',
      summary: 'Register',
      description:
        'Makes an account and your first organization, where everybody may or you were invited. The answer is the same for every address: a mail brings the link ' +
        'that confirms it or, where there is an account already, says so. Whoever may not register gets none.',
      body: S.Registration,
      data: S.MailSent,
      limit: 'registration',
      errors: ['password_refused'],
    },
    (ctx, req) => register(ctx, req.body, req.headers['accept-language']?.toString()),
  );
  route.post(
    '/email/verify',
    {
      ...stranger,
      operation: 'verifyEmail',
      summary: 'Confirm an address',
      description: 'By the link that was sent to it. Until then nobody signs in with it.',
      body: S.LinkOnly,
      data: S.EmailVerified,
      limit: 'sign-in',
      errors: ['invalid_link'],
    },
    (ctx, req) => confirmEmail(ctx, req.body.token),
  );
  route.post(
    '/email/resend',
    {
      ...stranger,
      operation: 'resendVerification',
      summary: 'Send the link again that confirms an address',
      description: 'The answer is the same for every address.',
      body: S.ByAddress,
      data: S.MailSent,
      limit: 'mail-link',
    },
    (ctx, req) => resendVerification(ctx, req.body.email),
  );
  route.post(
    '/login',
    {
      ...stranger,
      operation: 'logIn',
      summary: 'Sign in',
      description:
        'Opens a session. It is the cookie `__Host-innkeeper`, which browsers keep over https and at localhost alone; its ' +
        'value works in the header `token` too. An address that is not confirmed is refused as a wrong password is: ' +
        'else registering it and signing in would tell whether it has an account.',
      body: S.Credentials,
      data: S.SignedIn,
      limit: 'sign-in',
      guess: {
        limit: 'password',
        isMade: () => true,
        keys: (ctx, req) => guessesAt(ctx, req.body.email, req),
        wrong: 'invalid_credentials',
        message: tooManyWrong,
      },
      errors: [
        ...(['invalid_credentials', 'account_blocked'] as const),
        ...(['insecure_connection', 'origin_refused'] as const),
      ],
    },
    (ctx, req) => logIn(ctx, req.body, req),
  );
  route.post(
    '/login/2fa',
    {
      ...stranger,
      operation: 'showSecondFactor',
      summary: 'Show the second factor',
      description:
        'Goes on from a sign-in that wants one (`second_factor_required`), by its cookie. It has ten minutes.',
      body: S.SecondFactor,
      data: S.SignedIn,
      limit: 'sign-in',
      guess: {
        limit: 'second-factor',
        isMade: () => true,
        keys: (ctx, req) => guessesAtFactor(ctx, req),
        wrong: 'invalid_code',
        message: tooManyCodes,
      },
      errors: ['unauthorized', 'invalid_code', 'insecure_connection', 'origin_refused'],
    },
    (ctx, req) => showFactor(ctx, req.body, req),
  );
  route.post(
    '/logout',
    {
      ...signedIn,
      limit: 'revoke',
      operation: 'logOut',
      summary: 'Sign out',
      description: 'Ends the session that asks.',
      data: S.SignedOut,
      errors: ['not_found', 'forbidden'],
    },
    (ctx, req) => logOut(ctx, sessionOf(req)),
  );
  route.post(
    '/reauthenticate',
    {
      ...signedIn,
      operation: 'reauthenticate',
      summary: 'Prove again who you are',
      description:
        'What endangers the account asks for this when you signed in more than ten minutes ago. The session goes on under ' +
        'a new cookie.',
      body: S.Proof,
      data: S.Proven,
      limit: 'sign-in',
      guess: {
        limit: 'password',
        isMade: () => true,
        keys: async (_ctx, req) => ({ keys: [`s${sessionOf(req)}`], byAddress: false }),
        wrong: 'invalid_credentials',
        message: tooManyWrong,
      },
      errors: ['invalid_credentials', 'not_found', 'forbidden'],
    },
    (ctx, req) => reauthenticate(ctx, sessionOf(req), req.body.password, req),
  );
  route.post(
    '/password/forgot',
    {
      ...stranger,
      operation: 'forgetPassword',
      summary: 'Have a password set anew',
      description: 'Sends a link, good once and for an hour. The answer is the same for every address.',
      body: S.ByAddress,
      data: S.MailSent,
      limit: 'mail-link',
    },
    (ctx, req) => forgetPassword(ctx, req.body.email),
  );
  route.post(
    '/password/reset',
    {
      ...stranger,
      operation: 'resetPassword',
      summary: 'Set a password by a link',
      description: 'Ends all sessions of the account. API keys go on.',
      body: S.NewPasswordByLink,
      data: S.PasswordSet,
      limit: 'sign-in',
      errors: ['invalid_link', 'password_refused', 'not_found'],
    },
    (ctx, req) => resetPassword(ctx, req.body.token, req.body.password),
  );
});

function sessionOf({ principal }: Pick<Req<unknown, unknown, unknown, 'account'>, 'principal'>): number {
  if (typeof principal.sessionId !== 'number') throw fail('session_required');
  return principal.sessionId;
}
