import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { InstallerError } from './failure.ts';
import { checkPlan, type Plan } from './plan.ts';
import { claim, hashOf, type Start } from './proof.ts';
import { type Report, readReport } from './report.ts';

/** Whoever keeps the starts and decides what becomes of them. Hashes are as {@link hashOf} makes them. */
export interface Desk {
  /** The start that this token or secret is of; null when there is none, or it is over. */
  find(hash: string): Promise<Start | null>;
  /** Keeps what a claim made of the start. False when another claim came first. */
  keep(start: Start): Promise<boolean>;
  /** A server told something. One that is not proved is a stranger, whatever it says. */
  report(start: Start, report: Report): Promise<void>;
  /** What is to be done. Asked for proved starts alone. */
  plan(start: Start): Promise<Plan>;
  /** What a server does whose start nobody has proved: at most it gives its own BMC a password that nothing else has. */
  meanwhile(start: Start): Promise<Extract<Plan, { task: 'wait' | 'bmc' }>>;
  /** What the plan installs, packed: a file tree or the image of a disk; null when it installs none. Asked for proved starts alone. */
  image(start: Start): Promise<{ bytes: number; content: Readable } | null>;
}

/** A report is mostly an inventory, and that is some ten thousand bytes for a large server. */
const longestBody = 2 * 2 ** 20;

/**
 * Answers the installer's calls, below whatever path it is told with the boot script, over TLS: `POST claim`, `POST report`, `GET plan`,
 * `GET image`. Plan and image open to the one start whose nonce was read on the serial line.
 */
export function installerHandler(desk: Desk) {
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = URL.parse(request.url ?? '/', 'http://x');
    if (url === null) return reply(response, 400, {});
    const call = `${request.method} ${url.pathname.split('/').at(-1)}`;
    try {
      await answer(desk, call, request, response);
    } catch (error) {
      if (!(error instanceof InstallerError)) throw error;
      reply(response, 422, { error: error.message });
    }
  };
}

async function answer(desk: Desk, call: string, request: IncomingMessage, response: ServerResponse) {
  const given = request.headers.authorization?.match(/^Bearer ([A-Za-z0-9_-]{1,100})$/)?.[1];
  const start = given === undefined ? null : await desk.find(hashOf(given));
  if (start === null || given === undefined) return reply(response, 403, {});
  if (call === 'POST claim') return claimed(desk, start, await bodyOf(request), response);
  // The token itself, which went over the network in the clear, opens nothing but the claim.
  if (start.secretHash !== hashOf(given)) return reply(response, 403, {});
  if (call === 'POST report') {
    await desk.report(start, readReport(await bodyOf(request)));
    return reply(response, 200, {});
  }
  if (call === 'GET plan') return planned(desk, start, response);
  if (call === 'GET image') return sendImage(desk, start, response);
  return reply(response, 404, {});
}

async function claimed(desk: Desk, start: Start, body: unknown, response: ServerResponse) {
  const secret = typeof body === 'object' && body !== null && 'secret' in body ? body.secret : null;
  if (typeof secret !== 'string' || !/^[0-9a-f]{64}$/.test(secret))
    throw new InstallerError('report_invalid', 'a claim brings a secret of 64 hexadecimal digits');
  const mine = claim(start, secret);
  if (mine === null || !(await desk.keep(mine))) return reply(response, 403, {});
  reply(response, 200, { nonce: mine.nonce });
}

async function planned(desk: Desk, start: Start, response: ServerResponse) {
  const plan: Plan = start.proved ? await desk.plan(start) : await desk.meanwhile(start);
  checkPlan(plan);
  reply(response, 200, plan);
}

async function sendImage(desk: Desk, start: Start, response: ServerResponse) {
  const image = start.proved ? await desk.image(start) : null;
  if (image === null) return reply(response, 403, {});
  response.writeHead(200, { 'content-type': 'application/octet-stream', 'content-length': image.bytes });
  // A server that goes away in the middle comes again; there is nobody to tell.
  await pipeline(image.content, response).catch(() => response.destroy());
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > longestBody) throw new InstallerError('report_invalid', 'a report is longer than 2 MiB');
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch (cause) {
    throw new InstallerError('report_invalid', 'a report is not JSON', { cause });
  }
}

function reply(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
