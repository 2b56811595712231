import { createHash, X509Certificate } from 'node:crypto';
import { mkdir, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { runProgram } from '../../platform/host/program.ts';

/** What the installer's calls are answered with. */
export interface CallCertificate {
  /** PEM, both. */
  key: string;
  cert: string;
  /** How the boot script names the key: `sha256//` and its hash in Base64, as curl pins it. */
  pin: string;
}

/** The one in `dir`, made when it is first wanted and kept, so that a server that is at work finds the same key after a restart of ours. */
export async function ensureCallCertificate(dir: string): Promise<CallCertificate> {
  const [keyFile, certFile] = [join(dir, 'calls.key'), join(dir, 'calls.crt')];
  await mkdir(dir, { recursive: true, mode: 0o700 });
  if ((await textOf(certFile)) === null) await make(keyFile, certFile);
  const [key, cert] = [await readFile(keyFile, 'utf8'), await readFile(certFile, 'utf8')];
  const spki = new X509Certificate(cert).publicKey.export({ type: 'spki', format: 'der' });
  return { key, cert, pin: `sha256//${createHash('sha256').update(spki).digest('base64')}` };
}

async function make(keyFile: string, certFile: string): Promise<void> {
  const partial = `${certFile}.partial`;
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-subj', '/CN=installer'];
  // Nobody looks at its days: the key is what is pinned.
  const argv = ['openssl', 'req', '-x509', '-days', '36500', ...kind, '-keyout', keyFile, '-out', partial];
  await runProgram(argv).catch((cause: Error) => {
    const message = `no key could be made for the calls of servers (Debian package openssl): ${cause.message}`;
    throw new Error(message, { cause });
  });
  await rename(partial, certFile);
}

function textOf(file: string): Promise<string | null> {
  return readFile(file, 'utf8').catch(() => null);
}
