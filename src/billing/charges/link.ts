import { timingSafeEqual } from 'node:crypto';
import type { Context } from '../../platform/index.ts';

/**
 * Where we send a customer who is to pay or to save a method: an address of ours, which opens a page at the provider when
 * somebody comes. So a request need not wait for the provider, and a link in a mail is good for longer than a page.
 */
export type Errand =
  | { kind: 'charge'; chargeId: number }
  | { kind: 'method'; organizationId: number; nonce: number; expiresMs: number };

/** The address. Nobody makes one but us: it ends with a keyed fingerprint of what it says. */
export function linkOf(ctx: Context, errand: Errand): string {
  const text = textOf(errand);
  return `${ctx.config.publicUrl}/api/payment-pages/${text}.${markOf(ctx, text).toString('base64url')}`;
}

/** What the end of such an address says; null when it is not one of ours, or its time is over. */
export function errandOf(ctx: Context, told: string): Errand | null {
  const at = told.lastIndexOf('.');
  const text = told.slice(0, at);
  const mark = Buffer.from(told.slice(at + 1), 'base64url');
  const ours = markOf(ctx, text);
  if (mark.length !== ours.length || !timingSafeEqual(mark, ours)) return null;
  const [kind, ...numbers] = text.split('-');
  const [first = 0, nonce = 0, expiresMs = 0] = numbers.map(Number);
  if (kind === 'charge') return { kind, chargeId: first };
  if (kind !== 'method' || expiresMs <= ctx.clock.now().getTime()) return null;
  return { kind, organizationId: first, nonce, expiresMs };
}

function textOf(errand: Errand): string {
  if (errand.kind === 'charge') return `charge-${errand.chargeId}`;
  return `method-${errand.organizationId}-${errand.nonce}-${errand.expiresMs}`;
}

function markOf(ctx: Context, text: string): Buffer {
  return ctx.seal.fingerprint(`payment page ${text}`);
}
