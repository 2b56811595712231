import { Type } from 'typebox';
import { Id, ListQuery, listOf, Nullable, named, SortBy, Timestamp } from '../../platform/http/index.ts';

const Moment = (description: string) =>
  Type.Optional(
    Type.String({
      pattern: '^[1-9]\\d{3}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d{1,3})?Z$',
      'x-message': 'must be a moment in UTC, such as 2026-01-31T12:00:00Z',
      description,
      examples: ['2026-01-31T12:00:00Z'],
    }),
  );

export const ActivityQuery = ListQuery({
  action: Type.Optional(Type.String({ minLength: 1, maxLength: 100, description: 'Such as invoice_paid' })),
  user_id: Type.Optional(Id),
  subject: Type.Optional(
    Type.String({
      pattern: '^[a-z][a-z_]{0,49}:[1-9]\\d{0,15}$',
      'x-message': 'must be what it happened to, such as invoice:4503599627370301',
      description: 'What it happened to: its type, a colon, its id',
    }),
  ),
  since: Moment('From this moment on'),
  until: Moment('Before this moment'),
  sort: SortBy(['created_at'], '-created_at'),
});

const ActivityEntry = named(
  'ActivityEntry',
  Type.Object({
    id: Id,
    action: Type.String({ examples: ['invoice_paid'] }),
    description: Type.String({ description: 'In English; `action` and `values` are for other languages' }),
    values: Type.Record(Type.String(), Type.Unknown(), {
      description:
        'What webhooks tell of it, too: amounts, host names and the like; empty where they tell nothing',
    }),
    created_at: Timestamp,
    user: Nullable(
      named(
        'ActivityUser',
        Type.Object({ id: Id, first_name: Type.String(), last_name: Type.String(), email: Type.String() }),
        'Who did it, when it was a person of a customer',
      ),
    ),
    admin: Nullable(
      named(
        'ActivityAdmin',
        Type.Object({ first_name: Type.String(), last_name: Type.String() }),
        'Who did it, when it was one of the provider’s people',
      ),
    ),
    api_key: Nullable(
      named(
        'ActivityKey',
        Type.Object({ id: Id, name: Type.String(), key: Type.String() }),
        'With which key; null when it was done signed in',
      ),
    ),
    ip: Nullable(Type.String({ description: 'From where; not told of staff' })),
    subject: named('ActivitySubject', Type.Object({ type: Type.String(), id: Id }), 'What it happened to'),
    invoice: Nullable(Type.Object({ id: Id })),
    service: Nullable(Type.Object({ id: Id })),
  }),
  'Something that happened; without user and admin the product did it by itself',
);

export const ActivityList = named(
  'ActivityList',
  Type.Object({
    ...listOf('activity', ActivityEntry).properties,
    kept_since: Nullable({
      ...Timestamp,
      description: 'What is older is not kept; null: there is all of it',
    }),
  }),
);
