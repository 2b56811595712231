import { Type } from 'typebox';
import {
  Choice,
  CountryCode,
  Id,
  ListQuery,
  line,
  listOf,
  Nullable,
  named,
  SortBy,
  Strict,
  Timestamp,
} from '../../platform/http/index.ts';
import { LanguageCode } from '../language.ts';
import { EmailAddress } from './emailAddress.ts';
import { longestPassword, shortestPassword } from './passwordRules.ts';

/** A password that is to be one; which are too easy to guess the rule says. */
export const NewPassword = Type.String({
  minLength: shortestPassword,
  maxLength: longestPassword,
  description: 'Any characters; refused when it is one that is guessed first, or holds your name or address',
});
export const Password = Type.String({ minLength: 1, maxLength: longestPassword });
const LinkToken = Type.String({
  minLength: 1,
  maxLength: 200,
  description: '`token` of the link in the mail; good once',
});

export const Registration = named(
  'Registration',
  Strict({
    email: EmailAddress,
    password: NewPassword,
    first_name: line(100),
    last_name: line(100),
    organization_name: Type.Optional(line(100)),
    country: Type.Optional(
      CountryCode({ description: 'ISO 3166-1; decides the tax on the invoices of your first organization' }),
    ),
    language: Type.Optional({
      ...LanguageCode,
      description:
        'ISO 639-1; of mails and the dashboard. Absent: what the browser prefers (Accept-Language)',
    }),
  }),
);
export const ByAddress = named('ByAddress', Strict({ email: EmailAddress }));
export const MailSent = named(
  'MailSent',
  Type.Object({ mail_sent: Type.Boolean() }),
  'The same whether there is an account with the address, or an invitation: the mail tells',
);
export const LinkOnly = named('LinkOnly', Strict({ token: LinkToken }));
export const EmailVerified = named('EmailVerified', Type.Object({ email_verified: Type.Boolean() }));
export const EmailChanged = named('EmailChanged', Type.Object({ email_changed: Type.Boolean() }));
export const EmailRestored = named('EmailRestored', Type.Object({ email_restored: Type.Boolean() }));
export const NewPasswordByLink = named(
  'NewPasswordByLink',
  Strict({ token: LinkToken, password: NewPassword }),
);
export const PasswordSet = named('PasswordSet', Type.Object({ password_set: Type.Boolean() }));

export const Credentials = named(
  'Credentials',
  Strict({ email: Type.String({ minLength: 1, maxLength: 254 }), password: Password }),
);
export const SignedIn = named(
  'SignedIn',
  Type.Object({
    second_factor_required: Type.Boolean({ description: 'Whether POST /auth/login/2fa comes next' }),
    methods: Type.Array(Choice(['totp', 'recovery_code', 'passkey']), {
      description: 'What is taken as second factor',
    }),
    user: Type.Optional(
      named(
        'SignedInUser',
        Type.Object({
          id: Id,
          email: Type.String(),
          first_name: Type.String(),
          last_name: Type.String(),
          staff_role: Nullable(Choice(['administrator', 'billing', 'support', 'operator'])),
        }),
        'Who signed in; absent until the second factor was shown',
      ),
    ),
  }),
  'The session is the cookie `__Host-innkeeper`, whose value works in the header `token` too',
);
const Code = Type.String({
  pattern: '^\\d{6}$',
  'x-message': 'must be the six digits that your authenticator app shows',
  examples: ['492039'],
});
const RecoveryCode = Type.String({
  minLength: 1,
  maxLength: 40,
  description: 'One of the ten; good once',
  examples: ['k7mq-2xwz-h4cp'],
});

/** One of the two, not both. */
export const SecondFactor = named(
  'SecondFactor',
  Strict({ code: Type.Optional(Code), recovery_code: Type.Optional(RecoveryCode) }),
  'A code of the authenticator app, or a recovery code: one of the two',
);
export const NewSecondFactor = named(
  'NewSecondFactor',
  Type.Object({
    secret: Type.String({ description: 'Base32, for who types it in' }),
    otpauth_url: Type.String({ description: 'For a QR code' }),
  }),
  'What the authenticator app needs; it counts once a code was shown',
);
export const FirstCode = named('FirstCode', Strict({ code: Code }));
export const RecoveryCodes = named(
  'RecoveryCodes',
  Type.Object({ recovery_codes: Type.Array(Type.String()) }),
  'Each is good once instead of a code; shown this once',
);
export const SecondFactorDisabled = named('SecondFactorDisabled', Type.Object({ disabled: Type.Boolean() }));
export const SignedOut = named('SignedOut', Type.Object({ signed_out: Type.Boolean() }));
export const Proof = named('Proof', Strict({ password: Password }));
export const Proven = named('Proven', Type.Object({ proven: Type.Boolean() }));

export const SignInQuery = ListQuery({ sort: SortBy(['created_at'], '-created_at') });
const SignIn = named(
  'SignIn',
  Type.Object({
    outcome: Choice(['signed_in', 'wrong_password', 'wrong_code', 'wrong_passkey']),
    method: Nullable(Choice(['password', 'passkey'])),
    second_factor: Type.Boolean(),
    new_device: Type.Boolean({
      description: 'Whether it was a browser in which you had not signed in before',
    }),
    ip: Nullable(Type.String()),
    user_agent: Nullable(Type.String()),
    created_at: Timestamp,
  }),
  'That somebody signed in to your account, or tried to',
);
export const SignInList = named('SignInList', listOf('sign_ins', SignIn));
