import { Type } from 'typebox';
import { authProtocols } from '../../drivers/switch/index.ts';
import {
  Choice,
  Id,
  ListQuery,
  line,
  listOf,
  meaning,
  Nullable,
  named,
  SortBy,
  Strict,
  Timestamp,
} from '../../platform/http/index.ts';
import { Note } from '../racks/schema.ts';
import { Location } from '../schema.ts';

const Count = Type.Integer({ minimum: 0 });
const SwitchName = line(64, { examples: ['ams2-sw1'] });
const Address = Type.String({ maxLength: 45, description: 'An IP address', examples: ['192.0.2.4'] });
const Port = Type.Integer({ minimum: 1, maximum: 65_535, default: 161 });
const AuthProtocol = named(
  'SwitchAuthProtocol',
  Choice(authProtocols, { description: 'By which answers are signed; they are encrypted with AES-128' }),
);
const Passphrase = Type.String({
  pattern: '^[ -~]{8,64}$',
  'x-message': 'must be 8 to 64 printable characters',
  description: 'It is kept sealed and never shown',
});
const Credential = named(
  'SwitchCredential',
  Strict({
    user: Type.String({
      pattern: '^[!-~]{1,32}$',
      'x-message': 'must be 1 to 32 printable characters without spaces',
      examples: ['innkeeper'],
    }),
    auth_protocol: AuthProtocol,
    auth_passphrase: Passphrase,
    privacy_passphrase: Passphrase,
  }),
  'Who we are at the switch: a user of SNMPv3 who may read, signed and encrypted',
);
const Check = named(
  'SwitchCheck',
  Type.Object({
    state: Choice(['checking', 'ok', 'failed']),
    checked_at: Nullable(Timestamp),
    problem: Nullable(Type.String({ description: 'Why nothing could be read of it' })),
  }),
  'What came of reading it last',
);

export const Switch = named(
  'Switch',
  Type.Object({
    id: Id,
    name: Type.String(),
    location: Type.String(),
    address: Type.String(),
    port: Type.Integer(),
    user: Type.String(),
    auth_protocol: AuthProtocol,
    note: Nullable(Type.String()),
    check: Check,
    description: Nullable(Type.String({ description: 'As it describes itself' })),
    isolation: Nullable(
      Type.String({
        description:
          'What has to be seen to by hand, because it cannot be told which VLAN a port is in; null: it can, or was not read yet',
      }),
    ),
    heard_at: Nullable(Timestamp),
    ports: Count,
    created_at: Timestamp,
  }),
  'What servers are plugged into',
);
export const SwitchData = named('SwitchAnswer', Type.Object({ switch: Switch }));
export const SwitchList = named('SwitchList', listOf('switches', Switch));
export const SwitchQuery = ListQuery({
  location: Type.Optional(Location),
  sort: SortBy(['id', 'name'], 'name'),
});
export const SwitchPort = named(
  'SwitchPort',
  Type.Object({
    name: Type.String(),
    label: Type.String({ description: 'What was written beside it at the switch' }),
    is_up: Type.Boolean(),
    speed_mbps: Nullable(Count),
    in_mbps: Nullable(
      Type.Number({
        description: 'What came in between the last two readings: what the server has sent; null: not known',
      }),
    ),
    out_mbps: Nullable(
      Type.Number({ description: 'What went out in that time: what the server has received' }),
    ),
    server_id: Nullable(Id),
    server: Nullable(Type.String({ description: 'The name of what is plugged in' })),
    mac: Nullable(Type.String({ description: 'Of the port of the server' })),
    read_at: Timestamp,
    gone_at: Nullable(meaning('Since when the switch no longer names it', Timestamp)),
  }),
);
export const SwitchPortList = named('SwitchPortList', listOf('ports', SwitchPort));
export const SwitchPortQuery = ListQuery({});
export const NewSwitch = named(
  'NewSwitch',
  Strict({
    name: SwitchName,
    location: Location,
    address: Address,
    port: Type.Optional(Port),
    credential: Credential,
    note: Type.Optional(Nullable(Note)),
  }),
);
export const SwitchChange = named(
  'SwitchChange',
  Strict({
    name: Type.Optional(SwitchName),
    location: Type.Optional(Location),
    address: Type.Optional(Address),
    port: Type.Optional(Type.Integer({ minimum: 1, maximum: 65_535 })),
    credential: Type.Optional(Credential),
    note: Type.Optional(Nullable(Note)),
  }),
);
export const Plug = named(
  'SwitchPlug',
  Strict({
    port: line(255, { description: 'As the switch calls it' }),
    mac: Nullable(
      Type.String({
        pattern: '^[0-9A-Fa-f]{2}([:-][0-9A-Fa-f]{2}){5}$',
        'x-message': 'must be a MAC such as 52:54:00:12:34:56',
        description: 'Of the port of a server; null: nothing is plugged in',
      }),
    ),
  }),
);
export const SwitchPortData = named('SwitchPortAnswer', Type.Object({ port: SwitchPort }));
