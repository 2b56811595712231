import { Type } from 'typebox';
import { ChosenOptions, CycleName, ProductGroup } from '../catalog/index.ts';
import { OrganizationName } from '../organizations/index.ts';
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
  PossibleActions,
  Search,
  SortBy,
  Strict,
  shownAs,
  Timestamp,
} from '../platform/http/index.ts';
import { serviceTypes } from './kinds/kind.ts';
import { refusalCodes, serviceActions, serviceStatuses } from './states.ts';
import { waits, whose } from './waiting.ts';

const Status = named(
  'ServiceStatus',
  Choice(serviceStatuses),
  '`pending` until it is paid and delivered, `suspended` while it may not be used, `cancelled` or `terminated` at its end',
);

const Possible = PossibleActions(
  { each: 'PossibleServiceAction', all: 'PossibleServiceActions' },
  serviceActions,
  refusalCodes,
);

const Waiting = named(
  'ServiceWaiting',
  Type.Object({
    for: Choice(waits, { description: 'What has to happen' }),
    by: Choice(whose, { description: 'Who does it' }),
    message: Type.String({ description: 'The same in words' }),
    since: Timestamp,
  }),
  'Something that a service waits for',
);

export const Service = named(
  'Service',
  Type.Object({
    id: Id,
    type: named('ServiceType', Choice(serviceTypes)),
    on_server: meaning(
      'It is a server out of the rack, used at `/dashboard/service/{id}/dedicated`',
      Type.Boolean(),
    ),
    domain: Nullable(Type.String()),
    hostname: Nullable(Type.String()),
    status: Status,
    provisioning_state: named(
      'ProvisioningState',
      Choice(['queued', 'running', 'done', 'failed']),
      'How far the delivery is',
    ),
    waiting: Type.Array(Waiting, { description: 'What it waits for; empty when there is nothing' }),
    invoice_id: meaning('The invoice of its order', Id),
    suspend_reason: Nullable(Type.String()),
    suspended_at: Nullable(Timestamp),
    billingCycle: shownAs(CycleName, Type.String()),
    cancelled: Type.Boolean(),
    end_reason: Nullable(meaning('Why it was cancelled or terminated', Type.String())),
    created_at: Timestamp,
    firstPrice: MoneyText,
    price: MoneyText,
    currency: Type.String(),
    duedate: Nullable(Day),
    promised_until: Nullable(
      meaning('Until this day nothing happens to it for an invoice that is overdue, as was promised', Day),
    ),
    note: Nullable(Type.String()),
    auto_renew: Type.Boolean(),
    primary_ip: Nullable(Type.String()),
    options: ChosenOptions,
    coming_price: Nullable(
      named(
        'ComingPrice',
        Type.Object({
          price: meaning('Of a period, before tax', MoneyText),
          from: meaning('The first renewal that has it', Day),
        }),
        'A new price that was announced',
      ),
    ),
    product: named(
      'ServiceProduct',
      Type.Object({
        id: Id,
        name: Type.String(),
        description: Type.String(),
        price: Nullable(MoneyText),
        group: ProductGroup,
      }),
      'The product that was ordered',
    ),
    actions: Possible,
  }),
  'Something that was ordered: a virtual server, a domain, …',
);

export const ServiceData = named('ServiceAnswer', Type.Object({ service: Service }));
export const ServiceList = named('ServiceList', listOf('services', Service));

const StaffService = named(
  'StaffService',
  Type.Object({
    ...Service.properties,
    organization: OrganizationName,
    user_id: meaning('Who ordered it', Id),
    node_id: Nullable(meaning('The node that holds its resources', Id)),
  }),
  'A service as staff sees it',
);
export const StaffServiceData = named('StaffServiceAnswer', Type.Object({ service: StaffService }));
export const StaffServiceList = named('StaffServiceList', listOf('services', StaffService));
export const StaffServiceQuery = ListQuery({
  status: Type.Optional(Status),
  organization_id: Type.Optional(Id),
  search: Search(
    'Finds names that begin with this, or do so after their first label, in the order of the names; `sort` is left ' +
      'out of account. A whole address finds the service that has it',
  ),
  sort: SortBy(['created_at'], '-created_at'),
});

export const ServiceListQuery = ListQuery({
  status: Type.Optional(Status),
  product_id: Type.Optional(Id),
  search: Search(
    'Finds names that begin with this, or do so after their first label: `web1` and `example` find ' +
      '`web1.example.com`; and notes that begin with it. In the order of what was found; `sort` is left out of account. A ' +
      'whole address finds the service that has it',
  ),
  sort: SortBy(['created_at'], '-created_at'),
});

export const ServiceChange = named(
  'ServiceChange',
  Strict({
    auto_renew: Type.Optional(
      Type.Boolean({
        description:
          'Whether it is renewed by itself: invoiced before its paid time ends, and charged to the default payment method if ' +
          'there is one. false: it ends on its due date, with all that is stored on it, unless you renew it before',
      }),
    ),
  }),
);

export const NoteChange = named(
  'ServiceNoteChange',
  Strict({
    note: Nullable(Type.String({ maxLength: 2_000, description: 'For yourselves; null takes it away' })),
  }),
);
