import type { Example } from '../platform/http/index.ts';

const webhookId = 4503599627373001;
const deliveryId = 4503599627373002;

const webhook = {
  id: webhookId,
  url: 'https://hooks.example.com/innkeeper',
  description: 'Bookkeeping',
  events: ['invoice.paid', 'invoice.refunded'],
  status: 'enabled',
  paused_reason: null,
  failing_since: null,
  last_success_at: null,
  created_at: '2026-01-31T12:00:00.000Z',
};
const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw7UFmyp4xkqM=';
const summary = {
  id: deliveryId,
  message_id: `msg_${deliveryId}`,
  webhook_id: webhookId,
  event: 'webhook.test',
  state: 'waiting',
  tries: 0,
  next_try_at: '2026-01-31T12:00:05.000Z',
  created_at: '2026-01-31T12:00:05.000Z',
  finished_at: null,
};
const body = `{"type":"webhook.test","timestamp":"2026-01-31T12:00:05.000Z","data":{"organization_id":4503599627370101,"subject":{"type":"webhook","id":${webhookId}}}}`;
const delivery = { ...summary, request: { url: webhook.url, body }, attempts: [] };
const params = { id: webhookId };
const one = { pages: 1, current_page: 1, entries: 1, total: 1, next_cursor: null };

export const examples = {
  listWebhooks: { data: { webhooks: [webhook], ...one } },
  createWebhook: {
    body: { url: webhook.url, description: webhook.description, events: webhook.events },
    data: { webhook, secret },
  },
  getWebhook: { params, data: { webhook } },
  updateWebhook: { params, body: { status: 'paused' }, data: { webhook: { ...webhook, status: 'paused' } } },
  deleteWebhook: { params, data: {} },
  rotateWebhookSecret: { params, data: { secret, previous_until: '2026-02-01T12:00:00.000Z' } },
  testWebhook: { params, data: { delivery } },
  replayWebhook: { params, body: { since: '2026-01-31T00:00:00Z' }, data: { replayed: 0, next_since: null } },
  listWebhookDeliveries: { params, data: { deliveries: [summary], ...one } },
  getWebhookDelivery: { params: { id: deliveryId }, data: { delivery } },
  replayWebhookDelivery: { params: { id: deliveryId }, data: { delivery } },
  listAllWebhookDeliveries: {
    data: { deliveries: [{ ...summary, organization_id: 4503599627370101 }], ...one },
  },
} satisfies Record<string, Example>;
