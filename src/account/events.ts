import { event } from '../events/index.ts';

interface SshKeyCreated {
  name: string;
}

interface ApiKeyCreated {
  user_id: number;
  name: string;
  prefix: string;
  billing: boolean;
  shield: boolean;
  vps: boolean;
  expires_at: string | null;
  by_other: boolean;
}

interface ApiKeyRotated {
  user_id: number;
  name: string;
  replaced_by: number;
  ends_at: string;
}

interface ApiKeyRevoked {
  user_id: number;
  name: string;
  prefix: string;
  by_other: boolean;
}

export const apiKeyCreated = event<ApiKeyCreated>('api_key.created', 'an API key was made');
export const apiKeyRotated = event<ApiKeyRotated>(
  'api_key.rotated',
  'a new API key took the place of one, which goes on for a while',
);
export const apiKeyRevoked = event<ApiKeyRevoked>('api_key.revoked', 'an API key was revoked');
export const accountCreated = event('account.created', 'an account was made');
export const sshKeyCreated = event<SshKeyCreated>('ssh_key.created', 'an SSH key was added to an account');
export const sshKeyDeleted = event('ssh_key.deleted', 'an SSH key was removed from an account');
