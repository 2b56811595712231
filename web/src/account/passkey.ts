import { ApiError, type BodyOf, type OperationAt, type Schema } from '../../../client/index.ts';
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
  return shown({ credential: await taken(options), ...wish });
}

/** Signs in with what a device signed. A passkey that is known no more the device is told to forget. */
async function shown(body: Shown): Promise<Schema<'SignedIn'>> {
  try {
    return await client.post('/auth/passkeys/verify', { body });
  } catch (error) {
    const isUnknown =
      error instanceof ApiError &&
      error.code === 'invalid_passkey' &&
      error.details.some(({ field }) => field === 'credential.id');
    if (isUnknown) await forgetPasskey(body.credential.id);
    throw error;
  }
}

/** Has the browser offer a passkey no more that is good for nothing here, where it can be told so. */
export async function forgetPasskey(credentialId: string): Promise<void> {
  if (typeof PublicKeyCredential === 'undefined') return;
  const signals: Signals = PublicKeyCredential;
  // It is for the person's list alone: whatever becomes of it, nothing else waits for it.
  await signals
    .signalUnknownCredential?.({ rpId: window.location.hostname, credentialId })
    .catch(() => undefined);
}

/** Of WebAuthn level 3, which not every browser has. */
interface Signals {
  signalUnknownCredential?: (unknown: { rpId: string; credentialId: string }) => Promise<void>;
}

/** What is to be signed is good for five minutes; the browser gets another before. */
const offeredForMs = 4 * 60_000;

/**
 * Has the browser offer its passkeys where the address is typed in, and signs in with the one that is chosen there. Null when
 * none was chosen until `signal`, or this browser offers none: nobody asked for it, so there is nothing to tell.
 */
export async function offerPasskey(signal: AbortSignal): Promise<Schema<'SignedIn'> | null> {
  if (!(await offersPasskeys())) return null;
  for (let refused = 0; !signal.aborted && refused < mostRefusals; ) {
    const credential = await chosenInTime(signal);
    if (credential === null) return null;
    if (credential === 'refused') {
      refused += 1;
      await new Promise((resolve) => setTimeout(resolve, offeredAgainMs));
    } else if (credential !== 'late') return shown({ credential });
  }
  return null;
}

/** A person who has thought better of it finds them again; a browser that refuses by itself is not asked for ever. */
const mostRefusals = 10;
const offeredAgainMs = 1_000;

/**
 * What the chosen passkey signed; `late` when none was before that would have been refused, `refused` when its person did not
 * go through with it.
 */
async function chosenInTime(signal: AbortSignal): Promise<Shown['credential'] | 'late' | 'refused' | null> {
  const time = new AbortController();
  const timer = setTimeout(() => time.abort(), offeredForMs);
  try {
    const { options } = await client.post('/auth/passkeys/options', { body: {}, signal });
    const until = AbortSignal.any([signal, time.signal]);
    return await taken(options, { mediation: 'conditional', signal: until });
  } catch (error) {
    if (time.signal.aborted) return 'late';
    return error instanceof NoPasskeyError && !signal.aborted ? 'refused' : null;
  } finally {
    clearTimeout(timer);
  }
}

async function offersPasskeys(): Promise<boolean> {
  if (typeof PublicKeyCredential === 'undefined') return false;
  if (!('parseRequestOptionsFromJSON' in PublicKeyCredential)) return false;
  return (await PublicKeyCredential.isConditionalMediationAvailable?.()) === true;
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

async function taken(
  options: object,
  how: Pick<CredentialRequestOptions, 'mediation' | 'signal'> = {},
): Promise<Shown['credential']> {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(
    options as PublicKeyCredentialRequestOptionsJSON,
  );
  const found = (await navigator.credentials.get({ publicKey, ...how }).catch((error: unknown) => {
    throw new NoPasskeyError(error);
  })) as PublicKeyCredential;
  return found.toJSON() as Shown['credential'];
}
