import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { PassThrough, type Readable } from 'node:stream';
import {
  type Desk,
  ensureCallCertificate,
  installerHandler,
  newStart,
  type Plan,
  prove,
  type Report,
  type Start,
} from '../../src/drivers/installer/index.ts';

/** Whoever servers report to in tests: keeps starts in memory, and what it is told. */
export interface TestDesk {
  url: string;
  /** What its certificate's key is known by, as curl takes it. */
  key: string;
  plan: Plan;
  /** The file that `GET image` sends, and after how many bytes it breaks off, or nothing more comes. */
  image: { file: string; breaksOffAfter?: number; stallsAfter?: number } | null;
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
  const { key, cert, pin } = await ensureCallCertificate(dir);
  const desk: TestDesk = {
    url: '',
    key: pin,
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
    close() {
      server.close();
      // A server whose power is gone says no goodbye.
      server.closeAllConnections();
    },
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
    meanwhile: async () => ({ task: 'wait' }),
    async image() {
      if (desk.image === null) return null;
      const { file, breaksOffAfter, stallsAfter } = desk.image;
      const sent = breaksOffAfter ?? stallsAfter;
      const content = createReadStream(file, sent === undefined ? {} : { end: sent - 1 });
      return {
        bytes: (await stat(file)).size,
        content: stallsAfter === undefined ? content : endless(content),
      };
    },
  };
}

function endless(content: Readable): Readable {
  return content.pipe(new PassThrough(), { end: false });
}
