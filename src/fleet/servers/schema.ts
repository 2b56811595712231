import { Type } from 'typebox';
import {
  Choice,
  Id,
  ListQuery,
  line,
  listOf,
  Nullable,
  named,
  PossibleActions,
  Search,
  SortBy,
  Strict,
  Timestamp,
} from '../../platform/http/index.ts';
import { bootSources } from '../baselines/compare.ts';
import { Baseline } from '../baselines/schema.ts';
import { Note } from '../racks/schema.ts';
import { refusalCodes, serverActions, serverStates } from './states.ts';

export const Named = Type.String({
  pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$',
  'x-message':
    'must begin with a letter or digit and have at most 63 letters, digits, dots, hyphens and underscores',
  description: 'What staff calls it',
  examples: ['ams2-07'],
});
export const Serial = line(64, { description: 'As its maker numbered it', examples: ['CZJ9380B7V'] });
const DiskSerial = line(64, { examples: ['S4EVNF0M812345'] });
const State = named(
  'ServerState',
  Choice(serverStates, {
    description:
      'waiting: known and not accepted yet, so nothing is installed on it; ready: in stock; held: an order has it; rented: a customer has it; returning: it is wiped and checked; quarantined, broken: kept out of stock; retired: it is gone',
  }),
);
export const Unit = Type.Integer({
  minimum: 1,
  maximum: 100,
  description: 'The lowest unit that it takes, counted from the floor',
});
export const Height = Type.Integer({ minimum: 1, maximum: 50, description: 'How many units it takes' });
const Mac = Type.String({
  pattern: '^[0-9A-Fa-f]{2}([:-][0-9A-Fa-f]{2}){5}$',
  'x-message': 'must be a MAC such as 52:54:00:12:34:56',
  examples: ['52:54:00:12:34:56'],
});
const Macs = Type.Array(Mac, { maxItems: 32, description: 'Of its network ports, in order' });
const BmcKind = named(
  'BmcKind',
  Choice(['ipmi', 'redfish', 'simulated'], {
    description: 'How it is spoken to; simulated ones are only where machines are simulated, too',
  }),
);
const Certificate = Type.String({
  pattern: '^[0-9A-Fa-f]{2}(:?[0-9A-Fa-f]{2}){31}$',
  'x-message': 'must be a SHA-256 fingerprint in 64 hexadecimal digits',
  description:
    'SHA-256 of the certificate that it presents, of Redfish alone; whoever presents another is told nothing',
});
const Port = Type.Integer({ minimum: 1, maximum: 65_535 });

export const NewBmc = named(
  'NewServerBmc',
  Strict({
    kind: BmcKind,
    address: Type.String({ maxLength: 45, description: 'An IP address', examples: ['192.0.2.107'] }),
    port: Type.Optional(Nullable(Port)),
    user: Type.String({
      pattern: '^[!-~]{1,16}$',
      'x-message': 'must be 1 to 16 printable characters without spaces',
      examples: ['innkeeper'],
    }),
    password: Type.String({
      pattern: '^[!-~]{1,20}$',
      'x-message': 'must be 1 to 20 printable characters without spaces',
      description: 'It is kept sealed and never shown',
    }),
    certificate: Type.Optional(Nullable(Certificate)),
  }),
  'The controller by which the power of a server is switched, and who we are there',
);
const Bmc = named(
  'ServerBmc',
  Type.Object({
    kind: BmcKind,
    address: Type.String(),
    port: Nullable(Type.Integer({ description: 'Null: the usual one of its kind' })),
    user: Type.String(),
    certificate: Nullable(Type.String()),
    power: Nullable(
      Choice(['on', 'off'], { description: 'Of its server, as it was heard last; null: it never was' }),
    ),
    heard_at: Nullable(Timestamp),
    asked_at: Nullable(Timestamp),
    problem: Nullable(Type.String({ description: 'Why nothing was heard when it was asked last' })),
    uuid: Nullable(
      Type.String({
        description:
          'By which it is told from another BMC at its address; empty: it has none; null: it was not asked yet',
      }),
    ),
    other_uuid: Nullable(
      Type.String({
        description:
          'Of another BMC that answers at its address, where nothing is switched until that is accepted; empty: that has none; null: none does',
      }),
    ),
    action: Nullable(
      Choice(['start', 'stop', 'restart'], { description: 'What is done with its power right now' }),
    ),
    action_since: Nullable(Timestamp),
    action_problem: Nullable(
      Type.String({ description: 'Why what was done with its power last did not succeed' }),
    ),
  }),
  'The controller of a server, without its password',
);
const Limit = Nullable(Type.Number());
export const ServerSensor = named(
  'ServerSensor',
  Type.Object({
    name: Type.String(),
    kind: Choice(['temperature', 'fan', 'power', 'voltage', 'current', 'other']),
    unit: Type.String({
      description:
        'celsius, rpm, percent, watts, volts or amperes; of the kind other whatever its BMC calls it',
    }),
    value: Nullable(Type.Number({ description: 'Null: not measured, as of a server that is off' })),
    state: Choice(['ok', 'warning', 'critical', 'unknown']),
    limits: Type.Object({ lowCritical: Limit, lowWarning: Limit, highWarning: Limit, highCritical: Limit }),
  }),
  'What a BMC measures of its server',
);
const BmcEvent = named(
  'BmcEvent',
  Type.Object({
    id: Type.String(),
    at: Nullable({ ...Timestamp, description: 'By the clock of the BMC, which may be wrong' }),
    subject: Type.String({ description: 'What it is about, such as a sensor; may be empty' }),
    message: Type.String(),
  }),
  'What a BMC has noted',
);
export const ReadingsData = named(
  'ServerReadingsAnswer',
  Type.Object({
    readings: named(
      'ServerReadings',
      Type.Object({
        read_at: Nullable({ ...Timestamp, description: 'When it was read last; null: it never was' }),
        asked_at: Nullable(Timestamp),
        problem: Nullable(Type.String({ description: 'Why it could not be read when it was asked last' })),
        sensors: Type.Array(ServerSensor),
        events: Type.Array(BmcEvent, { description: 'The oldest first, the newest 200 at most' }),
      }),
      'What a BMC measured and noted when it was read last',
    ),
  }),
);
export const PowerForce = named(
  'ServerPowerForce',
  Strict({
    force: Type.Optional(
      Type.Boolean({
        description:
          'Takes the power away at once. Without it the power button is pressed, and the system has two minutes to follow',
      }),
    ),
  }),
);
const Disk = named(
  'ServerDisk',
  Type.Object({
    serial: Type.String(),
    model: Nullable(Type.String()),
    installed_at: Timestamp,
    removed_at: Nullable(Timestamp),
  }),
  'A disk that is in a server, or was',
);

const ServerPort = named(
  'ServerPort',
  Type.Object({
    mac: Type.String(),
    switch_id: Nullable(Id),
    switch: Nullable(Type.String({ description: 'The name of the switch that it is plugged into' })),
    switch_port: Nullable(Type.String()),
  }),
);

const Count = Type.Integer({ minimum: 0 });
/** What of it whoever rents a server may know, too. */
export const serverMeasured = {
  firmware: Type.Object({ version: Type.String(), boot: Choice(['bios', 'uefi']) }),
  processor: Type.Object({ model: Type.String(), sockets: Count, cores: Count, threads: Count }),
  memory_mib: Count,
  memory_modules: Type.Array(Type.Object({ slot: Type.String(), mib: Count, type: Type.String() })),
  disks: Type.Array(
    Type.Object({
      serial: Type.String(),
      model: Type.String(),
      firmware: Type.String(),
      bytes: Count,
      kind: Choice(['nvme', 'ssd', 'hdd']),
      healthy: Nullable(Type.Boolean({ description: 'What the disk says of itself; null: nothing' })),
    }),
  ),
  ports: Type.Array(
    Type.Object({
      name: Type.String(),
      mac: Type.String(),
      linked: Type.Boolean(),
      speed_mbps: Nullable(
        Type.Integer({
          description: 'What it and the switch agreed on when it was measured; null: not known',
        }),
      ),
    }),
  ),
};

export const Hardware = named(
  'ServerHardware',
  Type.Object({
    system: Type.Object({
      uuid: Type.String(),
      vendor: Type.String(),
      product: Type.String(),
      serial: Type.String(),
    }),
    ...serverMeasured,
    boot_order: Nullable(
      Type.Array(Choice(bootSources), {
        description: 'What its UEFI starts, in order; null: nobody can read that, as with BIOS',
      }),
    ),
    bmc: Nullable(
      Type.Object(
        {
          firmware: Nullable(Type.String()),
          address: Nullable(Type.String()),
          mac: Nullable(Type.String()),
        },
        { description: 'As the machine sees it from inside; null: it sees none' },
      ),
    ),
  }),
  'What the installer measured',
);

const PartFields = named(
  'HardwarePart',
  Type.Object({
    model: Nullable(Type.String()),
    kind: Nullable(Choice(['nvme', 'ssd', 'hdd'])),
    bytes: Nullable(Type.Integer({ minimum: 0 })),
    healthy: Nullable(Type.Boolean({ description: 'What the drive says of itself' })),
    mib: Nullable(Type.Integer({ minimum: 0, description: 'Of memory' })),
    type: Nullable(Type.String({ description: 'Of a memory module' })),
    sockets: Nullable(Type.Integer({ minimum: 0 })),
    cores: Nullable(Type.Integer({ minimum: 0 })),
    threads: Nullable(Type.Integer({ minimum: 0 })),
  }),
  'A part of a server. What a part of its kind does not have, or nobody knows, is null',
);

export const HardwareDifference = named(
  'HardwareDifference',
  Type.Object({
    part: Choice(['disk', 'memory', 'processor', 'port']),
    name: Nullable(
      Type.String({
        description:
          'The serial number of a disk, the place of a memory module, the MAC of a port; null: there is one of it, or all of it is meant',
      }),
    ),
    was: Nullable(Type.String({ description: '`before` in English; null: it was not there' })),
    is: Nullable(Type.String({ description: '`after` in English; null: it is not there any more' })),
    before: Nullable(PartFields),
    after: Nullable(PartFields),
    seen_at: { ...Timestamp, description: 'When it was seen, or staff wrote it down' },
  }),
  'What of a server is not as it was measured',
);

export const Server = named(
  'Server',
  Type.Object({
    id: Id,
    name: Type.String(),
    serial: Type.String(),
    state: State,
    reason: Nullable(Type.String({ description: 'Why it is quarantined, broken or retired' })),
    state_since: Timestamp,
    profile_id: Nullable(Id),
    profile: Nullable(
      Type.String({
        description:
          'What it is sold as, by what was measured of it; null: it fits none, or was never measured',
      }),
    ),
    service_id: Nullable({ ...Id, description: 'Which service holds or has it' }),
    move_service_id: Nullable({
      ...Id,
      description: 'Which service is to get it instead of the server that it has, or has left it',
    }),
    out_of_order: Nullable(
      Type.String({
        description:
          'Why the customer who rents it cannot use it, as staff found it; when it comes back it is kept out of stock for that',
      }),
    ),
    in_rescue: Type.Boolean({
      description: 'Staff has it in the rescue system, or on its way there; that of a customer is theirs',
    }),
    rack_id: Nullable(Id),
    rack: Nullable(Type.String({ description: 'The name of its rack' })),
    location: Nullable(Type.String({ description: 'That of its rack' })),
    unit: Nullable(Unit),
    height: Height,
    macs: Type.Array(Type.String()),
    ports: Type.Array(ServerPort, { description: 'The same ports, with what each is plugged into' }),
    bmc: Nullable(Bmc),
    disks: Type.Array(Disk, { description: 'Those that were taken out stay on the record' }),
    note: Nullable(Type.String()),
    hardware: Nullable(Hardware),
    start_mac: Nullable(
      Type.String({
        description:
          'The port that it started from the network with last: the addresses of a service go there',
      }),
    ),
    port_mbps: Nullable(
      Type.Integer({
        description:
          'What that port and the switch agreed on then, which is held against `port_mbps` of profiles; null: not known',
      }),
    ),
    measured_at: Nullable(Timestamp),
    hardware_differences: Type.Array(HardwareDifference, {
      description: 'What of it is not as it was measured, by what its installer or rescue system said since',
    }),
    seen_at: Nullable({
      ...Timestamp,
      description: 'When one of them said last what the server has; null: none did since it was measured',
    }),
    observed: Nullable(Baseline),
    observed_at: Nullable({
      ...Timestamp,
      description: 'When it was looked how it is beside what it has: enrolled, or come back; null: never',
    }),
    differences: Nullable(
      Type.Array(Type.String(), {
        description:
          'From the baseline of its profile, in words, for which it is kept out of stock until they are accepted; null: it is not',
      }),
    ),
    actions: PossibleActions(
      { each: 'PossibleServerAction', all: 'PossibleServerActions' },
      serverActions,
      refusalCodes,
    ),
    created_at: Timestamp,
  }),
  'A machine in a rack, to be rented whole',
);
export const ServerData = named('ServerAnswer', Type.Object({ server: Server }));
export const ServerList = named('ServerList', listOf('servers', Server));
export const ServerQuery = ListQuery({
  state: Type.Optional(State),
  rack_id: Type.Optional(Id),
  profile_id: Type.Optional(Id),
  search: Search(
    'Finds names and serials that begin with this, in their order; `sort` is left out of account',
  ),
  sort: SortBy(['id', 'name', 'unit'], 'name'),
});
const said = {
  rack_id: Type.Optional(Nullable(Id)),
  unit: Type.Optional(Nullable(Unit)),
  height: Type.Optional(Height),
  macs: Type.Optional(Macs),
  bmc: Type.Optional(Nullable(NewBmc)),
  note: Type.Optional(Nullable(Note)),
};
export const NewServer = named('NewServer', Strict({ name: Named, serial: Serial, ...said }));
export const ServerChange = named(
  'ServerChange',
  Strict({ name: Type.Optional(Named), serial: Type.Optional(Serial), ...said }),
);
const Reason = line(300, { examples: ['Restarts by itself under load'] });
export const Quarantine = named('ServerQuarantine', Strict({ reason: Reason }));
export const ConsoleReason = named('ServerConsoleReason', Strict({ reason: Reason }));
export const OtherBmc = named(
  'OtherServerBmc',
  Strict({
    uuid: Type.String({
      ...{ maxLength: 36, pattern: '^([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})?$' },
      'x-message': 'must be a UUID',
      description: 'The `other_uuid` of the server’s BMC that you have looked at',
    }),
  }),
);
export const Retirement = named('ServerRetirement', Strict({ reason: Type.Optional(Reason) }));
export const DiskChange = named(
  'ServerDiskChange',
  Strict({
    removed: Type.Optional(
      Type.String({ ...DiskSerial, description: 'The serial of the disk that was taken out' }),
    ),
    installed: Type.Optional(
      Type.String({ ...DiskSerial, description: 'The serial of the disk that was put in' }),
    ),
    model: Type.Optional(line(100, { description: 'Of the disk that was put in' })),
  }),
);
export const Imported = named(
  'ServersImported',
  Type.Object({ servers: Type.Array(Type.Object({ id: Id, name: Type.String() })) }),
);
