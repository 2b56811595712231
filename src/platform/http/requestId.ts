import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

const acceptable = /^[A-Za-z0-9._-]{1,100}$/;
// Random once a process, counted from there: unique without asking the kernel for each request.
const prefix = randomBytes(9).toString('base64url').replaceAll('-', '.');
let count = 0;

/** The caller's `X-Request-Id` when it can go into a log as it is, otherwise one of ours. */
export function requestIdOf(request: IncomingMessage): string {
  const sent = request.headers['x-request-id'];
  if (typeof sent === 'string' && acceptable.test(sent)) return sent;
  count += 1;
  return `${prefix}-${count.toString(36)}`;
}
