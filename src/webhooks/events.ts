import { event } from '../events/index.ts';

interface WebhookNamed {
  url: string;
}

interface WebhookUpdated {
  change: object;
}

interface WebhookTested {
  delivery_id: number;
}

interface WebhookReplayed {
  /** Of one delivery; null of a span of time. */
  delivery_id: number | null;
  replayed: number;
}

interface WebhookPaused {
  user_id: number;
  url: string;
  failing_since: string;
  reason: string;
}

export const webhookCreated = event<WebhookNamed>('webhook.created', 'an endpoint for webhooks was made');
export const webhookUpdated = event<WebhookUpdated>(
  'webhook.updated',
  'an endpoint for webhooks was changed',
);
export const webhookDeleted = event<WebhookNamed>('webhook.deleted', 'an endpoint for webhooks was removed');
export const webhookSecretRotated = event(
  'webhook.secret_rotated',
  'an endpoint for webhooks got a new signing secret; the one before signs as well for a day',
);
export const webhookTested = event<WebhookTested>(
  'webhook.tested',
  'an endpoint for webhooks was sent a test',
);
export const webhookReplayed = event<WebhookReplayed>(
  'webhook.replayed',
  'what an endpoint for webhooks was sent before is sent again',
);
export const webhookPaused = event<WebhookPaused>(
  'webhook.paused',
  'an endpoint for webhooks was paused, since it had taken nothing for a day',
);
