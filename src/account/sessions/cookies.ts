import { comesFromUs, readCookie, sessionCookie } from '../../platform/http/index.ts';
import { type Context, fail, type Seal } from '../../platform/index.ts';
import { deviceOwnerOf, looksLikeDevice } from './token.ts';

type Headers = Readonly<Record<string, string | string[] | undefined>>;

const deviceCookie = `${sessionCookie}-device`;
const deviceSeconds = 365 * 86_400;
// No script reads them, no other site has them sent along with a change, and `__Host-` keeps neighbours from setting them.
const attributes = 'Path=/; Secure; HttpOnly; SameSite=Lax';

/** Headers that give a browser its session, and by which it is known again. */
export function cookiesOf(token: string, device: string | null, seconds: number) {
  const session = `${sessionCookie}=${token}; ${attributes}; Max-Age=${seconds}`;
  if (device === null) return { 'set-cookie': [session] };
  return { 'set-cookie': [session, `${deviceCookie}=${device}; ${attributes}; Max-Age=${deviceSeconds}`] };
}

/** Takes the session from the browser; it stays known. */
export const noSession = { 'set-cookie': `${sessionCookie}=; ${attributes}; Max-Age=0` };

/** The token by which this browser is known; null for one that has none. */
export function deviceTokenOf(headers: Headers): string | null {
  const token = readCookie(headers, deviceCookie);
  return token !== null && looksLikeDevice(token) ? token : null;
}

/**
 * What a browser in which somebody signed in before is counted by, instead of its address: strangers there cannot keep them from
 * signing in. All browsers of a person share it, so that nobody collects them.
 */
export function budgetOf(headers: Headers, seal: Seal): string | null {
  const token = deviceTokenOf(headers);
  const owner = token === null ? null : deviceOwnerOf(seal, token);
  return owner === null ? null : `v${owner}`;
}

/**
 * Before anybody is asked for a password: whether the browser could keep the session. `insecure_connection` where it
 * throws such cookies away, over plain http from another machine; `origin_refused` for another site's page.
 */
export function requireCookies(ctx: Context, headers: Headers): void {
  const publicUrl = new URL(ctx.config.publicUrl);
  if (headers.origin !== undefined && !comesFromUs(headers, publicUrl.origin)) throw fail('origin_refused');
  if (isSecure(headers, publicUrl)) return;
  if (publicUrl.protocol !== 'https:') throw fail('insecure_connection');
  const message = `Browsers keep a session only over https: open ${publicUrl.origin} and sign in there`;
  throw fail('insecure_connection', { message });
}

/** A proxy that takes https may name our host, or say so; the machine's own browser needs none. */
function isSecure(headers: Headers, publicUrl: URL): boolean {
  const host = String(headers.host ?? '').toLowerCase();
  if (isOwnMachine(host.replace(/:\d+$/, ''))) return true;
  if (publicUrl.protocol === 'https:' && host === publicUrl.host) return true;
  return headers['x-forwarded-proto'] === 'https' || String(headers.origin).startsWith('https://');
}

function isOwnMachine(name: string): boolean {
  return (
    name === 'localhost' ||
    name.endsWith('.localhost') ||
    name === '[::1]' ||
    /^127(\.\d{1,3}){3}$/.test(name)
  );
}
