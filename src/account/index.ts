/**
 * People: who they are, the keys they sign in with, and the SSH keys they bring to their machines.
 */

import './errors.ts';
import './limits.ts';

export { type Area, areas, keptTo, type Scopes, wholeScopes } from './areas.ts';
export { createApiKey, hashKey, looksLikeKey, type NewApiKey, noteUse } from './keys.ts';
export { accountMails } from './mails.ts';
export { accountRoutes } from './routes.ts';
export { type SshKey, sshKeysOf } from './sshKeys.ts';
export { staffKeyRoutes, userStaffRoutes } from './staffRoutes.ts';
export {
  createUser,
  findStaffMember,
  isStaffRole,
  lockUser,
  type NewUser,
  type StaffRole,
  staffAddresses,
  staffRoles,
} from './users.ts';
