/**
 * People: who they are, the keys they sign in with, and the SSH keys they bring to their machines.
 */

import './errors.ts';
import './limits.ts';

export { createApiKey, hashKey, looksLikeKey, type NewApiKey, noteUse } from './keys.ts';
export { accountRoutes } from './routes.ts';
export { type SshKey, sshKeysOf } from './sshKeys.ts';
export { userStaffRoutes } from './staffRoutes.ts';
export {
  createUser,
  isStaffRole,
  type NewUser,
  type StaffRole,
  staffAddresses,
  staffRoles,
} from './users.ts';
