import { X509Certificate } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { networkInterfaces } from 'node:os';
import { connect } from 'node:tls';
import ipaddr from 'ipaddr.js';
import { HypervisorError } from './failure.ts';

/** What an endpoint showed of itself, before anything of ours was told to it. */
export interface Presented {
  endpoint: string;
  /** PEM; null where nobody answered. */
  certificate: string | null;
  /** Why there is none, or why it is not spoken to. */
  problem: string | null;
}

const connectMs = 3_000;

/** SHA-256 of a certificate, in small hexadecimal digits; throws when it is none. */
export function fingerprintOf(pem: string): string {
  return new X509Certificate(pem).fingerprint256.replaceAll(':', '').toLowerCase();
}

/**
 * Which certificates endpoints present. Where one leads to this host itself it is not asked, unless `allow` names the address: a cluster is never us,
 * and what listens here for ourselves alone shall not be spoken to by what somebody typed.
 */
export function presentedAt(endpoints: readonly string[], allow: readonly string[]): Promise<Presented[]> {
  return Promise.all(
    endpoints.map(async (endpoint) => {
      try {
        const { hostname, port } = new URL(endpoint);
        const address = await addressOf(hostname.replace(/^\[|\]$/g, ''), allow);
        return { endpoint, certificate: await certificateAt(address, Number(port || 443)), problem: null };
      } catch (error) {
        const reason = error instanceof Error ? error.message : String(error);
        return { endpoint, certificate: null, problem: `${endpoint}: ${reason}` };
      }
    }),
  );
}

async function addressOf(host: string, allow: readonly string[]): Promise<string> {
  const found = await lookup(host, { all: true }).catch(() => []);
  const [first] = found;
  if (first === undefined) throw new Error('no such host is known');
  for (const { address } of found) {
    if (isOwn(address) && !isOneOf(address, allow))
      throw new HypervisorError('host_not_ready', `leads to this host itself (${address})`, {
        permanent: true,
      });
  }
  return first.address;
}

/** Loopback, what means this host or this link, and every address that an interface of ours has. */
function isOwn(text: string): boolean {
  const address = ipaddr.process(text.replace(/%.*$/, ''));
  if (['loopback', 'unspecified', 'linkLocal', 'multicast', 'broadcast'].includes(address.range()))
    return true;
  const own = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  return own.some(
    (each) => ipaddr.process(each.address.replace(/%.*$/, '')).toString() === address.toString(),
  );
}

function isOneOf(text: string, networks: readonly string[]): boolean {
  const address = ipaddr.process(text);
  return networks.some((network) => {
    if (!network.includes('/')) return ipaddr.process(network).toString() === address.toString();
    const [base, bits] = ipaddr.parseCIDR(network);
    return base.kind() === address.kind() && address.match([base, bits] as never);
  });
}

function certificateAt(host: string, port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    // Which one it is decides; nothing is sent but what every connection begins with.
    const socket = connect({ host, port, rejectUnauthorized: false, timeout: connectMs });
    const end = (act: () => void) => {
      socket.destroy();
      act();
    };
    socket.once('secureConnect', () => {
      const certificate = socket.getPeerX509Certificate()?.toString();
      end(() => (certificate ? resolve(certificate) : reject(new Error('presents no certificate'))));
    });
    socket.once('timeout', () => end(() => reject(new Error('does not answer in time'))));
    socket.once('error', (error) => end(() => reject(new Error(inWords(error)))));
    setTimeout(() => end(() => reject(new Error('does not answer in time'))), connectMs).unref();
  });
}

function inWords(error: NodeJS.ErrnoException): string {
  if (error.code === 'ECONNREFUSED') return 'nobody listens there';
  if (error.code === 'EHOSTUNREACH' || error.code === 'ENETUNREACH') return 'no way leads there';
  if (error.code?.startsWith('ERR_SSL') || error.code === 'EPROTO') return 'speaks no TLS';
  return error.message;
}
