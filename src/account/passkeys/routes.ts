import { IdParams, type Principal, routes } from '../../platform/http/index.ts';
import { fail } from '../../platform/index.ts';
import { examples } from '../examples.ts';
import { budgetOf } from '../sessions/cookies.ts';
import * as SignIn from '../signIn/schema.ts';
import { lockUser } from '../users.ts';
import { addPasskey, askForNewPasskey } from './add.ts';
import { removePasskey, renamePasskey } from './change.ts';
import { listPasskeys, readPasskey } from './list.ts';
import * as S from './schema.ts';
import { askToReauthenticate, askToSignIn, reauthenticateByPasskey, signInByPasskey } from './signIn.ts';

const group = {
  tag: 'Passkeys',
  about: 'Keys on your devices that sign you in instead of a password, or after it.',
  examples,
};

// About the person, so whoever is in no organization names none.
const own = { auth: 'organization', organization: 'of-members' } as const;
/** What changes by itself while somebody looks. */
const etag = { without: ['last_used'] };
const lock = (tx: Parameters<typeof lockUser>[0] & { actor: { userId: number } }) =>
  lockUser(tx, tx.actor.userId);

export const passkeyRoutes = routes('/dashboard/account/passkeys', group, (route) => {
  route.get(
    '',
    {
      ...own,
      operation: 'listPasskeys',
      summary: 'List passkeys',
      description: 'The passkeys of your account.',
      query: S.PasskeyQuery,
      data: S.PasskeyList,
    },
    (ctx, req) => listPasskeys(ctx, req.query),
  );
  route.post(
    '/options',
    {
      ...own,
      fresh: true,
      idempotency: 'off',
      operation: 'askForNewPasskey',
      summary: 'Begin to add a passkey',
      description: 'What the browser makes a passkey of. It is good once and for five minutes.',
      data: S.CreationOptions,
      errors: ['too_many', 'not_found'],
    },
    (ctx, req) => askForNewPasskey(ctx, sessionOf(req.principal)),
  );
  route.post(
    '/verify',
    {
      ...own,
      // Who it is was asked with the options, which are good for this session and minutes.
      sessionOnly: true,
      idempotency: 'off',
      operation: 'addPasskey',
      summary: 'Add a passkey',
      description:
        'From now on it signs you in, and your password alone does not. The session goes on under a new cookie. When it is ' +
        'the first factor of your account, your other sessions end, and ten recovery codes come with it.',
      body: S.NewPasskey,
      data: S.PasskeyAdded,
      errors: ['passkey_refused', 'duplicate_passkey', 'too_many', 'not_found', 'forbidden'],
    },
    (ctx, req) => addPasskey(ctx, sessionOf(req.principal), req.body),
  );
  route.get(
    '/:id',
    {
      ...own,
      operation: 'getPasskey',
      summary: 'Get passkey',
      description: 'One passkey of your account.',
      params: IdParams,
      data: S.PasskeyData,
      errors: ['not_found', 'forbidden'],
      etag,
    },
    (ctx, req) => readPasskey(ctx, req.params.id),
  );
  route.patch(
    '/:id',
    {
      ...own,
      sessionOnly: true,
      operation: 'renamePasskey',
      summary: 'Rename passkey',
      description: 'Gives a passkey of your account another name.',
      params: IdParams,
      body: S.PasskeyName,
      data: S.PasskeyData,
      errors: ['not_found', 'forbidden'],
      lock,
    },
    (ctx, req) => renamePasskey(ctx, req.params.id, req.body.name),
  );
  route.delete(
    '/:id',
    {
      ...own,
      fresh: true,
      limit: 'revoke',
      operation: 'removePasskey',
      summary: 'Remove passkey',
      description:
        'Nobody signs in with it any more. When it was the last factor of your account, the recovery codes go with it.',
      params: IdParams,
      data: S.PasskeyRemoved,
      errors: ['not_found', 'forbidden'],
      lock,
    },
    (ctx, req) => removePasskey(ctx, req.params.id),
  );
});

const signInGroup = { tag: 'Sign-in', examples };
const stranger = { auth: 'public', actor: 'visitor', budget: budgetOf, limit: 'sign-in' } as const;
const signedIn = { auth: 'account', sessionOnly: true, idempotency: 'off', limit: 'sign-in' } as const;

export const passkeySignInRoutes = routes('/auth', signInGroup, (route) => {
  route.post(
    '/passkeys/options',
    {
      ...stranger,
      limit: 'passkey-offer',
      operation: 'askForPasskey',
      summary: 'Begin to sign in with a passkey',
      description:
        'What the browser shows a passkey for, also in its autofill: good once and for five minutes. With ' +
        '`second_factor`, it goes on from a sign-in that wants one, by its cookie.',
      body: S.PasskeyWish,
      data: S.RequestOptions,
      errors: ['unauthorized', 'insecure_connection', 'origin_refused'],
    },
    (ctx, req) => askToSignIn(ctx, req.body.second_factor ?? false, req),
  );
  route.post(
    '/passkeys/verify',
    {
      ...stranger,
      operation: 'signInWithPasskey',
      summary: 'Sign in with a passkey',
      description:
        'Opens a session, as signing in with a password does. It counts as signed in with a second factor.',
      body: S.ShownPasskey,
      data: SignIn.SignedIn,
      errors: [
        ...(['invalid_passkey', 'passkey_went_back', 'unauthorized', 'email_unverified'] as const),
        ...(['account_blocked', 'insecure_connection', 'origin_refused', 'not_found'] as const),
      ],
    },
    (ctx, req) => signInByPasskey(ctx, req.body.credential, req.body.second_factor ?? false, req),
  );
  route.post(
    '/reauthenticate/passkey/options',
    {
      ...signedIn,
      operation: 'askForPasskeyAgain',
      summary: 'Begin to prove again who you are',
      description: 'What the browser shows a passkey of yours for, instead of a password.',
      data: S.RequestOptions,
    },
    (ctx, req) => askToReauthenticate(ctx, sessionOf(req.principal)),
  );
  route.post(
    '/reauthenticate/passkey',
    {
      ...signedIn,
      operation: 'reauthenticateWithPasskey',
      summary: 'Prove again who you are with a passkey',
      description: 'Counts as `POST /auth/reauthenticate` does. The session goes on under a new cookie.',
      body: S.PasskeyProof,
      data: SignIn.Proven,
      errors: ['invalid_passkey', 'passkey_went_back', 'not_found', 'forbidden'],
    },
    (ctx, req) => reauthenticateByPasskey(ctx, sessionOf(req.principal), req.body.credential, req),
  );
});

function sessionOf({ sessionId }: Principal): number {
  if (typeof sessionId !== 'number') throw fail('session_required');
  return sessionId;
}
