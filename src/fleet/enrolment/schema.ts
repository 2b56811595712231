import { Type } from 'typebox';
import {
  Choice,
  Id,
  ListQuery,
  listOf,
  Nullable,
  named,
  PossibleActions,
  SortBy,
  Strict,
  Timestamp,
} from '../../platform/http/index.ts';
import { Note } from '../racks/schema.ts';
import { Hardware, Height, Named, NewBmc, Serial, Unit } from '../servers/schema.ts';
import { arrivalActions, arrivalStates, refusalCodes } from './states.ts';

const State = named(
  'ArrivalState',
  Choice(arrivalStates, {
    description:
      'waiting: staff decides; accepted: it is being enrolled; enrolled: it is a server; rejected: it was sent away',
  }),
);

const Network = named(
  'ServerNetwork',
  Type.Object({
    name: Type.String({ description: 'Of the process that serves it' }),
    interface: Type.String(),
    address: Type.String(),
    problem: Nullable(Type.String({ description: 'Why servers cannot start there' })),
    seen_at: Timestamp,
    is_served: Type.Boolean({ description: 'Whether servers can start from it now' }),
  }),
  'A network that servers start from',
);
const Enrolment = named(
  'Enrolment',
  Type.Object({
    is_open: Type.Boolean(),
    opened_at: Nullable(Timestamp),
    open_until: Nullable(Timestamp),
    networks: Type.Array(Network),
  }),
  'Whether machines that nobody knows may start from the network',
);
export const EnrolmentData = named('EnrolmentAnswer', Type.Object({ enrolment: Enrolment }));
export const Opening = named(
  'EnrolmentOpening',
  Strict({ hours: Type.Integer({ minimum: 1, maximum: 168, description: 'From now on', examples: [8] }) }),
);

const Plugged = named(
  'ArrivalPort',
  Type.Object({ mac: Type.String(), switch_id: Id, switch: Type.String(), switch_port: Type.String() }),
);
const Arrival = named(
  'Arrival',
  Type.Object({
    id: Id,
    state: State,
    mac: Type.String({ description: 'Of the port that it started from, as it said' }),
    serial: Type.String({ description: 'As it says; may be empty' }),
    is_there: Type.Boolean({ description: 'Whether it was heard of just now' }),
    alike: Type.Array(Type.String(), {
      description:
        'What says that it has the same MAC or serial number: one of them copied it, or their maker did',
    }),
    problem: Nullable(Type.String({ description: 'Why it could not be enrolled when it was accepted last' })),
    server_id: Nullable(Id),
    server: Nullable(Type.String({ description: 'Which server it is, or was written down as' })),
    hardware: Hardware,
    plugged: Type.Array(Plugged, { description: 'At which ports of switches it was heard' }),
    actions: PossibleActions(
      { each: 'PossibleArrivalAction', all: 'PossibleArrivalActions' },
      arrivalActions,
      refusalCodes,
    ),
    arrived_at: Timestamp,
    seen_at: Timestamp,
    decided_at: Nullable(Timestamp),
  }),
  'A machine that started from the network and that nobody knew',
);
export const ArrivalData = named('ArrivalAnswer', Type.Object({ arrival: Arrival }));
export const ArrivalList = named('ArrivalList', listOf('arrivals', Arrival));
export const ArrivalQuery = ListQuery({ state: Type.Optional(State), sort: SortBy(['id'], '-id') });
export const Acceptance = named(
  'ArrivalAcceptance',
  Strict({
    server_id: Type.Optional(
      Type.Integer({ ...Id, description: 'Of a server that was written down and waits: the machine is it' }),
    ),
    name: Type.Optional(Named),
    serial: Type.Optional(Serial),
    rack_id: Type.Optional(Nullable(Id)),
    unit: Type.Optional(Nullable(Unit)),
    height: Type.Optional(Height),
    note: Type.Optional(Nullable(Note)),
    bmc: Type.Optional(NewBmc),
    bmc_kind: Type.Optional(
      Choice(['ipmi', 'redfish'], {
        // No default: where `bmc` is given, which says so itself, this has to be absent.
        description:
          'How the BMC is spoken to that the machine gives our account to; `ipmi` where it is not said. Of Redfish the certificate that it presents then is pinned: whoever presents another later is told nothing',
      }),
    ),
  }),
);
