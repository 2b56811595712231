import { Type } from 'typebox';
import {
  Choice,
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

export const Passkey = named(
  'Passkey',
  Type.Object({
    id: Id,
    name: Type.String(),
    synced: Type.Boolean({ description: 'Whether it is kept beyond the one device' }),
    created_at: Timestamp,
    last_used: Nullable(Timestamp),
    credential_id: Type.String({
      description:
        'By which the device knows it; for PublicKeyCredential.signalUnknownCredential() once it is removed',
    }),
  }),
  'A passkey to sign in with',
);

export const PasskeyQuery = ListQuery({ sort: SortBy(['created_at'], '-created_at') });
export const PasskeyList = named('PasskeyList', listOf('passkeys', Passkey));
export const PasskeyData = named('PasskeyAnswer', Type.Object({ passkey: Passkey }));
export const PasskeyRemoved = named('PasskeyRemoved', Type.Object({ removed: Type.Boolean() }));

const Name = line(100, { description: 'By which you know it again' });
export const PasskeyName = named('PasskeyName', Strict({ name: Name }));

/** Bytes as WebAuthn writes them in JSON. */
const bytes = (maxLength: number) =>
  Type.String({
    minLength: 1,
    maxLength,
    pattern: '^[A-Za-z0-9_-]+={0,2}$',
    'x-message': 'must be base64url, as the browser gives it',
  });
const CredentialType = Choice(['public-key']);
const Transports = Type.Array(Type.String());
const Known = Type.Object({ id: Type.String(), type: CredentialType, transports: Transports });
const Relying = Type.Object({ id: Type.String(), name: Type.String() });

export const CreationOptions = named(
  'PasskeyCreationOptions',
  Type.Object({
    options: Type.Object(
      {
        challenge: Type.String(),
        rp: Relying,
        user: Type.Object({ id: Type.String(), name: Type.String(), displayName: Type.String() }),
        pubKeyCredParams: Type.Array(Type.Object({ type: CredentialType, alg: Type.Integer() })),
        timeout: Type.Integer({ description: 'Milliseconds' }),
        attestation: Choice(['none']),
        excludeCredentials: Type.Array(Known),
        authenticatorSelection: Type.Object({
          residentKey: Choice(['required']),
          requireResidentKey: Type.Boolean(),
          userVerification: Choice(['required']),
        }),
      },
      { description: 'For PublicKeyCredential.parseCreationOptionsFromJSON() in the browser' },
    ),
  }),
  'What a browser makes a passkey of',
);
export const RequestOptions = named(
  'PasskeyRequestOptions',
  Type.Object({
    options: Type.Object(
      {
        challenge: Type.String(),
        rpId: Type.String(),
        timeout: Type.Integer({ description: 'Milliseconds' }),
        userVerification: Choice(['required']),
        allowCredentials: Type.Array(Known),
      },
      { description: 'For PublicKeyCredential.parseRequestOptionsFromJSON() in the browser' },
    ),
  }),
  'What a browser shows a passkey for',
);

// Browsers add to these from time to time; what is not named here is not looked at.
export const Registration = named(
  'PasskeyRegistration',
  Type.Object({
    id: bytes(1_400),
    rawId: bytes(1_400),
    type: CredentialType,
    response: Type.Object({
      clientDataJSON: bytes(8_192),
      attestationObject: bytes(65_536),
      transports: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 32 }), { maxItems: 10 })),
    }),
  }),
  'What toJSON() of the new credential gives in the browser',
);
export const Assertion = named(
  'PasskeyAssertion',
  Type.Object({
    id: bytes(1_400),
    rawId: bytes(1_400),
    type: CredentialType,
    response: Type.Object({
      clientDataJSON: bytes(8_192),
      authenticatorData: bytes(8_192),
      signature: bytes(8_192),
      userHandle: Type.Optional(Nullable(Type.String({ maxLength: 128 }))),
    }),
  }),
  'What toJSON() of the credential gives in the browser',
);

export const NewPasskey = named(
  'NewPasskey',
  Strict({ credential: Registration, name: Type.Optional(Name) }),
);
export const PasskeyAdded = named(
  'PasskeyAdded',
  Type.Object({
    passkey: Passkey,
    recovery_codes: Nullable(
      Type.Array(Type.String(), {
        description:
          'With the first factor of the account: each is good once instead of it, and shown this once',
      }),
    ),
  }),
);
const second = Type.Boolean({
  description: 'Whether it is shown after a password that was right, and not instead of one',
  default: false,
});
export const PasskeyWish = named('PasskeyWish', Strict({ second_factor: Type.Optional(second) }));
export const ShownPasskey = named(
  'ShownPasskey',
  Strict({ credential: Assertion, second_factor: Type.Optional(second) }),
);
export const PasskeyProof = named('PasskeyProof', Strict({ credential: Assertion }));
