import { event } from '../events/index.ts';

interface SshKeyCreated {
  name: string;
}

export const accountCreated = event('account.created', 'an account was made');
export const sshKeyCreated = event<SshKeyCreated>('ssh_key.created', 'an SSH key was added to an account');
export const sshKeyDeleted = event('ssh_key.deleted', 'an SSH key was removed from an account');
