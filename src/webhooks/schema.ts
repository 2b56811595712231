import { Type } from 'typebox';
import {
  Choice,
  Id,
  ListQuery,
  listOf,
  Nullable,
  named,
  SortBy,
  Strict,
  Timestamp,
} from '../platform/http/index.ts';

const Url = Type.String({
  minLength: 1,
  maxLength: 2_000,
  description: 'Where to send; https, on port 443 or 8443',
  examples: ['https://hooks.example.com/innkeeper'],
});
const Description = Type.String({ maxLength: 200 });
const Events = Nullable(
  Type.Array(Type.String({ maxLength: 100, examples: ['invoice.paid'] }), {
    minItems: 1,
    maxItems: 100,
    description: 'Names of events; null: all, also those that come later',
  }),
);
const Status = named(
  'WebhookStatus',
  Choice(['enabled', 'paused'], {
    description: 'paused: what happens is kept, and sent once it is enabled again',
  }),
);
const State = named('DeliveryState', Choice(['waiting', 'delivered', 'failed']));

const Webhook = named(
  'Webhook',
  Type.Object({
    id: Id,
    url: Url,
    description: Description,
    events: Events,
    status: Status,
    paused_reason: Nullable(Type.String({ description: 'What came back last, when we paused it' })),
    failing_since: Nullable(Timestamp),
    last_success_at: Nullable(Timestamp),
    created_at: Timestamp,
  }),
  'An address that is told of events',
);

export const NewWebhook = named(
  'NewWebhook',
  Strict({ url: Url, description: Type.Optional(Description), events: Type.Optional(Events) }),
);
export const WebhookChange = named(
  'WebhookChange',
  Strict({
    url: Type.Optional(Url),
    description: Type.Optional(Description),
    events: Type.Optional(Events),
    status: Type.Optional(Status),
  }),
);
const Secret = Type.String({
  description: 'Shown this once: signatures are checked with it',
  examples: ['whsec_…'],
});

export const WebhookData = Type.Object({ webhook: Webhook });
export const WebhookMade = Type.Object({ webhook: Webhook, secret: Secret });
export const SecretRotated = Type.Object({ secret: Secret, previous_until: Timestamp });
export const WebhookList = named('WebhookList', listOf('webhooks', Webhook));
export const WebhookQuery = ListQuery({ sort: SortBy(['created_at'], '-created_at') });

const summary = {
  id: Id,
  message_id: Type.String({
    description: 'The header webhook-id of each try',
    examples: ['msg_4503599627370449'],
  }),
  webhook_id: Id,
  event: Type.String(),
  state: State,
  tries: Type.Integer(),
  next_try_at: Nullable(Timestamp),
  created_at: Timestamp,
  finished_at: Nullable(Timestamp),
};
const DeliverySummary = named('WebhookDeliverySummary', Type.Object(summary));
const Attempt = named(
  'WebhookAttempt',
  Type.Object({
    tried_at: Timestamp,
    duration_ms: Type.Integer(),
    status: Nullable(Type.Integer({ description: 'Null: there was no answer' })),
    error: Nullable(Type.String()),
    answer: Nullable(Type.String({ description: 'Its first 4,000 characters' })),
  }),
);
const Delivery = named(
  'WebhookDelivery',
  Type.Object({
    ...summary,
    request: Type.Object({ url: Type.String(), body: Type.String() }),
    attempts: Type.Array(Attempt, { description: 'The newest fifty' }),
  }),
  'An event on its way to an endpoint, or there',
);
export const DeliveryData = Type.Object({ delivery: Delivery });
export const DeliveryList = named('WebhookDeliveryList', listOf('deliveries', DeliverySummary));
const filters = { state: Type.Optional(State), sort: SortBy(['created_at'], '-created_at') };
export const DeliveryQuery = ListQuery(filters);

const Moment = Type.String({
  pattern: '^[1-9]\\d{3}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d{1,3})?Z$',
  'x-message': 'must be a moment in UTC, such as 2026-01-31T12:00:00Z',
  examples: ['2026-01-31T12:00:00Z'],
});
export const Span = named(
  'WebhookReplay',
  Strict({
    since: Moment,
    until: Type.Optional(Moment),
    state: Type.Optional(Choice(['failed', 'all'], { description: 'failed, when absent' })),
  }),
);
export const Replayed = Type.Object({
  replayed: Type.Integer(),
  next_since: Nullable({
    ...Timestamp,
    description: 'Where the rest of the span begins: ask again with it as `since`. Null: that was all',
  }),
});

const StaffDelivery = named('WebhookDeliveryOf', Type.Object({ ...summary, organization_id: Id }));
export const StaffDeliveryList = named('WebhookDeliveriesOf', listOf('deliveries', StaffDelivery));
export const StaffDeliveryQuery = ListQuery({ organization_id: Type.Optional(Id), ...filters });
