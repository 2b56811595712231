import { event } from '../events/index.ts';

interface WebhookNamed {
  url: string;
}

interface WebhookUpdated {
  change: object;
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
export const webhookPaused = event<WebhookPaused>(
  'webhook.paused',
  'an endpoint for webhooks was paused, since it had taken nothing for a day',
);
