import { IdParams, routes } from '../platform/http/index.ts';
import { readAccount } from './read.ts';
import * as S from './schema.ts';
import { createSshKey, deleteSshKey, listSshKeys } from './sshKeys.ts';

// The specification (§5) asks for the organization header everywhere but on GET /dashboard/account.
export const accountRoutes = routes('/dashboard/account', { tag: 'Account' }, (route) => {
  route.get(
    '',
    { auth: 'account', operation: 'getAccountDetails', summary: 'Get account details', data: S.Account },
    (ctx) => readAccount(ctx),
  );
  route.get(
    '/ssh-keys',
    {
      auth: 'organization',
      operation: 'listSshKeys',
      summary: 'List SSH keys',
      query: S.SshKeyQuery,
      data: S.SshKeyList,
      errors: ['invalid_cursor'],
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
  route.delete(
    '/ssh-keys/:id',
    {
      auth: 'organization',
      operation: 'deleteSshKey',
      summary: 'Delete SSH key',
      params: IdParams,
      data: S.Deleted,
      errors: ['not_found'],
    },
    (ctx, req) => deleteSshKey(ctx, req.params.id),
  );
});
