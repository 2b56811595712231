import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { type Context, type Seal, type SealedValue, statement } from '../platform/index.ts';

/** A new signing secret, as Standard Webhooks writes them. */
export function newSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

const contextOf = (endpointId: number) => `webhook ${endpointId}`;

export function sealSecret({ seal }: Context, endpointId: number, secret: string): Buffer {
  return seal.close(secret, contextOf(endpointId));
}

export interface Secrets {
  endpoint_id: number;
  secret: Buffer;
  previous_secret: Buffer | null;
  previous_until: Date | null;
}

/** Keys that were opened, by whose they are and what they were opened from. Who can open them may keep them as well. */
const openedBy = new WeakMap<Seal, Map<string, Webhook>>();
const mostOpened = 2_000;

function keyOf({ seal }: Context, endpointId: number, sealed: Buffer): Webhook {
  const opened = openedBy.get(seal) ?? new Map<string, Webhook>();
  openedBy.set(seal, opened);
  const name = `${endpointId} ${sealed.toString('base64')}`;
  const key = opened.get(name) ?? new Webhook(seal.open(sealed, contextOf(endpointId)));
  if (opened.size >= mostOpened) opened.clear();
  opened.set(name, key);
  return key;
}

/** The headers of a try: its id, when it was signed, and a signature with each secret that counts. */
export function signedHeaders(
  ctx: Context,
  { endpoint_id, secret, previous_secret, previous_until }: Secrets,
  id: string,
  body: string,
): Record<string, string> {
  const now = ctx.clock.now();
  const isBoth = previous_secret !== null && previous_until !== null && previous_until > now;
  const signatures = (isBoth ? [secret, previous_secret] : [secret]).map((sealed) =>
    keyOf(ctx, endpoint_id, sealed).sign(id, now, body),
  );
  return {
    'content-type': 'application/json',
    'user-agent': 'Innkeeper-Webhooks/1.0',
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
    'webhook-signature': signatures.join(' '),
  };
}

export const sealedWebhooks = statement<SealedValue, { limit: number }>(
  'webhooks.sealed',
  `select secret as sealed, 'webhook ' || id as context from webhook_endpoints order by id limit :limit`,
);
