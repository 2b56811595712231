import { createHash, X509Certificate } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import {
  type Desk,
  installerHandler,
  newStart,
  type Plan,
  prove,
  type Report,
  type Start,
} from '../../src/drivers/installer/index.ts';
import { runProgram } from '../../src/platform/host/program.ts';

/** Whoever servers report to in tests: keeps starts in memory, and what it is told. */
export interface TestDesk {
  url: string;
  /** What its certificate's key is known by, as curl takes it. */
  key: string;
  plan: Plan;
  /** The file that `GET image` sends, and after how many bytes it breaks off. */
  image: { file: string; breaksOffAfter?: number } | null;
  reports: { proved: boolean; report: Report }[];
  starts: Start[];
  /** A start of the server, and its token. */
  open(): string;
  /** A nonce was read on the server's serial line. */
  heard(nonce: string): void;
  close(): void;
}

/** Opens one at an address of this host. Its certificate is made in `dir`. */
export async function openDesk(dir: string, address: string): Promise<TestDesk> {
  const { key, cert } = await certificate(dir);
  const desk: TestDesk = {
    url: '',
    key: `sha256//${keyHash(cert)}`,
    plan: { task: 'wait' },
    image: null,
    reports: [],
    starts: [],
    open() {
      const { token, start } = newStart();
      desk.starts.push(start);
      return token;
    },
    heard(nonce) {
      desk.starts = prove(desk.starts, nonce);
    },
    close: () => void server.close(),
  };
  const answer = installerHandler(keeper(desk));
  const server = createServer({ key, cert }, (request, response) => {
    answer(request, response).catch((error) => response.destroy(error));
  });
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  desk.url = `https://${address}:${(server.address() as AddressInfo).port}/installer`;
  return desk;
}

function keeper(desk: TestDesk): Desk {
  return {
    find: async (hash) =>
      desk.starts.find((start) => start.tokenHash === hash || start.secretHash === hash) ?? null,
    async keep(start) {
      desk.starts = desk.starts.map((each) => (each.nonce === start.nonce ? start : each));
      return true;
    },
    report: async ({ proved }, report) => void desk.reports.push({ proved, report }),
    plan: async () => desk.plan,
    async image() {
      if (desk.image === null) return null;
      const { file, breaksOffAfter } = desk.image;
      const content = createReadStream(file, breaksOffAfter ? { end: breaksOffAfter - 1 } : {});
      return { bytes: (await stat(file)).size, content };
    },
  };
}

async function certificate(dir: string): Promise<{ key: string; cert: string }> {
  const [keyFile, certFile] = [join(dir, 'desk.key'), join(dir, 'desk.crt')];
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-subj', '/CN=desk'];
  await runProgram(['openssl', 'req', '-x509', ...kind, '-keyout', keyFile, '-out', certFile]);
  return { key: await readFile(keyFile, 'utf8'), cert: await readFile(certFile, 'utf8') };
}

function keyHash(cert: string): string {
  const key = new X509Certificate(cert).publicKey.export({ type: 'spki', format: 'der' });
  return createHash('sha256').update(key).digest('base64');
}
