import type { GuessKeys } from '../../platform/http/index.ts';
import type { Context } from '../../platform/index.ts';
import { deviceTokenOf } from '../sessions/cookies.ts';
import { findDevice, findDeviceOf } from '../sessions/devices.ts';
import { hashToken } from '../sessions/token.ts';
import { requireHalf } from './half.ts';
import type { Asked } from './logIn.ts';

/**
 * What wrong passwords are counted by: a browser in which this person signed in before counts for itself, so that
 * nobody else's guesses lock them out; all others count for the address they come from and the account they aim at.
 */
export async function guessesAt(
  ctx: Context,
  email: string,
  { headers }: Pick<Asked, 'headers'>,
): Promise<GuessKeys> {
  const device = await findDevice(ctx, deviceTokenOf(headers), email);
  if (device !== null) return { keys: [`d${device}`], byAddress: false };
  return { keys: [`a${hashToken(email.toLowerCase()).toString('base64url')}`], byAddress: true };
}

/**
 * What wrong codes are counted by: the account, whoever knows its password; a browser in which the person signed in before
 * counts for itself.
 */
export async function guessesAtFactor(ctx: Context, asked: Asked) {
  const half = await requireHalf(ctx, asked);
  const device = await findDeviceOf(ctx, deviceTokenOf(asked.headers), half.user_id);
  return { keys: [device === null ? `u${half.user_id}` : `d${device}`], byAddress: false };
}
