import { Type } from 'typebox';
import { identityLimits } from '../drivers/hypervisor/index.ts';
import {
  Choice,
  Id,
  ListQuery,
  listOf,
  meaning,
  Nullable,
  named,
  PossibleActions,
  SortBy,
  Strict,
  Timestamp,
} from '../platform/http/index.ts';
import { periods } from './chartParts.ts';
import { actionNames, actionStatuses, machineStates, powerOff, refusalCodes } from './states.ts';

const Moment = Type.String({ format: 'date-time' });

export const Action = named(
  'Action',
  Type.Object({
    id: Id,
    command: Type.String(),
    status: named('ActionStatus', Choice(actionStatuses)),
    progress: Type.Integer({ minimum: 0, maximum: 100, description: 'Per cent' }),
    note: Nullable(
      Type.String({ description: 'What it is doing that takes long, or what to do after it, in words' }),
    ),
    created_at: Moment,
    started_at: Nullable(Moment),
    finished_at: Nullable(Moment),
    error: Nullable(
      named(
        'ActionError',
        Type.Object({ code: Type.String(), message: Type.String() }),
        'Why an action failed',
      ),
    ),
    initiator: named(
      'Initiator',
      Type.Object({
        type: Choice(['user', 'staff', 'system', 'api_key']),
        id: Nullable(Id),
        name: Nullable(
          Type.String({
            description:
              'The e-mail address of a member, or what an API key is called; null for who may not read members, or activity, unless it is their own',
          }),
        ),
        ip: Nullable(Type.String()),
      }),
      'Who asked for an action',
    ),
  }),
  'A change to a machine: it is queued, runs, and ends in success or with an error',
);

const Ip = named(
  'IpAddress',
  Type.Object({
    address: Type.String(),
    prefix: Type.Integer(),
    family: Type.Integer({ description: '4 or 6' }),
    gateway: Type.String(),
    mac: Nullable(Type.String()),
    primary: Type.Boolean(),
    dns_name: Nullable(Type.String()),
    shield: Type.Object({ enabled: Type.Boolean(), under_attack: Type.Boolean() }),
  }),
  'An address of a machine',
);

const Possible = PossibleActions(
  { each: 'PossibleAction', all: 'PossibleActions' },
  [...actionNames, powerOff],
  refusalCodes,
);

const Usage = named(
  'MachineUsage',
  Type.Object({
    cpu_percent: Type.Number(),
    memory_used_mb: Type.Number(),
    disk_used_gb: Nullable(Type.Number({ description: 'Not known from outside the guest' })),
    net_in_bps: Type.Number(),
    net_out_bps: Type.Number(),
  }),
  'What the machine uses at the moment',
);

const Recent = named(
  'RecentUsage',
  Type.Object({
    interval_s: Type.Integer({ description: 'Seconds between two values' }),
    cpu_percent: Type.Array(Nullable(Type.Number())),
    memory_used_mb: Type.Array(Nullable(Type.Integer())),
  }),
  'What the machine used in the last hour, oldest first; null where nothing was measured',
);

export const Traffic = named(
  'Traffic',
  Type.Object({
    used_gb: Type.Number({ description: 'Sent and received this calendar month' }),
    limit_gb: Nullable(Type.Number()),
    resets_at: Timestamp,
  }),
);

export const Overview = named(
  'MachineAnswer',
  Type.Object({
    vps: named(
      'Machine',
      Type.Object({
        service_id: Id,
        read_at: meaning('When it was so: what the other moments are held against', Timestamp),
        hostname: Type.String(),
        state: named('MachineState', Choice(machineStates)),
        locked: Type.Boolean(),
        host_silent_since: meaning(
          'Since when its host does not answer, so that nothing newer is known of the machine, which may run on; null: it answers',
          Nullable(Timestamp),
        ),
        uptime_s: Nullable(Type.Integer()),
        os: named(
          'OperatingSystem',
          Type.Object({
            slug: Type.String(),
            name: Nullable(Type.String()),
            version: Nullable(Type.String()),
          }),
        ),
        location: Type.String(),
        resources: named(
          'MachineResources',
          Type.Object({
            cpu: Type.Integer(),
            memory_mb: Type.Integer(),
            disk_gb: Type.Integer(),
            port_mbps: Type.Integer(),
          }),
          'The size of a machine',
        ),
        usage: Nullable(Usage),
        recent: Recent,
        traffic: Traffic,
        ips: Type.Array(Ip),
        current_action: Nullable(Action),
        actions: Possible,
      }),
      'A virtual server as it is now',
    ),
  }),
);

export const Ips = named('IpAddressList', Type.Object({ ips: Type.Array(Ip) }));
export const IpData = named('IpAddressAnswer', Type.Object({ ip: Ip }));
export const IpChange = named(
  'IpAddressChange',
  Strict({
    address: Type.String({ maxLength: 45 }),
    dns_name: Nullable(
      Type.String({ maxLength: 255, description: 'Hostname for reverse DNS; null takes it away' }),
    ),
  }),
);

export const ActionData = named('ActionAnswer', Type.Object({ action: Action }));
export const ActionWithPassword = named(
  'ActionWithPassword',
  Type.Object({
    action: Action,
    password: Nullable(
      Type.String({ description: 'Generated because none was sent; it is shown this once' }),
    ),
  }),
);
export const History = named('ActionList', listOf('actions', Action));
export const HistoryQuery = ListQuery({ sort: SortBy(['created_at'], '-created_at') });
export const HistoryParams = Strict({ id: Id, action_id: Id });
export const Force = named(
  'PowerOptions',
  Strict({
    force: Type.Optional(
      Type.Boolean({
        description: 'Take the power at once; without it the guest is shut down cleanly. A start ignores it',
      }),
    ),
  }),
);

export const ConsoleQuery = Strict({
  type: Type.Optional(Choice(['vnc', 'serial'], { description: 'Default: vnc' })),
});
export const Console = named(
  'Console',
  Type.Object({
    type: Choice(['vnc', 'serial']),
    wss_url: Type.String({ description: 'WebSocket of raw bytes; works once' }),
    expires_at: Timestamp,
  }),
  'Where the console of a machine waits for you',
);

export const Password = Type.String({
  maxLength: 128,
  description: 'At least 8 characters, of three of these kinds: lower case, upper case, digits, others',
});
export const KeyIds = Type.Array(Id, { maxItems: 100, uniqueItems: true });
export const Hostname = Type.String({ maxLength: identityLimits.hostnameBytes });
export const UserData = Type.String({
  maxLength: identityLimits.userDataBytes,
  description: 'For cloud-init; at most 64 KiB of UTF-8',
});

export const Reinstall = named(
  'Reinstallation',
  Strict({
    os: Type.String({ minLength: 1, maxLength: 100, description: 'Slug of an image', examples: ['debian'] }),
    password: Type.Optional(Password),
    ssh_key_ids: Type.Optional(KeyIds),
    hostname: Type.Optional(Hostname),
    user_data: Type.Optional(UserData),
  }),
);

export const ResetPassword = named('NewPassword', Strict({ password: Type.Optional(Password) }));

export const ChartQuery = Strict({
  period: Type.Optional(Choice(periods, { description: 'Default: hour' })),
});
export const Charts = named(
  'Charts',
  Type.Object({
    interval_s: Type.Integer(),
    points: Type.Array(
      named(
        'ChartPoint',
        Type.Object({
          time: Timestamp,
          cpu: Type.Number({ description: 'Per cent of all cores' }),
          mem: Type.Number({ description: 'Bytes' }),
          maxmem: Type.Number({ description: 'Bytes' }),
          disk_read: Type.Number({ description: 'Bytes a second, as all that follow' }),
          disk_write: Type.Number(),
          netin: Type.Number(),
          netout: Type.Number(),
        }),
        'One measurement',
      ),
    ),
  }),
  'Measurements of a machine over time',
);

const SnapshotName = Type.String({
  pattern: '^[A-Za-z][A-Za-z0-9_-]{0,39}$',
  'x-message': 'must begin with a letter and have at most 40 letters, digits, hyphens and underscores',
  examples: ['before-upgrade'],
});
export const SnapshotParams = Strict({ id: Id, name: SnapshotName });
export const NewSnapshot = named(
  'NewSnapshot',
  Strict({
    name: SnapshotName,
    description: Type.Optional(Type.String({ maxLength: 500 })),
  }),
);
export const RestoreOptions = named(
  'RestoreOptions',
  Strict({
    keep_keys: Type.Optional(
      Type.Boolean({
        description:
          'Put the SSH keys that the machine lets in now back into what is restored; else those of the copy count',
      }),
    ),
  }),
);
const Snapshot = named(
  'Snapshot',
  Type.Object({
    name: Type.String(),
    kind: Choice(['snapshot', 'backup']),
    description: Nullable(Type.String()),
    created_at: Timestamp,
    size_bytes: Nullable(Type.Integer()),
    state: Choice(['creating', 'ready', 'restoring', 'deleting', 'error']),
    parent: Nullable(Type.String()),
  }),
  'A state of the disk to go back to',
);

export const SnapshotData = named('SnapshotAnswer', Type.Object({ snapshot: Snapshot }));

export const Snapshots = named(
  'SnapshotList',
  Type.Object({
    snapshots: Type.Array(Snapshot),
    limit: Type.Integer({ description: 'How many snapshots a machine keeps; backups do not count' }),
  }),
);

const BootOrder = named(
  'BootOrder',
  Choice(['disk', 'network'], {
    description: 'What comes first at the next start: the disk, or iPXE with the address of the machine',
  }),
);
const Notifications = Type.Record(Type.String({ pattern: '^[a-z_]{1,40}$' }), Type.Boolean(), {
  maxProperties: 20,
  description: 'At most 20 names in all',
});
const Hour = Type.Integer({ minimum: 0, maximum: 23, description: 'In UTC' });
const Keep = Type.Integer({ minimum: 1, maximum: 7, description: 'How many nights' });

export const SettingsData = named(
  'MachineSettingsAnswer',
  Type.Object({
    settings: named(
      'MachineSettings',
      Type.Object({
        hostname: Type.String(),
        boot_order: BootOrder,
        auto_backup: Type.Object({ enabled: Type.Boolean(), hour: Hour, keep: Keep }),
        protection: Type.Object({ delete: Type.Boolean(), reinstall: Type.Boolean() }),
        nameservers: Type.Array(Type.String()),
        rescue: Type.Boolean({
          description: 'The next start boots a small rescue system, with the disk beside it',
        }),
        notifications: Type.Record(Type.String(), Type.Boolean()),
      }),
      'What can be set about a machine',
    ),
  }),
);

export const SettingsChange = named(
  'MachineSettingsChange',
  Strict({
    hostname: Type.Optional(Hostname),
    boot_order: Type.Optional(BootOrder),
    auto_backup: Type.Optional(
      Strict({
        enabled: Type.Optional(Type.Boolean()),
        hour: Type.Optional(Hour),
        keep: Type.Optional(Keep),
      }),
    ),
    protection: Type.Optional(
      Strict({ delete: Type.Optional(Type.Boolean()), reinstall: Type.Optional(Type.Boolean()) }),
    ),
    nameservers: Type.Optional(
      Type.Array(Type.String({ maxLength: 45 }), {
        minItems: 1,
        maxItems: 4,
        description:
          'Count from the next start or restart. A system whose network is neither systemd-networkd nor resolv.conf takes them at its next reinstall',
      }),
    ),
    rescue: Type.Optional(Type.Boolean()),
    notifications: Type.Optional(Notifications),
  }),
);

export const Access = named(
  'MachineAccess',
  Type.Object({
    keys: Type.Array(
      named(
        'InstalledKey',
        Type.Object({ id: Id, name: Type.String(), fingerprint: Type.String(), installed: Type.Boolean() }),
        'An SSH key of the account, and whether the machine lets it in',
      ),
    ),
  }),
);
export const AccessChange = named('MachineAccessChange', Strict({ ssh_key_ids: KeyIds }));
