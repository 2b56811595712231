import { errors } from '../platform/index.ts';

const accountErrors = errors({
  last_key: [
    409,
    'This is your last API key, and without one nobody gets in. Make another first; to be left with none, say leave_none=true. An administrator, or add-key at the console, can make you one again',
  ],
  invalid_credentials: [
    401,
    'This address and password do not belong together, or the address is not confirmed yet',
  ],
  email_unverified: [
    403,
    'Confirm your address first, by the link in the mail; POST /auth/email/resend has it sent again',
  ],
  account_in_use: [409, 'Your account is still in use; see details for what has to end first'],
  account_blocked: [403, 'This account is blocked; ask support what for'],
  insecure_connection: [
    400,
    'Browsers keep a session only over https, or on their own machine. Open the dashboard by its https address, or at http://localhost through an SSH tunnel',
  ],
  invalid_code: [401, 'This code is wrong, or was used already; wait for the next one'],
  invalid_passkey: [
    401,
    'This passkey was not accepted: ask for new options and try again, or sign in with your password',
  ],
  passkey_refused: [400, 'This is not a passkey we can keep: ask for new options and try again'],
  duplicate_passkey: [409, 'This passkey is already in your account'],
  passkey_went_back: [
    401,
    'This passkey counted fewer uses than before, so somebody may have a copy of it. Sign in another way, and remove it',
  ],
  email_taken: [409, 'There is an account with this address already'],
  last_administrator: [
    409,
    'This is the last administrator who is let in, and without one nobody makes others. Make another one first',
  ],
  staff_account: [
    409,
    "This is an account of the provider's people; administrators see to it at /staff/staff",
  ],
  second_factor_enabled: [409, 'Your account has an authenticator app already; disable it first'],
  second_factor_missing: [409, 'Your account has no such second factor; set one up first'],
  password_refused: [400, 'This password is too easy to guess; see details'],
  invalid_link: [400, 'This link was used already, has expired, or is not whole; have a new one sent'],
  duplicate_ssh_key: [409, 'This SSH key is already in your account'],
  invalid_ssh_key: [400, 'This is not an OpenSSH public key we can use'],
});

type AccountErrors = typeof accountErrors;

declare module '../platform/errors.ts' {
  interface ErrorCatalogue extends AccountErrors {}
}
