import type { Static } from 'typebox';
import { record } from '../../events/index.ts';
import { answer } from '../../platform/http/index.ts';
import {
  type AccountContext,
  type Context,
  fail,
  isDuplicate,
  newId,
  requireRow,
  statement,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { passkeyAdded } from '../events.ts';
import { gainFactor } from '../factors/gained.ts';
import { renewSession } from '../sessions/renew.ts';
import { personById } from '../signIn/person.ts';
import { lockUser } from '../users.ts';
import { challengeMs, newChallenge, takeChallenge } from './challenge.ts';
import { readPasskey } from './list.ts';
import { relyingParty, signedBy, userHandle } from './party.ts';
import { passkeysOf } from './rows.ts';
import type { NewPasskey as NewPasskeySchema, Registration as RegistrationSchema } from './schema.ts';

type NewPasskey = Static<typeof NewPasskeySchema>;
type Registration = Static<typeof RegistrationSchema>;

const passkeysAtMost = 20;
/** EdDSA, ES256, RS256: what devices there are can do. */
const algorithms = [-8, -7, -257];

interface KeptPasskey {
  id: number;
  userId: number;
  name: string;
  credentialId: Buffer;
  publicKey: Buffer;
  counter: number;
  transports: string[];
  synced: boolean;
  now: Date;
}

const insertPasskey = statement<never, { [K in keyof KeptPasskey]: KeptPasskey[K] }>(
  'account.insertPasskey',
  `insert into passkeys (id, user_id, name, credential_id, public_key, counter, transports, synced, created_at)
   values (:id, :userId, :name, :credentialId, :publicKey, :counter, :transports, :synced, :now)`,
);

/** What a browser hands to a device that is to make a passkey. `too_many`. */
export async function askForNewPasskey(ctx: AccountContext, sessionId: number) {
  const { userId } = ctx.actor;
  const person = await requireRow(ctx, personById, { id: userId });
  const held = await passkeysOf(ctx, userId);
  requireFew(held.length);
  const { id } = relyingParty(ctx);
  return {
    options: {
      challenge: await newChallenge(ctx, 'add', { userId, sessionId }),
      rp: { id, name: id },
      user: {
        id: userHandle(userId),
        name: person.email,
        displayName: `${person.first_name} ${person.last_name}`.trim() || person.email,
      },
      pubKeyCredParams: algorithms.map((alg) => ({ type: 'public-key' as const, alg })),
      timeout: challengeMs,
      attestation: 'none' as const,
      // A device that has one for this account already says so, instead of making a second.
      excludeCredentials: held.map(({ credential_id, transports }) => ({
        ...{ id: credential_id.toString('base64url'), type: 'public-key' as const, transports },
      })),
      // It names its account by itself, and makes sure who uses it: so it does without a password.
      authenticatorSelection: {
        residentKey: 'required' as const,
        requireResidentKey: true,
        userVerification: 'required' as const,
      },
    },
  };
}

/**
 * Keeps a passkey that a device made. The session that asks has shown it, so it goes on under a new token; with the first
 * factor of an account come recovery codes, and its other sessions end. `passkey_refused`, `duplicate_passkey`, `too_many`.
 */
export async function addPasskey(ctx: AccountContext, sessionId: number, body: NewPasskey) {
  const { userId } = ctx.actor;
  const signed = signedBy(body.credential.response.clientDataJSON);
  if (signed === null || !(await takeChallenge(ctx, 'add', { userId, sessionId }, signed.challenge)))
    throw fail('passkey_refused');
  const made = await prove(ctx, signed.challenge, body.credential);
  if (made === null) throw fail('passkey_refused');
  return transaction(ctx, 'account.addPasskey', async (tx) => {
    await lockUser(tx, userId);
    requireFew((await passkeysOf(tx, userId)).length);
    const recovery_codes = await gainFactor(tx, userId, sessionId);
    const id = newId();
    await insert(tx, { id, userId, name: body.name ?? 'Passkey', ...made });
    await record(tx, passkeyAdded, {
      subject: { type: 'user', id: userId },
      organizationId: null,
      data: { user_id: userId, passkey_id: id, name: body.name ?? 'Passkey' },
    });
    const cookies = await renewSession(tx, sessionId, { strong: true });
    return answer({ ...(await readPasskey(tx, id)), recovery_codes }, cookies);
  });
}

async function insert(tx: TxContext, passkey: Omit<KeptPasskey, 'now'>): Promise<void> {
  try {
    await tx.db.run(insertPasskey, { ...passkey, now: tx.clock.now() });
  } catch (error) {
    if (isDuplicate(error, 'passkeys_credential')) throw fail('duplicate_passkey');
    throw error;
  }
}

function requireFew(count: number): void {
  if (count < passkeysAtMost) return;
  throw fail('too_many', { message: `An account holds ${passkeysAtMost} passkeys; remove one first` });
}

async function prove(ctx: Context, challenge: string, { id, rawId, type, response }: Registration) {
  // They take a while to load, and most processes never need them.
  const { verifyRegistrationResponse } = await import('@simplewebauthn/server');
  const { decodeAttestationObject } = await import('@simplewebauthn/server/helpers');
  const { id: expectedRPID, origin: expectedOrigin } = relyingParty(ctx);
  const { clientDataJSON, attestationObject } = response;
  try {
    const said = decodeAttestationObject(new Uint8Array(Buffer.from(attestationObject, 'base64url')));
    // We ask for no certificates. Whoever sends some would have us look up where they point to.
    if (said.get('attStmt').get('x5c') !== undefined) return null;
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      response: {
        id,
        rawId,
        type,
        clientExtensionResults: {},
        response: { clientDataJSON, attestationObject },
      },
      expectedChallenge: challenge,
      expectedOrigin,
      expectedRPID,
      requireUserVerification: true,
      supportedAlgorithmIDs: algorithms,
    });
    if (!verified) return null;
    const { credential, credentialBackedUp } = registrationInfo;
    return {
      credentialId: Buffer.from(credential.id, 'base64url'),
      publicKey: Buffer.from(credential.publicKey),
      counter: credential.counter,
      transports: [...new Set(response.transports ?? [])],
      synced: credentialBackedUp,
    };
  } catch (error) {
    // The libraries throw for whatever they refuse.
    ctx.log.info({ reason: error instanceof Error ? error.message : 'unknown' }, 'a new passkey was refused');
    return null;
  }
}
