import { Type } from 'typebox';
import { CycleName } from '../../catalog/index.ts';
import { OrganizationName } from '../../organizations/index.ts';
import {
  Choice,
  Day,
  Id,
  ListQuery,
  listOf,
  MoneyText,
  meaning,
  Nullable,
  named,
  SortBy,
  Strict,
  shownAs,
  Timestamp,
} from '../../platform/http/index.ts';
import { serviceStatuses } from '../states.ts';

const count = (description: string) => Type.Integer({ description });
const Cycle = shownAs(CycleName, Type.String());

const PriceMove = named(
  'PriceMove',
  Type.Object({
    id: Id,
    product: Type.Object({ id: Id, name: Type.String() }),
    from: meaning('It counts from the first renewal of each service on this day or later', Day),
    notice_days: count('Between the mail to a customer and the first day on which it counts for them'),
    currency: Type.String(),
    prices: Type.Array(Type.Object({ cycle: Cycle, price: meaning('Without units beyond it', MoneyText) })),
    state: Choice(['preparing', 'announced', 'done', 'revoked'], {
      description: '`preparing` while services are gathered, `done` when it waits for none of them',
    }),
    services: named(
      'PriceMoveCounts',
      Type.Object({
        waiting: count('Their customers were not told yet, or the mail was not sent'),
        told: count('Their customers were told, and their next renewals are to come'),
        moved: count('They pay the new price'),
        ended: count('They ended or became something else before'),
        revoked: count('Staff took it back before'),
      }),
      'How many services are how far',
    ),
    user_id: Nullable(meaning('Who decided it', Id)),
    created_at: Timestamp,
    revoked_at: Nullable(Timestamp),
  }),
  'Services of a product that go over to what it costs today',
);

const ServiceName = named(
  'PriceMoveService',
  Type.Object({ id: Id, hostname: Nullable(Type.String()), status: Choice(serviceStatuses) }),
);
const before = meaning('Of a period, before tax', MoneyText);

const Preview = named(
  'PriceMovePreview',
  Type.Object({
    from: Day,
    currency: Type.String(),
    totals: Nullable(
      Type.Object({
        services: count('Whose price would change'),
        unchanged: count('Whose price would not, or who are going to end'),
        cycles: Type.Array(
          Type.Object({
            cycle: Cycle,
            services: Type.Integer(),
            price_before: meaning('Of one period of all of them, before tax', MoneyText),
            price_after: MoneyText,
          }),
        ),
      }),
    ),
    services: Type.Array(
      Type.Object({
        service: ServiceName,
        organization: OrganizationName,
        cycle: Cycle,
        price_before: before,
        price_after: MoneyText,
        first_on: Nullable(meaning('The first renewal at the new price; null before it is delivered', Day)),
      }),
    ),
    next_cursor: Nullable(Type.String()),
  }),
  'Whom a move would concern: of up to 500 services at once; `totals`, of all of them, in the first answer',
);

export const NewPriceMove = named(
  'NewPriceMove',
  Strict({
    from: meaning('The first day on which a renewal may have the new price', Day),
    dry_run: Type.Optional(Type.Boolean({ description: 'Say whom it would concern, and write nothing' })),
  }),
);
export const PreviewQuery = Strict({
  cursor: Type.Optional(
    Type.String({
      pattern: '^[0-9]{1,16}$',
      'x-message': 'must be next_cursor of the answer before',
      description: '`next_cursor` of the preview before',
    }),
  ),
});
export const PriceMoveMade = named(
  'PriceMoveMade',
  Type.Object({ price_move: Nullable(PriceMove), preview: Nullable(Preview) }),
  'The move, or with `dry_run` its preview',
);

export const PriceMoveData = named('PriceMoveAnswer', Type.Object({ price_move: PriceMove }));
export const PriceMoveQuery = ListQuery({
  product_id: Type.Optional(Id),
  sort: SortBy(['created_at'], '-created_at'),
});
export const PriceMoveList = named('PriceMoveList', listOf('price_moves', PriceMove));

const State = Choice(['waiting', 'telling', 'told', 'moved', 'ended', 'revoked'], {
  description: '`telling`: the mail is written and not known to be sent',
});
export const MovedQuery = ListQuery({ state: Type.Optional(State), sort: SortBy(['id'], 'id') });
export const MovedList = named(
  'PriceMoveServiceList',
  listOf(
    'services',
    Type.Object({
      service: ServiceName,
      organization: OrganizationName,
      state: State,
      cycle: Cycle,
      price_before: before,
      price_after: MoneyText,
      currency: Type.String(),
      told_on: Nullable(Day),
      counts_on: Nullable(meaning('A period that begins on this day or later has the new price', Day)),
      moved_on: Nullable(meaning('The first day of the first such period', Day)),
    }),
  ),
);
