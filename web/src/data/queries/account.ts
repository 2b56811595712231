import { queryOptions } from '@tanstack/react-query';
import { client } from '../client.ts';

/** The SSH keys of whoever is signed in. */
export const sshKeys = queryOptions({
  queryKey: ['ssh-keys'],
  queryFn: async ({ signal }) =>
    (await client.get('/dashboard/account/ssh-keys', { query: { limit: 100 }, signal })).ssh_keys,
});
