import { IdParams, type Principal, type RouteGroup, routes } from '../platform/http/index.ts';
import { type AccountChange, changeAccount } from './change.ts';
import { examples } from './examples.ts';
import { changePreferences, type Preferences } from './preferences.ts';
import { requireProof } from './proof.ts';
import { readAccount, type Upstairs } from './read.ts';
import * as S from './schema.ts';
import { createSshKey, deleteSshKey, listSshKeys, lockSshKey, readSshKey } from './sshKeys.ts';
import { lockUser } from './users.ts';

const group = { tag: 'Account', about: 'Who you are, and the SSH keys that your machines let in.', examples };

// About the person, so whoever is in no organization names none.
const own = { auth: 'organization', organization: 'of-members' } as const;

/** Whoever has a session could try passwords by it. */
const guess = {
  limit: 'password',
  isMade: ({ body }: { body: AccountChange }) => body.current_password !== undefined,
  keys: async (_ctx: unknown, { principal }: { principal: Principal }) => ({
    keys: [`s${principal.sessionId}`],
    byAddress: false,
  }),
  wrong: 'invalid_credentials',
  message: 'Too many wrong passwords; wait as long as Retry-After says',
} as const;

// The specification (§5) asks for the organization header everywhere but on GET /dashboard/account.
export function accountRoutes(upstairs: Upstairs): RouteGroup {
  return routes('/dashboard/account', group, (route) => {
    route.get(
      '',
      {
        auth: 'account',
        operation: 'getAccountDetails',
        summary: 'Get account details',
        description:
          'The person that the key belongs to, and their keys. It needs no organization. For somebody of staff `staff` says what ' +
          'they may call.',
        data: S.Account,
        etag: {
          without: ['lastActivity', 'lastUsed', 'last_used', 'last_used_ip', 'credit', 'events_position'],
        },
      },
      (ctx, req) => readAccount(ctx, req.principal, upstairs),
    );
    route.patch(
      '',
      {
        ...own,
        area: 'all',
        guess,
        operation: 'updateAccountDetails',
        summary: 'Update account details',
        description:
          'What is absent stays, null clears. Another `email` counts once the link in the mail to it is followed, and can be ' +
          'taken back from the old one for seven days; it and `password` are for sessions alone. `password` comes with ' +
          '`current_password`, ends all other sessions, and the session goes on under a new cookie.',
        body: S.AccountChange,
        data: S.Account,
        errors: [
          ...([
            'invalid_credentials',
            'password_refused',
            'session_required',
            'reauthentication_required',
          ] as const),
          ...(['too_many', 'not_found', 'forbidden'] as const),
        ],
        lock: (tx) => lockUser(tx, tx.actor.userId),
      },
      (ctx, req) => changeAccount(ctx, req.body as AccountChange, req, upstairs),
    );
    route.post(
      '/preferences',
      {
        ...own,
        area: 'all',
        operation: 'updatePreferences',
        summary: 'Update preferences',
        description: 'Those that are named; the others stay as they are.',
        body: S.NewPreferences,
        data: S.PreferencesData,
      },
      (ctx, req) => changePreferences(ctx, req.body as Partial<Preferences>),
    );
    route.get(
      '/ssh-keys',
      {
        ...own,
        operation: 'listSshKeys',
        summary: 'List SSH keys',
        description: 'The SSH keys of your account.',
        query: S.SshKeyQuery,
        data: S.SshKeyList,
      },
      (ctx, req) => listSshKeys(ctx, req.query),
    );
    route.post(
      '/ssh-keys',
      {
        ...own,
        area: 'all',
        limit: 'new-key',
        operation: 'createSshKey',
        summary: 'Create SSH key',
        description:
          'Machines ordered from now on let this key in, so you are told by mail. Whoever is signed in proved in the last ten ' +
          'minutes who they are; an API key is its own proof.',
        body: S.NewSshKey,
        data: S.SshKeyData,
        errors: ['invalid_ssh_key', 'duplicate_ssh_key', 'too_many', 'reauthentication_required'],
      },
      (ctx, req) => {
        requireProof(req.principal, ctx.clock);
        return createSshKey(ctx, req.body);
      },
    );
    route.get(
      '/ssh-keys/:id',
      {
        ...own,
        operation: 'getSshKey',
        summary: 'Get SSH key',
        description: 'One SSH key of your account.',
        params: IdParams,
        data: S.SshKeyData,
        errors: ['not_found'],
        etag: true,
      },
      (ctx, req) => readSshKey(ctx, req.params.id),
    );
    route.delete(
      '/ssh-keys/:id',
      {
        ...own,
        area: 'all',
        operation: 'deleteSshKey',
        summary: 'Delete SSH key',
        description:
          'Machines that have the key already keep it; take it away there with their own list of keys.',
        params: IdParams,
        data: S.Deleted,
        errors: ['not_found'],
        lock: (tx, req) => lockSshKey(tx, req.params.id),
      },
      (ctx, req) => deleteSshKey(ctx, req.params.id),
    );
  });
}
