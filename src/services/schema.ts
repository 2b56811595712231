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
  Search,
  SortBy,
  Strict,
  shownAs,
  Timestamp,
} from '../platform/http/index.ts';
import { serviceTypes } from './kinds/kind.ts';
import { refusalCodes, type ServiceAction, serviceActions, serviceStatuses } from './states.ts';

const Status = named(
  'ServiceStatus',
  Choice(serviceStatuses),
  '`pending` until it is paid and delivered, `suspended` while it may not be used, `cancelled` or `terminated` at its end',
);

const Possible = named(
  'PossibleServiceAction',
  Type.Object({
    allowed: Type.Boolean(),
    reason: Nullable(Type.String({ description: 'Why not, and what to do' })),
    code: Nullable(Choice(refusalCodes)),
  }),
  'Whether an action is possible now, and why not',
);
const PossibleActions = named(
  'PossibleServiceActions',
  Type.Object(
    Object.fromEntries(serviceActions.map((name) => [name, Possible])) as Record<
      ServiceAction,
      typeof Possible
    >,
  ),
);

export const Service = named(
  'Service',
  Type.Object({
    id: Id,
    type: named('ServiceType', Choice(serviceTypes)),
    domain: Nullable(Type.String()),
    hostname: Nullable(Type.String()),
    status: Status,
    provisioning_state: named(
      'ProvisioningState',
      Choice(['queued', 'running', 'done', 'failed']),
      'How far the delivery is',
    ),
    suspend_reason: Nullable(Type.String()),
    suspended_at: Nullable(Timestamp),
    billingCycle: shownAs(CycleName, Type.String()),
    cancelled: Type.Boolean(),
    created_at: Timestamp,
    firstPrice: MoneyText,
    price: MoneyText,
    currency: Type.String(),
    duedate: Nullable(Day),
    note: Nullable(Type.String()),
    auto_renew: Type.Boolean(),
    primary_ip: Nullable(Type.String()),
    options: ChosenOptions,
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
    actions: PossibleActions,
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
    invoice_id: meaning('The invoice of its order', Id),
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
      '`web1.example.com`. In the order of the names; `sort` is left out of account',
  ),
  sort: SortBy(['created_at'], '-created_at'),
});

export const ServiceChange = named(
  'ServiceChange',
  Strict({
    auto_renew: Type.Optional(
      Type.Boolean({ description: 'Whether its renewal is paid with what the organization has on file' }),
    ),
  }),
);

export const NoteChange = named(
  'ServiceNoteChange',
  Strict({
    note: Nullable(Type.String({ maxLength: 2_000, description: 'For yourselves; null takes it away' })),
  }),
);
