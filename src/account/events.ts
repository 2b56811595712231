import { event } from '../events/index.ts';

interface SshKeyCreated {
  user_id: number;
  name: string;
  fingerprint: string;
}

interface SshKeyDeleted {
  user_id: number;
  name: string;
  fingerprint: string;
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
  by_self: boolean;
  scopes: string[] | null;
  organization_ids: number[] | null;
  ip_allowlist: string[] | null;
  test: boolean;
}

interface ApiKeyChanged {
  user_id: number;
  name: string;
  fields: string[];
}

interface ApiKeyEnding {
  user_id: number;
  name: string;
  prefix: string;
  expires_at: string;
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

interface AccountRegistered {
  user_id: number;
  organization_name: string;
  country: string | null;
  link_id: number;
}

interface LinkSent {
  user_id: number;
  link_id: number;
}

interface AboutAccount {
  user_id: number;
}

interface PasswordReset {
  user_id: number;
  sessions_ended: number;
}

interface SessionOpened {
  user_id: number;
  session_id: number;
  method: 'password' | 'passkey';
  second_factor: boolean;
  user_agent: string | null;
  new_device: boolean;
}

interface SignInRefused {
  user_id: number;
  reason: 'wrong_password' | 'wrong_code' | 'wrong_passkey';
  user_agent: string | null;
}

interface AboutPasskey {
  user_id: number;
  passkey_id: number;
  name: string;
}

interface StaffAdded {
  user_id: number;
  role: string;
  link_id: number;
}

interface StaffChanged {
  user_id: number;
  role: string;
  was: string;
}

interface StaffRemoved {
  user_id: number;
  was: string;
}

interface FactorResetAsked {
  user_id: number;
  reason: string;
  link_id: number;
  due_at: string;
}

interface ImpersonationStarted {
  user_id: number;
  reason: string;
  read_only: boolean;
  ends_at: string;
}

interface AccountCorrected {
  user_id: number;
  fields: string[];
}

interface AccountPutBack {
  user_id: number;
  /** When the backup was made. */
  made_at: string;
  /** How many of its keys are good. */
  api_keys: number;
}

interface AccountBlocked {
  user_id: number;
  reason: string;
}

interface AccountClosed {
  user_id: number;
  email_change_id: number;
  organization_ids: number[];
}

interface SessionEnded {
  user_id: number;
  session_id: number;
}

interface SessionsEnded {
  user_id: number;
  count: number;
}

interface AccountChanged {
  user_id: number;
  fields: string[];
}

interface EmailChanging {
  user_id: number;
  email_change_id: number;
}

interface EmailChangeRevoked {
  user_id: number;
  link_id: number;
  sessions_ended: number;
  /** Names of the SSH keys that were added meanwhile and are gone; machines may have them. */
  ssh_keys: string[];
}

export const accountRegistered = event<AccountRegistered>(
  'account.registered',
  'a stranger registered; their first organization follows, and the address is to be confirmed',
);
export const registrationRepeated = event<LinkSent>(
  'account.registration_repeated',
  'somebody registered with the address of an account that there is',
);
export const verificationSent = event<LinkSent>(
  'account.verification_sent',
  'somebody asked for the link again that confirms an address',
);
export const emailVerified = event<AboutAccount>('account.email_verified', 'an address was confirmed');
export const passwordForgotten = event<LinkSent>(
  'password.forgotten',
  'somebody asked for a link by which a password is set anew',
);
export const passwordReset = event<PasswordReset>(
  'password.reset',
  'a password was set anew by a link, and all sessions ended',
);
export const accountChanged = event<AccountChanged>(
  'account.updated',
  'somebody changed what their account says of them, or their preferences',
);
export const passwordChanged = event<PasswordReset>(
  'password.changed',
  'somebody set another password by showing the one before, and their other sessions ended',
);
export const emailChangeAsked = event<EmailChanging>(
  'email_change.asked',
  'somebody wants their account to have another address, which is to be confirmed there',
);
export const emailChangeTold = event<EmailChanging>(
  'email_change.told',
  'the address that an account has was told that it is to have another one',
);
export const emailChangeRefused = event<EmailChanging>(
  'email_change.refused',
  'somebody wants for their account the address of another one',
);
export const emailChanged = event<EmailChanging>(
  'email_change.confirmed',
  'an account has another address; from the one before it can be taken back for a week',
);
export const emailChangeRevoked = event<EmailChangeRevoked>(
  'email_change.revoked',
  'an account has its address of before again: its sessions ended, and its password is to be set anew',
);
export const addressHeld = event<EmailChanging>(
  'email_change.address_held',
  'a stranger registered with an address that an account gave up less than a week ago',
);
export const sessionOpened = event<SessionOpened>('session.opened', 'somebody signed in');
export const signInRefused = event<SignInRefused>(
  'sign_in.refused',
  'somebody tried to sign in to an account',
);
export const sessionProven = event<SessionEnded>(
  'session.proven',
  'somebody signed in proved again who they are',
);
export const sessionEnded = event<SessionEnded>(
  'session.ended',
  'a session was ended, by signing out or from elsewhere',
);
export const sessionsEnded = event<SessionsEnded>(
  'session.others_ended',
  'somebody ended all their other sessions',
);
export const secondFactorSetUp = event<AboutAccount>(
  'second_factor.set_up',
  'somebody got the secret for an authenticator app, which does not count yet',
);
export const secondFactorEnabled = event<AboutAccount>(
  'second_factor.enabled',
  'an account is signed in to with codes of an authenticator app from now on',
);
export const secondFactorDisabled = event<AboutAccount>(
  'second_factor.disabled',
  'an account is signed in to without a second factor from now on',
);
export const recoveryCodesMade = event<AboutAccount>(
  'second_factor.recovery_codes_made',
  'an account got new recovery codes; the old ones are good no more',
);
export const passkeyAdded = event<AboutPasskey>('passkey.added', 'somebody added a passkey to their account');
export const passkeyRenamed = event<AboutPasskey>('passkey.renamed', 'somebody gave a passkey another name');
export const passkeyRemoved = event<AboutPasskey>(
  'passkey.removed',
  'a passkey was removed: nobody signs in with it any more',
);
export const passkeyWentBack = event<AboutPasskey>(
  'passkey.went_back',
  'a passkey was refused whose counter went back, so there may be a copy of it',
);
export const factorResetAsked = event<FactorResetAsked>(
  'second_factor.reset_asked',
  'staff wants the second factors of an account taken away; its person can stop it',
);
export const factorResetStopped = event<AboutAccount>(
  'second_factor.reset_stopped',
  'the second factors of an account stay: its person or staff said so',
);
export const factorReset = event<AboutAccount>(
  'second_factor.reset',
  'the second factors of an account were taken away, as staff had asked; all sessions ended',
);
export const impersonationStarted = event<ImpersonationStarted>(
  'impersonation.started',
  'staff acts as a customer from now on, for thirty minutes at most',
);
export const impersonationEnded = event<AboutAccount>(
  'impersonation.ended',
  'staff ended it before its time that they act as a customer',
);
export const staffAdded = event<StaffAdded>('staff.added', 'an account of staff was made');
export const staffChanged = event<StaffChanged>(
  'staff.changed',
  'somebody of staff got another role or another name',
);
export const staffRemoved = event<StaffRemoved>(
  'staff.removed',
  'somebody is of staff no more; the account stays',
);
export const accountCorrected = event<AccountCorrected>(
  'account.corrected',
  'staff corrected what an account says of its person',
);
export const accountBlocked = event<AccountBlocked>(
  'account.blocked',
  'staff lets somebody in no more; their sessions ended',
);
export const accountUnblocked = event<AboutAccount>('account.unblocked', 'staff lets somebody in again');
export const accountClosed = event<AccountClosed>(
  'account.closed',
  'somebody closed their account, and with it the organizations that nobody else is in',
);
export const accountPutBack = event<AccountPutBack>(
  'account.put_back',
  'the database was restored, and what was changed in an account with API keys since the backup is undone',
);
export const apiKeyCreated = event<ApiKeyCreated>('api_key.created', 'an API key was made');
export const apiKeyChanged = event<ApiKeyChanged>(
  'api_key.updated',
  'the name of an API key was changed, or what it is kept to, or when it ends',
);
export const apiKeyEnding = event<ApiKeyEnding>('api_key.ending', 'an API key ends soon');
export const apiKeyRotated = event<ApiKeyRotated>(
  'api_key.rotated',
  'a new API key took the place of one, which goes on for a while',
);
export const apiKeyRevoked = event<ApiKeyRevoked>('api_key.revoked', 'an API key was revoked');
export const accountCreated = event('account.created', 'an account was made');
export const sshKeyCreated = event<SshKeyCreated>('ssh_key.created', 'an SSH key was added to an account');
export const sshKeyDeleted = event<SshKeyDeleted>(
  'ssh_key.deleted',
  'an SSH key was removed from an account',
);
