import type { Context } from '../../platform/index.ts';

/** To whom passkeys belong, beside their person: the place where customers reach the product. No other page can use them. */
export function relyingParty(ctx: Context) {
  const { hostname, origin } = new URL(ctx.config.publicUrl);
  return { id: hostname, origin };
}

/** By which a device knows whose passkey it has: a number that says nothing of the person. */
export function userHandle(userId: number): string {
  return Buffer.from(String(userId)).toString('base64url');
}

/** What a browser says that it had signed; null when that is nothing we could have asked for. */
export function signedBy(clientDataJSON: string): { challenge: string } | null {
  try {
    const said: unknown = JSON.parse(Buffer.from(clientDataJSON, 'base64url').toString('utf8'));
    if (typeof said !== 'object' || said === null || !('challenge' in said)) return null;
    // In a frame of another site nobody sees where they sign in.
    if ('crossOrigin' in said && said.crossOrigin !== false) return null;
    return typeof said.challenge === 'string' ? { challenge: said.challenge } : null;
  } catch {
    return null;
  }
}
