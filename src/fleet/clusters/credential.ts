import { createPrivateKey, X509Certificate } from 'node:crypto';
import { fingerprintOf } from '../../drivers/hypervisor/index.ts';
import { type Context, refuse, type SealedValue, statement } from '../../platform/index.ts';

/** What we are known by in a cluster. */
export interface Credential {
  /** PEM. */
  certificate: string;
  key: string;
}

const contextOf = (clusterId: number) => `cluster ${clusterId}`;

export function sealKey({ seal }: Context, clusterId: number, key: string): Buffer {
  return seal.close(key, contextOf(clusterId));
}

export function openKey({ seal }: Context, clusterId: number, sealed: Buffer): string {
  return seal.open(sealed, contextOf(clusterId));
}

export const sealedClusters = statement<SealedValue, { limit: number }>(
  'fleet.sealedClusters',
  `select credential as sealed, 'cluster ' || id as context from clusters order by id limit :limit`,
);

/** The certificate and its key in the form in which they are used; `invalid_request` names what is none, or that they do not belong together. */
export function readCredential({ certificate, key }: Credential): Credential {
  const read = certificateIn(certificate);
  if (read === null) throw refuse('credential.certificate', 'must be a certificate in PEM');
  const opened = keyIn(key);
  if (opened === null) throw refuse('credential.key', 'must be a private key in PEM, without a passphrase');
  if (!read.checkPrivateKey(opened)) throw refuse('credential.key', 'is not the key of this certificate');
  return { certificate: read.toString(), key: opened.export({ type: 'pkcs8', format: 'pem' }).toString() };
}

/** A pinned certificate is given whole or as its fingerprint. Returns that, in small digits, and the certificate where it is known. */
export function readPinned(text: string): { fingerprint: string; serverCertificate: string | null } {
  const digits = text
    .trim()
    .replace(/^sha256[:=/]?/i, '')
    .replaceAll(':', '')
    .toLowerCase();
  if (/^[0-9a-f]{64}$/.test(digits)) return { fingerprint: digits, serverCertificate: null };
  const read = certificateIn(text);
  if (read === null)
    throw refuse(
      'server_certificate',
      'must be a certificate in PEM, or its SHA-256 fingerprint in 64 hexadecimal digits',
    );
  return { fingerprint: fingerprintOf(read.toString()), serverCertificate: read.toString() };
}

function certificateIn(text: string): X509Certificate | null {
  try {
    return new X509Certificate(text);
  } catch {
    return null;
  }
}

function keyIn(text: string) {
  try {
    return createPrivateKey(text);
  } catch {
    return null;
  }
}
