import { Type } from 'typebox';
import {
  Choice,
  Day,
  Id,
  ListQuery,
  listOf,
  MoneyText,
  Nullable,
  Search,
  Timestamp,
} from '../platform/http/index.ts';

const Status = Choice(['pending', 'active', 'suspended', 'cancelled', 'terminated']);

const Service = Type.Object({
  id: Id,
  type: Choice(['vps', 'dedicated', 'hosting', 'domain', 'other']),
  domain: Nullable(Type.String()),
  hostname: Nullable(Type.String()),
  status: Status,
  provisioning_state: Choice(['queued', 'running', 'done', 'failed']),
  suspend_reason: Nullable(Type.String()),
  suspended_at: Nullable(Timestamp),
  billingCycle: Type.String(),
  cancelled: Type.Boolean(),
  created_at: Timestamp,
  firstPrice: MoneyText,
  price: MoneyText,
  currency: Type.String(),
  duedate: Nullable(Day),
  note: Nullable(Type.String()),
  auto_renew: Type.Boolean(),
  primary_ip: Nullable(Type.String()),
  options: Type.Record(Type.String(), Type.Unknown()),
  product: Type.Object({
    id: Id,
    name: Type.String(),
    description: Type.String(),
    price: Nullable(MoneyText),
    group: Type.Object({ id: Id, name: Type.String() }),
  }),
});

export const ServiceData = Type.Object({ service: Service });
export const ServiceList = listOf('services', Service);
export const ServiceListQuery = ListQuery({
  status: Type.Optional(Status),
  product_id: Type.Optional(Id),
  search: Search,
});
