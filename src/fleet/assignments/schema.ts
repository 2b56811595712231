import { Type } from 'typebox';
import {
  Choice,
  Id,
  ListQuery,
  listOf,
  Nullable,
  named,
  SortBy,
  Timestamp,
} from '../../platform/http/index.ts';
import { waits } from './underWay.ts';

export const Installation = named(
  'ServerInstallation',
  Type.Object({
    job_id: Id,
    job: Type.String({ description: 'What has it done, as jobs are called' }),
    since: Timestamp,
    server_id: Id,
    server: Type.String(),
    rack_id: Nullable(Id),
    rack: Nullable(Type.String()),
    service_id: Nullable(Id),
    task: Nullable(
      Choice(['wipe', 'install', 'rescue'], {
        description: 'Null: our installer has nothing to do there right now',
      }),
    ),
    step: Nullable(
      Type.String({ description: 'Of our installer while it is at work, else of the job that waits' }),
    ),
    bytes: Nullable(Type.Integer({ minimum: 0, description: 'So much of the system has come' })),
    of_bytes: Nullable(Type.Integer({ minimum: 0 })),
    disks: Nullable(Type.Integer({ minimum: 0, description: 'So many are wiped for it' })),
    wiped: Nullable(Type.Integer({ minimum: 0, description: 'So many of them are' })),
    tries: Nullable(Type.Integer({ minimum: 1, description: 'How often it has begun' })),
    heard_at: Nullable({ ...Timestamp, description: 'When the server was heard of last' }),
    waits_for: Choice(waits, {
      description:
        'turn: it has not begun; power: it is being switched; start: it starts our system; proof: it is to be proved to be the one behind its BMC; installer: our installer is at work; ' +
        'image: what it is installed with; greeting: SSH; bmc: its BMC is silent; staff: its job stands still',
    }),
    message: Nullable(Type.String({ description: 'In words' })),
  }),
  'A server with which our installer does something, or is about to',
);
export const InstallationList = named('ServerInstallationList', listOf('installations', Installation));
export const InstallationQuery = ListQuery({ sort: SortBy(['created_at'], 'created_at') });
