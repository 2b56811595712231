import { Type } from 'typebox';
import { HardwareDifference, ServerSensor, serverMeasured } from '../fleet/index.ts';
import { Choice, Id, Nullable, named, PossibleActions, Strict, Timestamp } from '../platform/http/index.ts';
import { Action, Hostname, Ips, KeyIds, Password, Traffic, UserData } from '../vps/index.ts';
import { dedicatedActions, dedicatedStates, refusalCodes } from './states.ts';

export const Overview = named(
  'DedicatedAnswer',
  Type.Object({
    dedicated: named(
      'DedicatedServer',
      Type.Object({
        service_id: Id,
        read_at: { ...Timestamp, description: 'When it was so: what the other moments are held against' },
        hostname: Type.String(),
        state: named(
          'DedicatedState',
          Choice(dedicatedStates, {
            description:
              'Of a service that has ended: returning until its server has come back and is wiped, and deleting for good afterwards, as of a VPS. broken: the server cannot be used, or its disks could not be wiped; `problem` says what happens next',
          }),
        ),
        locked: Type.Boolean(),
        power: Type.Object(
          {
            state: Nullable(Choice(['on', 'off'])),
            heard_at: Nullable({ ...Timestamp, description: 'When it was so; null: nobody has heard yet' }),
            silent: Type.Boolean({
              description:
                'The controller of the server does not answer: nothing newer is known than of `heard_at`',
            }),
          },
          { description: 'As the controller of the server said it last' },
        ),
        os: Type.Object({
          slug: Type.String(),
          name: Nullable(Type.String()),
          version: Nullable(Type.String()),
        }),
        system: Nullable(
          Type.Object(
            { vendor: Type.String(), product: Type.String() },
            {
              description:
                'The machine, as its maker calls it; null: it was never measured, or is not yours yet',
            },
          ),
        ),
        problem: Nullable(
          Type.String({
            description:
              'Why what is on its disks does not start, or the server cannot be used or wiped, and what to do or what happens next; null: nothing is known to be wrong',
          }),
        ),
        location: Nullable(Type.String()),
        traffic: Traffic,
        ips: Ips.properties.ips,
        delivery: Nullable(
          Type.Object(
            {
              progress: Type.Integer({ minimum: 0, maximum: 100, description: 'In percent' }),
              note: Nullable(Type.String({ description: 'What is being done, in words' })),
            },
            {
              description:
                'How far the server of a paid order is; null: nothing was begun yet, or it is delivered',
            },
          ),
        ),
        current_action: Nullable(Action),
        actions: PossibleActions(
          { each: 'PossibleDedicatedAction', all: 'PossibleDedicatedActions' },
          dedicatedActions,
          refusalCodes,
        ),
      }),
      'A server that is rented whole',
    ),
  }),
);

export const ConsoleQuery = Strict({
  type: Type.Optional({
    ...Choice(['serial'], { description: 'As of a VPS; a server has its serial line alone' }),
    'x-message': 'must be serial: a dedicated server shows its serial line, and no screen',
  }),
});

export const Sensors = named(
  'DedicatedSensors',
  Type.Object({
    sensors: Type.Array(ServerSensor),
    read_at: Nullable({ ...Timestamp, description: 'When they were read; null: they never were' }),
    silent: Type.Boolean({
      description: 'The controller of the server did not answer when it was asked last',
    }),
  }),
);

const ErasedDisk = named(
  'ErasedDisk',
  Type.Object({
    model: Nullable(Type.String()),
    serial: Type.String(),
    bytes: Type.Integer({ minimum: 0 }),
    method: Nullable(
      Type.String({
        description:
          'How it was wiped: `sanitize-block`, `sanitize-crypto`, `format-crypto`, `format-user-data`, `sanitize-overwrite`, `ata-enhanced`, `ata` or `overwrite`',
      }),
    ),
    drive_status: Nullable({
      ...Choice(['passed', 'failed']),
      description: 'What the drive says of its own health (SMART); null: it says nothing',
    }),
    marks: Type.Integer({ minimum: 0, description: 'Places all over the disk that were marked before' }),
    marks_left: Type.Integer({ minimum: 0, description: 'How many of them could still be read afterwards' }),
    not_zero: Type.Integer({
      minimum: 0,
      description: 'How many of them hold anything but zeros: all may where the drive threw its key away',
    }),
    tried: Type.Array(
      Type.Object({
        method: Type.String(),
        exit: Type.Integer({ description: 'How the program ended; 0: well' }),
        log: Type.String({ description: 'The last of what it said' }),
      }),
    ),
    began_at: Timestamp,
    ended_at: Timestamp,
    seconds: Type.Integer({ minimum: 0 }),
  }),
);

export const ErasureData = named(
  'DedicatedErasure',
  Type.Object({
    erasure: Type.Object({
      service_id: Id,
      hostname: Type.String(),
      system: Nullable(Type.Object({ vendor: Type.String(), product: Type.String(), serial: Type.String() })),
      began_at: Timestamp,
      ended_at: Timestamp,
      disks: Type.Array(ErasedDisk),
    }),
    signature: Nullable({
      ...Type.Object({
        jws: Type.String({
          description:
            'The same, signed with Ed25519: a JSON web signature (RFC 7515) in its compact form, whose payload has it as `erasure`',
        }),
        key_id: Type.String({ description: 'Which key it verifies with: its thumbprint (RFC 7638)' }),
        keys_url: Type.String({ description: 'Where the key is published' }),
      }),
      description: 'Null: the server was wiped before proofs were signed',
    }),
  }),
);

export const ErasurePdfQuery = Strict({ language: Choice(['en', 'de'], { default: 'en' }) });

export const HardwareData = named(
  'DedicatedHardware',
  Type.Object({
    hardware: Nullable(
      Type.Object({
        system: Type.Object({ vendor: Type.String(), product: Type.String(), serial: Type.String() }),
        ...serverMeasured,
      }),
    ),
    measured_at: Nullable(Timestamp),
    differences: Type.Array(HardwareDifference, {
      description:
        'What of it is not as it was measured, by what was seen since; empty: nothing was seen to differ',
    }),
    seen_at: Nullable({
      ...Timestamp,
      description: 'When our installer or rescue system looked last since then; null: it did not start',
    }),
  }),
);

export const Reinstall = named(
  'DedicatedReinstallation',
  Strict({
    os: Type.String({
      ...{ minLength: 1, maxLength: 100, examples: ['tiny'] },
      description: 'Slug of a system that servers can be installed with',
    }),
    password: Type.Optional(Password),
    ssh_key_ids: Type.Optional({ ...KeyIds, description: 'Default: all keys of your account' }),
    hostname: Type.Optional(Hostname),
    user_data: Type.Optional(UserData),
    disks: Type.Optional(
      Strict({
        layout: Choice(['single', 'raid1']),
        serials: Type.Optional(
          Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
            ...{ minItems: 1, maxItems: 64 },
            description: 'Disks of the server; default: the fastest, two that are alike for a mirror',
          }),
        ),
      }),
    ),
    confirm: Type.String({
      ...{
        maxLength: 255,
        pattern: '^[^\\r\\n]*$',
        'x-message': 'must be the name of the server, on one line',
      },
      description: 'The name of the server: what is on the disks of the layout is gone afterwards',
    }),
  }),
);

export const Rescue = named(
  'DedicatedRescue',
  Strict({
    enabled: Type.Boolean(),
    password: Type.Optional(Password),
    ssh_key_ids: Type.Optional({ ...KeyIds, description: 'Default: all keys of your account' }),
  }),
);

export const Credentials = named(
  'DedicatedCredentials',
  Type.Object({
    credentials: Nullable(
      Type.Object({
        username: Type.String(),
        available: Type.Boolean({ description: 'It was not shown yet' }),
        made_at: Timestamp,
        shown_at: Nullable(Timestamp),
        shown_to: Nullable(Type.String({ description: 'E-mail address of whoever it was shown to' })),
      }),
    ),
  }),
);

export const ShownCredentials = named(
  'ShownDedicatedCredentials',
  Type.Object({
    credentials: Type.Object({
      username: Type.String(),
      password: Type.String({ description: 'In this answer alone' }),
    }),
  }),
);
