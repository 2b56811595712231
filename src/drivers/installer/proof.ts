import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/**
 * One start of a server from the network. The boot script's token is only a claim: whoever copies a MAC address gets one as well. So
 * each start has a nonce that its machine prints on its serial line, which is read through the BMC; starts of one server live side by side until
 * one of them is proved, and then the others are over.
 *
 * The token goes over the network in the clear, once. What the installer calls with from then on is a secret of its own making, which it
 * gives over TLS for the token: who read the token comes too late, or is found out by the server's own claim.
 *
 * Nothing in it opens anything: of token and secret only hashes are kept.
 */
export interface Start {
  tokenHash: string;
  /** Null until the machine has claimed the start. */
  secretHash: string | null;
  nonce: string;
  proved: boolean;
}

/** A start, and the token for its boot script. */
export function newStart(): { token: string; start: Start } {
  const token = randomBytes(24).toString('base64url');
  const nonce = randomBytes(16).toString('hex');
  return { token, start: { tokenHash: hashOf(token), secretHash: null, nonce, proved: false } };
}

/** As hashes of tokens and secrets are kept: SHA-256 in hexadecimal. */
export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/**
 * The start once a machine has claimed it with a secret; null when another has. The same claim may come again, since an answer
 * can be lost.
 */
export function claim(start: Start, secret: string): Start | null {
  const secretHash = hashOf(secret);
  if (start.secretHash === null) return { ...start, secretHash };
  return timingSafeEqual(Buffer.from(start.secretHash), Buffer.from(secretHash)) ? start : null;
}

/** Reads nonces out of what comes over a serial line, in pieces of any size. */
export function nonceReader(): (chunk: string) => string[] {
  let tail = '';
  return (chunk) => {
    const text = tail + chunk;
    const found = [...text.matchAll(/INNKEEPER-PROOF ([0-9a-f]{32})(?![0-9a-f])/g)];
    const last = found.at(-1);
    tail = text.slice(last ? last.index + last[0].length : 0).slice(-64);
    return found.map((match) => match[1] ?? '');
  };
}

/**
 * A server's starts after a nonce was read on its serial line: the one that it belongs to is proved, and all others are over.
 * Nonces that belong to none change nothing, nor does one whose start nobody has claimed.
 */
export function prove<S extends Start>(starts: readonly S[], nonce: string): S[] {
  const proved = starts.find((start) => start.nonce === nonce && start.secretHash !== null);
  return proved ? [{ ...proved, proved: true }] : [...starts];
}
