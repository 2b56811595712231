import { Type } from 'typebox';
import { OrganizationName } from '../../organizations/index.ts';
import {
  Choice,
  Id,
  ListQuery,
  listOf,
  MoneyText,
  meaning,
  Nullable,
  named,
  SortBy,
  Strict,
  Timestamp,
} from '../../platform/http/index.ts';

const ReviewStatus = named(
  'ReviewStatus',
  Choice(['held', 'released', 'refused']),
  '`held` until staff lets it be delivered or gives the money back',
);

const Order = named(
  'StaffOrder',
  Type.Object({
    id: meaning('The id of its invoice', Id),
    number: Nullable(meaning('Of its invoice, once that was issued', Type.String())),
    organization: OrganizationName,
    user_id: Nullable(meaning('Who ordered', Id)),
    invoice_status: Type.String(),
    currency: Type.String(),
    total: MoneyText,
    created_at: Timestamp,
    services: Type.Array(
      named(
        'OrderedService',
        Type.Object({
          id: Id,
          product: Type.String(),
          domain: Nullable(Type.String()),
          status: Type.String(),
        }),
      ),
    ),
    review: Nullable(
      named(
        'OrderReview',
        Type.Object({
          status: ReviewStatus,
          reasons: Type.Array(Type.String()),
          held_at: Timestamp,
          decided_at: Nullable(Timestamp),
          decided_by: Nullable(meaning('Who of staff decided', Id)),
          note: Nullable(Type.String()),
        }),
        'Why a paid order was held, and what came of it',
      ),
    ),
  }),
  'An order as staff sees it',
);

export const OrderData = named('StaffOrderAnswer', Type.Object({ order: Order }));
export const OrderList = named('StaffOrderList', listOf('orders', Order));
export const OrderQuery = ListQuery({
  review: Type.Optional(ReviewStatus),
  organization_id: Type.Optional(Id),
  sort: SortBy(['created_at'], '-created_at'),
});

const Words = (description: string) => Type.String({ minLength: 1, maxLength: 1_000, description });

export const Release = named(
  'OrderRelease',
  Strict({ note: Type.Optional(Words('For staff; the customer does not see it')) }),
);
export const Refusal = named(
  'OrderRefusal',
  Strict({ reason: Words('Told to the customer with the refund') }),
);
