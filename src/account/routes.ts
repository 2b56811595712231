import { IdParams, type RouteGroup, routes } from '../platform/http/index.ts';
import { examples } from './examples.ts';
import { type ReadCredit, readAccount } from './read.ts';
import * as S from './schema.ts';
import { createSshKey, deleteSshKey, listSshKeys, lockSshKey, readSshKey } from './sshKeys.ts';

const group = { tag: 'Account', about: 'Who you are, and the SSH keys that your machines let in.', examples };

// The specification (§5) asks for the organization header everywhere but on GET /dashboard/account.
export function accountRoutes(readCredit: ReadCredit): RouteGroup {
  return routes('/dashboard/account', group, (route) => {
    route.get(
      '',
      {
        auth: 'account',
        operation: 'getAccountDetails',
        summary: 'Get account details',
        description: 'The person that the key belongs to, and their keys. It needs no organization.',
        data: S.Account,
      },
      (ctx) => readAccount(ctx, readCredit),
    );
    route.get(
      '/ssh-keys',
      {
        auth: 'organization',
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
        auth: 'organization',
        operation: 'createSshKey',
        summary: 'Create SSH key',
        description: 'Machines ordered from now on let this key in.',
        body: S.NewSshKey,
        data: S.SshKeyData,
        errors: ['invalid_ssh_key', 'duplicate_ssh_key', 'too_many'],
      },
      (ctx, req) => createSshKey(ctx, req.body),
    );
    route.get(
      '/ssh-keys/:id',
      {
        auth: 'organization',
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
        auth: 'organization',
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
