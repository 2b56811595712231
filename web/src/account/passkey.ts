import type { BodyOf, OperationAt, Schema } from '../../../client/index.ts';
import { client } from '../data/client.ts';

type Shown = BodyOf<OperationAt<'post', '/auth/passkeys/verify'>>;

/** The browser showed none: its person said no, or has none for us. */
export class NoPasskeyError extends Error {
  constructor(cause: unknown) {
    super('No passkey was shown', { cause });
    this.name = 'NoPasskeyError';
  }
}

/** Has the browser ask for a passkey, and signs in with it or shows it as second factor. */
export async function showPasskey(isSecondFactor: boolean): Promise<Schema<'SignedIn'>> {
  const wish = isSecondFactor ? { second_factor: true } : {};
  const { options } = await client.post('/auth/passkeys/options', { body: wish });
  return client.post('/auth/passkeys/verify', { body: { credential: await taken(options), ...wish } });
}

/** The same as a password shown again, by whoever is signed in. */
export async function proveByPasskey(): Promise<void> {
  const { options } = await client.post('/auth/reauthenticate/passkey/options');
  await client.post('/auth/reauthenticate/passkey', { body: { credential: await taken(options) } });
}

/** Has the browser make a passkey, which its person signs in with from then on. */
export async function makePasskey(): Promise<Schema<'PasskeyAdded'>> {
  const { options } = await client.post('/dashboard/account/passkeys/options');
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(
    options as PublicKeyCredentialCreationOptionsJSON,
  );
  const made = (await navigator.credentials.create({ publicKey }).catch((error: unknown) => {
    throw new NoPasskeyError(error);
  })) as PublicKeyCredential;
  const credential = made.toJSON() as Schema<'PasskeyRegistration'>;
  return client.post('/dashboard/account/passkeys/verify', { body: { credential } });
}

async function taken(options: object): Promise<Shown['credential']> {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(
    options as PublicKeyCredentialRequestOptionsJSON,
  );
  const found = (await navigator.credentials.get({ publicKey }).catch((error: unknown) => {
    throw new NoPasskeyError(error);
  })) as PublicKeyCredential;
  return found.toJSON() as Shown['credential'];
}
