import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { type Context, type SealedValue, statement } from '../platform/index.ts';

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

/** The headers of a try: its id, when it was signed, and a signature with each secret that counts. */
export function signedHeaders(
  { seal, clock }: Context,
  { endpoint_id, secret, previous_secret, previous_until }: Secrets,
  id: string,
  body: string,
): Record<string, string> {
  const now = clock.now();
  const isBoth = previous_secret !== null && previous_until !== null && previous_until > now;
  const signatures = (isBoth ? [secret, previous_secret] : [secret]).map((sealed) =>
    new Webhook(seal.open(sealed, contextOf(endpoint_id))).sign(id, now, body),
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
