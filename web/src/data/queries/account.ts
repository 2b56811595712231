import { queryOptions } from '@tanstack/react-query';
import { client } from '../client.ts';
import { listed } from './listed.ts';

/** The SSH keys of whoever is signed in. */
export const sshKeys = queryOptions({
  queryKey: ['ssh-keys'],
  queryFn: async ({ signal }) =>
    (await client.get('/dashboard/account/ssh-keys', { query: { limit: 100 }, signal })).ssh_keys,
});

export const apiKeys = listed(['api-keys'], (from, signal) =>
  client.get('/dashboard/account/api-keys', { query: { limit: 50, ...from }, signal }),
);

/** Where whoever is signed in is signed in. */
export const sessions = listed(['sessions'], (from, signal) =>
  client.get('/dashboard/account/sessions', { query: { limit: 25, ...from }, signal }),
);

export const signIns = listed(['sign-ins'], (from, signal) =>
  client.get('/dashboard/account/sign-ins', { query: { limit: 10, ...from }, signal }),
);
