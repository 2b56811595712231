import type { Static } from 'typebox';
import { record } from '../../events/index.ts';
import { type Context, fail, type TxContext, transaction } from '../../platform/index.ts';
import { passkeyWentBack } from '../events.ts';
import { noteRefusal } from '../signIn/refusals.ts';
import { type Asker, challengeMs, newChallenge, type Purpose, takeChallenge } from './challenge.ts';
import { relyingParty, signedBy, userHandle } from './party.ts';
import { findPasskey, noteCounter, type PasskeyRow, passkeysOf } from './rows.ts';
import type { Assertion as AssertionSchema } from './schema.ts';

export type Assertion = Static<typeof AssertionSchema>;

/** A passkey whose device signed what we asked for. */
export interface Verified {
  passkey: PasskeyRow;
  counter: number;
  synced: boolean;
}

/** What a browser hands to a device that is to show a passkey: any of ours, or one of a person that is known. */
export async function askForPasskey(ctx: Context, purpose: Exclude<Purpose, 'add'>, asker: Asker) {
  const known = asker.userId === null ? [] : await passkeysOf(ctx, asker.userId);
  return {
    options: {
      challenge: await newChallenge(ctx, purpose, asker),
      rpId: relyingParty(ctx).id,
      timeout: challengeMs,
      // Who has the device is not yet who may use it: a finger, a face or a PIN says that.
      userVerification: 'required' as const,
      allowCredentials: known.map(({ credential_id, transports }) => ({
        ...{ id: credential_id.toString('base64url'), type: 'public-key' as const, transports },
      })),
    },
  };
}

/**
 * Whose passkey this is. `invalid_passkey` when the challenge is not ours, was used, or is for something else, when the passkey
 * is another person's or nobody's, or when what was signed is not what was asked for. Of one that is nobody's it says so: its
 * number tells nothing of anybody, and the device that keeps it can be told to forget it.
 */
export async function verifyPasskey(
  ctx: Context,
  purpose: Exclude<Purpose, 'add'>,
  asker: Asker,
  shown: Assertion,
  userAgent: string | null,
): Promise<Verified> {
  const signed = signedBy(shown.response.clientDataJSON);
  if (signed === null || !(await takeChallenge(ctx, purpose, asker, signed.challenge)))
    throw fail('invalid_passkey');
  const passkey = await findPasskey(ctx, Buffer.from(shown.id, 'base64url'));
  if (passkey === null) {
    const message = 'is no passkey that is known here; it may have been removed';
    throw fail('invalid_passkey', { details: [{ field: 'credential.id', message }] });
  }
  if (!isOf(passkey, asker, shown)) throw fail('invalid_passkey');
  const proved = await prove(ctx, passkey, signed.challenge, shown);
  if (proved !== null) return { passkey, ...proved };
  noteRefusal(ctx, passkey.user_id, 'wrong_passkey', userAgent);
  throw fail('invalid_passkey');
}

/**
 * Counts the use of a passkey, in the transaction of what it is good for. `false` when the counter of its device did not go
 * on: then there are two of it.
 */
export function usePasskey(tx: TxContext, { passkey, counter, synced }: Verified): Promise<boolean> {
  return noteCounter(tx, passkey, { counter, synced });
}

/** Refuses a passkey whose counter went back, and tells its person. */
export async function refuseCopy(ctx: Context, { passkey }: Verified): Promise<never> {
  const { id, user_id, name } = passkey;
  await transaction(ctx, 'account.refuseCopy', (tx) =>
    // Whoever shows a copy is nobody we know.
    record({ ...tx, actor: { ...tx.actor, type: 'user', userId: null } }, passkeyWentBack, {
      subject: { type: 'user', id: user_id },
      organizationId: null,
      data: { user_id, passkey_id: id, name },
    }),
  );
  throw fail('passkey_went_back');
}

/** Whether it is a passkey of who was asked; where nobody was, the device says whose it is. */
function isOf({ user_id }: PasskeyRow, { userId }: Asker, { response }: Assertion): boolean {
  const said = response.userHandle ?? null;
  if (said !== null && said.replace(/=+$/, '') !== userHandle(user_id)) return false;
  return userId === null ? said !== null : userId === user_id;
}

async function prove(ctx: Context, passkey: PasskeyRow, challenge: string, shown: Assertion) {
  // It takes a while to load, and most processes never need it.
  const { verifyAuthenticationResponse } = await import('@simplewebauthn/server');
  const { id, origin } = relyingParty(ctx);
  try {
    const { verified, authenticationInfo: found } = await verifyAuthenticationResponse({
      response: {
        ...{ id: shown.id, rawId: shown.rawId, type: shown.type, clientExtensionResults: {} },
        response: {
          clientDataJSON: shown.response.clientDataJSON,
          authenticatorData: shown.response.authenticatorData,
          signature: shown.response.signature,
        },
      },
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: id,
      requireUserVerification: true,
      // The counter is compared where it is taken, so that of two at once one is refused.
      credential: { id: shown.id, publicKey: new Uint8Array(passkey.public_key), counter: 0 },
    });
    return verified ? { counter: found.newCounter, synced: found.credentialBackedUp } : null;
  } catch (error) {
    // The library throws for whatever it refuses.
    ctx.log.info({ reason: error instanceof Error ? error.message : 'unknown' }, 'a passkey was refused');
    return null;
  }
}
