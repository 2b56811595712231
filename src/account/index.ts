/**
 * People: who they are, how they sign in (`signIn/`, `factors/`), where they are signed in (`sessions/`), the API keys of their
 * programs, and the SSH keys they bring to their machines. Every way of signing in ends in `openSession`.
 */

import './errors.ts';
import './limits.ts';

export { plainAddress } from './apiKeys/addressRange.ts';
export {
  type Area,
  type Areas,
  areas,
  isForOrganization,
  type KeyLimits,
  keptTo,
  limitsOfKey,
  wholeAreas,
} from './apiKeys/areas.ts';
export { createApiKey, hashKey, looksLikeKey, type NewApiKey, noteUse } from './apiKeys/create.ts';
export { warnOfEndingKeys } from './apiKeys/ending.ts';
export { apiKeyRoutes } from './apiKeys/routes.ts';
export { forgetClosed } from './closing/forget.ts';
export { closingRoutes } from './closing/routes.ts';
export { forgetDefaultOrganization } from './defaultOrganization.ts';
export { emailChangeRoutes } from './emailChange/routes.ts';
export { purgeEmailChanges } from './emailChange/rows.ts';
export { accountRegistered } from './events.ts';
export { isSecured } from './factors/factor.ts';
export { nextReset, resetFactors } from './factors/reset.ts';
export { factorResetRoutes, keepFactorsRoutes } from './factors/resetRoutes.ts';
export { factorRoutes } from './factors/routes.ts';
export { giveTotp, sealedFactors } from './factors/totp.ts';
export { peopleStaffFinds } from './finds.ts';
export { looksLikeImpersonation } from './impersonate/impersonate.ts';
export { impersonationRoutes } from './impersonate/routes.ts';
export { accountMails } from './mails.ts';
export { purgeChallenges } from './passkeys/challenge.ts';
export { passkeyRoutes, passkeySignInRoutes } from './passkeys/routes.ts';
export { accountPersonal } from './personal.ts';
export { restoreTelling, tellKeyOwners } from './restored.ts';
export { accountRoutes } from './routes.ts';
export { purgeSessions } from './sessions/end.ts';
export { forgetSignIns } from './sessions/forget.ts';
export { type Method, openSession, type Proven, type Visit } from './sessions/open.ts';
export { sessionRoutes } from './sessions/routes.ts';
export { hashToken, looksLikeSession } from './sessions/token.ts';
export { noteSession } from './sessions/use.ts';
export { EmailAddress } from './signIn/emailAddress.ts';
export { passwordLink, purgeLinks } from './signIn/links.ts';
export { addressRequests } from './signIn/register.ts';
export { purgeAddressRequests } from './signIn/requests.ts';
export { authRoutes } from './signIn/routes.ts';
export { type SshKey, sshKeysOf } from './sshKeys.ts';
export { staffAccountRoutes } from './staff/routes.ts';
export { staffKeyRoutes, userStaffRoutes } from './staffRoutes.ts';
export { unsubscribeRoutes } from './unsubscribeRoutes.ts';
export {
  createUser,
  findStaffMember,
  isStaffRole,
  lockAnyUser,
  lockUser,
  type NewUser,
  type StaffRole,
  staffAddresses,
  staffRoles,
} from './users.ts';
