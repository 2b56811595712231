import { Type } from 'typebox';
import { Choice, Id, ListQuery, listOf, Nullable, Strict } from '../platform/http/index.ts';
import { actionNames, machineStates } from './states.ts';

const Moment = Type.String({ format: 'date-time' });

export const Action = Type.Object({
  id: Id,
  command: Type.String(),
  status: Choice(['queued', 'running', 'success', 'error']),
  progress: Type.Integer({ minimum: 0, maximum: 100, description: 'Per cent' }),
  created_at: Moment,
  started_at: Nullable(Moment),
  finished_at: Nullable(Moment),
  error: Nullable(Type.Object({ code: Type.String(), message: Type.String() })),
  initiator: Type.Object({
    type: Choice(['user', 'staff', 'system', 'api_key']),
    id: Nullable(Id),
    ip: Nullable(Type.String()),
  }),
});

const Ip = Type.Object({
  address: Type.String(),
  prefix: Type.Integer(),
  family: Type.Integer({ description: '4 or 6' }),
  gateway: Type.String(),
  mac: Nullable(Type.String()),
  primary: Type.Boolean(),
  dns_name: Nullable(Type.String()),
});

const Possible = Type.Object({ allowed: Type.Boolean(), reason: Nullable(Type.String()) });
const PossibleActions = Type.Object(
  Object.fromEntries(actionNames.map((name) => [name, Possible])) as Record<
    (typeof actionNames)[number],
    typeof Possible
  >,
);

export const Overview = Type.Object({
  vps: Type.Object({
    service_id: Id,
    hostname: Type.String(),
    state: Choice(machineStates),
    locked: Type.Boolean(),
    uptime_s: Nullable(Type.Integer()),
    os: Type.Object({ slug: Type.String(), name: Nullable(Type.String()), version: Nullable(Type.String()) }),
    location: Type.String(),
    resources: Type.Object({
      cpu: Type.Integer(),
      memory_mb: Type.Integer(),
      disk_gb: Type.Integer(),
      port_mbps: Type.Integer(),
    }),
    ips: Type.Array(Ip),
    current_action: Nullable(Action),
    actions: PossibleActions,
  }),
});

export const Ips = Type.Object({ ips: Type.Array(Ip) });
export const ActionData = Type.Object({ action: Action });
export const History = listOf('actions', Action);
export const HistoryQuery = ListQuery({});
export const HistoryParams = Strict({ id: Id, action_id: Id });
export const Force = Strict({
  force: Type.Optional(
    Type.Boolean({ description: 'Do not wait for the guest; default is a clean shutdown' }),
  ),
});
