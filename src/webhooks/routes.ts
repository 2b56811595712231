import { IdParams, Nothing, routes } from '../platform/http/index.ts';
import {
  listAllDeliveries,
  listDeliveries,
  readDelivery,
  replayDelivery,
  replaySpan,
  sendTest,
} from './deliveries.ts';
import {
  changeEndpoint,
  createEndpoint,
  deleteEndpoint,
  listEndpoints,
  lockEndpoint,
  readEndpoint,
  rotateSecret,
} from './endpoints.ts';
import { examples } from './examples.ts';
import * as S from './schema.ts';

const group = {
  tag: 'Webhooks',
  about:
    'Addresses of yours that are told of events, by Standard Webhooks 1.0: signed, and tried for three days with the same id.',
  examples,
};
const manages = { auth: 'organization', permission: 'webhook.manage' } as const;

export const webhookRoutes = routes('/dashboard/webhooks', group, (route) => {
  route.get(
    '',
    {
      ...manages,
      operation: 'listWebhooks',
      summary: 'List webhooks',
      description: 'The endpoints of the organization, newest first.',
      query: S.WebhookQuery,
      data: S.WebhookList,
    },
    (ctx, req) => listEndpoints(ctx, req.query),
  );
  route.post(
    '',
    {
      ...manages,
      personal: true,
      operation: 'createWebhook',
      summary: 'Create webhook',
      description:
        'Makes an endpoint, which gets what happens from now on. Its `secret` is shown this once. Events may come in another ' +
        'order than they happened, and more than once: `webhook-id` is the same then. At most 20.',
      body: S.NewWebhook,
      data: S.WebhookMade,
      errors: ['too_many'],
    },
    (ctx, req) => createEndpoint(ctx, req.body),
  );
  route.get(
    '/:id',
    {
      ...manages,
      operation: 'getWebhook',
      summary: 'Get webhook',
      description: 'One endpoint, and whether it takes what it is sent.',
      params: IdParams,
      data: S.WebhookData,
      errors: ['not_found'],
      etag: { without: ['failing_since', 'last_success_at'] },
    },
    (ctx, req) => readEndpoint(ctx, req.params.id),
  );
  route.patch(
    '/:id',
    {
      ...manages,
      personal: true,
      operation: 'updateWebhook',
      summary: 'Update webhook',
      description: 'Changes an endpoint, pauses it, or enables it again; then all that waited is sent.',
      params: IdParams,
      body: S.WebhookChange,
      data: S.WebhookData,
      errors: ['not_found'],
      lock: (tx, req) => lockEndpoint(tx, req.params.id),
    },
    (ctx, req) => changeEndpoint(ctx, req.params.id, req.body),
  );
  route.delete(
    '/:id',
    {
      ...manages,
      operation: 'deleteWebhook',
      summary: 'Delete webhook',
      description: 'Removes an endpoint with its deliveries, also those that wait.',
      params: IdParams,
      data: Nothing,
      errors: ['not_found'],
      lock: (tx, req) => lockEndpoint(tx, req.params.id),
    },
    (ctx, req) => deleteEndpoint(ctx, req.params.id),
  );
  route.post(
    '/:id/rotate-secret',
    {
      ...manages,
      personal: true,
      operation: 'rotateWebhookSecret',
      summary: 'Rotate secret',
      description:
        'Gives the endpoint another secret, shown this once. For a day what it gets is signed with both, so that nothing is ' +
        'refused while you change it.',
      params: IdParams,
      data: S.SecretRotated,
      errors: ['not_found'],
    },
    (ctx, req) => rotateSecret(ctx, req.params.id),
  );
  route.post(
    '/:id/test',
    {
      ...manages,
      operation: 'testWebhook',
      summary: 'Send test',
      description: 'Sends an event `webhook.test`, as any other. Ask for the delivery to see what came back.',
      params: IdParams,
      data: S.DeliveryData,
      limit: 'webhook-test',
      errors: ['not_found'],
    },
    (ctx, req) => sendTest(ctx, req.params.id),
  );
  route.post(
    '/:id/replay',
    {
      ...manages,
      operation: 'replayWebhook',
      summary: 'Replay a span of time',
      description:
        'Sends what happened in a span of time again: what has failed, or all of it. Some 10,000 at once, the oldest first; ' +
        '`replayed` says how many, and `next_since` where the rest begins.',
      params: IdParams,
      body: S.Span,
      data: S.Replayed,
      limit: 'webhook-test',
      errors: ['not_found'],
    },
    (ctx, req) => replaySpan(ctx, req.params.id, req.body),
  );
  route.get(
    '/:id/deliveries',
    {
      ...manages,
      operation: 'listWebhookDeliveries',
      summary: 'List deliveries',
      description:
        'What is to be sent to an endpoint, or came to its end in the last thirty days, newest first.',
      params: IdParams,
      query: S.DeliveryQuery,
      data: S.DeliveryList,
      errors: ['not_found'],
    },
    (ctx, req) => listDeliveries(ctx, req.params.id, req.query),
  );
  route.get(
    '/deliveries/:id',
    {
      ...manages,
      operation: 'getWebhookDelivery',
      summary: 'Get delivery',
      description: 'What was sent, each try, and what came back.',
      params: IdParams,
      data: S.DeliveryData,
      errors: ['not_found'],
    },
    (ctx, req) => readDelivery(ctx, req.params.id),
  );
  route.post(
    '/deliveries/:id/replay',
    {
      ...manages,
      operation: 'replayWebhookDelivery',
      summary: 'Replay delivery',
      description:
        'Sends it again with the same `webhook-id`, whatever became of it, also when a try is under way.',
      params: IdParams,
      data: S.DeliveryData,
      limit: 'webhook-test',
      errors: ['not_found'],
    },
    (ctx, req) => replayDelivery(ctx, req.params.id),
  );
});

const staffGroup = { tag: 'Staff: webhooks', about: 'What customers are sent.', examples };

export const webhookStaffRoutes = routes('/staff/webhook-deliveries', staffGroup, (route) => {
  route.get(
    '',
    {
      auth: 'staff',
      operation: 'listAllWebhookDeliveries',
      summary: 'List all deliveries',
      description: 'Deliveries of all organizations, or of one, newest first; without what was sent.',
      query: S.StaffDeliveryQuery,
      data: S.StaffDeliveryList,
    },
    (ctx, req) => listAllDeliveries(ctx, req.query),
  );
});
