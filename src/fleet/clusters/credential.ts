import { createPrivateKey, X509Certificate } from 'node:crypto';
import { type ClusterEngine, fingerprintOf } from '../../drivers/hypervisor/index.ts';
import { type Context, refuse, type SealedValue, statement } from '../../platform/index.ts';

/** What we are known by in a cluster, as staff gives it: what its engine wants of these. */
export interface Credential {
  /** PEM. */
  certificate?: string;
  key?: string;
  token_id?: string;
  token_secret?: string;
}

/** The same in the form in which it is used; `secret` is what must be kept sealed: the key, or the token's secret. */
export interface Access {
  certificate: string | null;
  tokenId: string | null;
  secret: string;
}

/** What each engine knows us by. */
const wantedBy = {
  incus: ['certificate', 'key'],
  proxmox: ['token_id', 'token_secret'],
} as const satisfies Record<ClusterEngine, readonly (keyof Credential)[]>;

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

/**
 * What an engine knows us by; `invalid_request` names what lacks, what another engine wants, and what is no certificate, no key, or not the
 * key of this certificate.
 */
export function readCredential(engine: ClusterEngine, credential: Credential): Access {
  const wanted: readonly string[] = wantedBy[engine];
  for (const name of wanted)
    if (!(name in credential)) throw refuse(`credential.${name}`, `must be given for a cluster of ${engine}`);
  for (const name of Object.keys(credential))
    if (!wanted.includes(name))
      throw refuse(`credential.${name}`, `has no meaning for a cluster of ${engine}`);
  const { certificate = '', key = '', token_id: tokenId = '', token_secret: secret = '' } = credential;
  if (engine === 'proxmox') return { certificate: null, tokenId, secret };
  return { ...readPair(certificate, key), tokenId: null };
}

function readPair(certificate: string, key: string): { certificate: string; secret: string } {
  const read = certificateIn(certificate);
  if (read === null) throw refuse('credential.certificate', 'must be a certificate in PEM');
  const opened = keyIn(key);
  if (opened === null) throw refuse('credential.key', 'must be a private key in PEM, without a passphrase');
  if (!read.checkPrivateKey(opened)) throw refuse('credential.key', 'is not the key of this certificate');
  const secret = opened.export({ type: 'pkcs8', format: 'pem' }).toString();
  return { certificate: read.toString(), secret };
}

/** What a cluster has to present. */
export interface Pinned {
  /** In small digits; the first one comes first. */
  fingerprints: string[];
  /** The first, where it is known whole. */
  serverCertificate: string | null;
}

const pem = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;

/** Pinned certificates, given whole or as fingerprints, one under the other. `invalid_request` where one of them is neither, or too many. */
export function readPinned(engine: ClusterEngine, text: string): Pinned {
  const whole = text.match(pem) ?? [];
  const rest = text.replace(pem, ' ').split(/\s+/).filter(Boolean);
  const certificates = whole.map((each) => certificateIn(each));
  const digits = rest.map(digitsIn);
  if ([...certificates, ...digits].includes(null) || whole.length + rest.length === 0)
    throw refuse(
      'server_certificate',
      'must be a certificate in PEM, or its SHA-256 fingerprint in 64 hexadecimal digits; of several one under the other',
    );
  const known = certificates.flatMap((each) => (each === null ? [] : [each.toString()]));
  const shown = digits.flatMap((each) => each ?? []);
  const fingerprints = [...new Set([...known.map(fingerprintOf), ...shown])];
  if (engine === 'incus' && fingerprints.length > 1)
    throw refuse('server_certificate', 'must be one: all members of an Incus cluster present the same');
  return { fingerprints, serverCertificate: known[0] ?? null };
}

function digitsIn(text: string): string | null {
  const digits = text
    .replace(/^sha256[:=/]?/i, '')
    .replaceAll(':', '')
    .toLowerCase();
  return /^[0-9a-f]{64}$/.test(digits) ? digits : null;
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
