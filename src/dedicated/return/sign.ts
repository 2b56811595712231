import { createHash, createPrivateKey, createPublicKey, sign } from 'node:crypto';
import type { Seal } from '../../platform/index.ts';

/** An Ed25519 key that anybody may have, as a JSON web key (RFC 8037). */
export interface PublicKey {
  kty: 'OKP';
  crv: 'Ed25519';
  /** Base64url, 32 bytes. */
  x: string;
}

export interface Signed {
  /** A JSON web signature (RFC 7515) in its compact form: what was signed stands in it. */
  jws: string;
  /** Thumbprint of the key (RFC 7638), which the signature names. */
  keyId: string;
  publicKey: PublicKey;
}

/** Before the 32 bytes of an Ed25519 key, in PKCS #8 (RFC 8410). */
const pkcs8 = Buffer.from('302e020100300506032b657004220420', 'hex');

/** Signs JSON with the key of this installation, which follows from its secret key and stands nowhere. */
export function signJson(seal: Seal, payload: object): Signed {
  const seed = seal.seed('proofs of erasure');
  const key = createPrivateKey({ key: Buffer.concat([pkcs8, seed]), format: 'der', type: 'pkcs8' });
  const { x = '' } = createPublicKey(key).export({ format: 'jwk' });
  const publicKey: PublicKey = { kty: 'OKP', crv: 'Ed25519', x };
  const keyId = thumbprintOf(publicKey);
  const head = encode({ alg: 'EdDSA', kid: keyId });
  const signed = `${head}.${encode(payload)}`;
  return { jws: `${signed}.${sign(null, Buffer.from(signed), key).toString('base64url')}`, keyId, publicKey };
}

/** What was signed. */
export function payloadOf(jws: string): unknown {
  return JSON.parse(Buffer.from(jws.split('.')[1] ?? '', 'base64url').toString('utf8'));
}

function thumbprintOf({ crv, kty, x }: PublicKey): string {
  return createHash('sha256').update(JSON.stringify({ crv, kty, x })).digest('base64url');
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
