import type { IncomingHttpHeaders } from 'node:http';
import { fail } from '../errors.ts';

/** Name of the dashboard's session cookie. `__Host-` binds it to this host, to https and to the path `/`. */
export const sessionCookie = '__Host-innkeeper';

const longestCredential = 512;
const safeMethods = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * The credential of a request: the header `token`, its alias `Authorization: Bearer`, or the dashboard's
 * cookie. Null when there is none that could be one. A cookie is sent by the browser whoever wrote the page,
 * so with it anything that changes something must come from our own pages; otherwise `origin_refused`.
 */
export function readCredential(
  method: string,
  headers: IncomingHttpHeaders,
  publicOrigin: string,
): string | null {
  const token = headers.token ?? fromBearer(headers.authorization);
  if (typeof token === 'string') return isPlausible(token) ? token : null;
  const cookie = readCookie(headers, sessionCookie);
  if (cookie === null || !isPlausible(cookie)) return null;
  if (!safeMethods.has(method) && !comesFromUs(headers, publicOrigin)) throw fail('origin_refused');
  return cookie;
}

function isPlausible(credential: string): boolean {
  return credential.length > 0 && credential.length <= longestCredential;
}

function fromBearer(authorization: string | undefined): string | undefined {
  if (authorization === undefined) return undefined;
  return /^bearer +(\S+)$/i.exec(authorization)?.[1];
}

/** The value of a cookie; null when the browser sent none of that name. */
export function readCookie(
  { cookie }: { cookie?: string | string[] | undefined },
  wanted: string,
): string | null {
  for (const pair of String(cookie ?? '').split(';')) {
    const [name, value] = pair.trim().split('=', 2);
    if (name === wanted && value !== undefined) return value;
  }
  return null;
}

/** Whether a browser says that one of our own pages sends this. */
export function comesFromUs(headers: IncomingHttpHeaders, publicOrigin: string): boolean {
  if (headers.origin === undefined) return headers['sec-fetch-site'] === 'same-origin';
  return headers.origin === publicOrigin || headers.origin.replace(/^https?:\/\//, '') === headers.host;
}

const organizationPattern = /^[1-9]\d{0,15}$/;

/** The header `x-organization-id`; null when it is absent or not an integer that could be an id. */
export function readOrganization(headers: IncomingHttpHeaders): number | null {
  const text = headers['x-organization-id'];
  if (typeof text !== 'string' || !organizationPattern.test(text)) return null;
  const id = Number(text);
  return Number.isSafeInteger(id) ? id : null;
}
