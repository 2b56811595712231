import { Type } from 'typebox';
import { Id, line, Nullable, named, Strict, Timestamp } from '../../platform/http/index.ts';
import { Action } from '../../vps/index.ts';

export const Move = named(
  'ServerMove',
  Strict({
    to_server_id: Type.Optional({
      ...Id,
      description:
        'A server in stock that is what was ordered, where the addresses are. Default: the first of them, of the same profile where there is one',
    }),
    reason: line(300, { examples: ['Restarts by itself under load'] }),
    confirm: Type.String({
      ...{
        maxLength: 255,
        pattern: '^[^\\r\\n]*$',
        'x-message': 'must be the name of the server, on one line',
      },
      description: 'The name of the server that the service leaves: what is on its disks does not go along',
    }),
    unplugged: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          'You have pulled its power: its BMC is not asked, and nobody starts it again should the other server fail',
      }),
    ),
  }),
);

export const MoveAction = named('ServerMoveAction', Type.Object({ action: Action }));

export const MoveData = named(
  'ServerMoveAnswer',
  Type.Object({
    move: Type.Object({
      server_id: Id,
      service_id: Nullable({ ...Id, description: 'The service that has it, is to get it, or has left it' }),
      hostname: Nullable(Type.String()),
      possible: Type.Boolean({ description: 'The service of the server can leave it right now' }),
      reason: Nullable(Type.String({ description: 'Why it cannot' })),
      action: Nullable(Action),
      servers: Type.Array(
        Type.Object({ id: Id, name: Type.String(), profile: Type.String(), rack: Type.String() }),
        { description: 'Where the service could go, a hundred at most; the first is taken by default' },
      ),
      last: Nullable({
        ...Type.Object({
          from_server_id: Id,
          from: Type.String(),
          to_server_id: Id,
          to: Type.String(),
          reason: Type.String(),
          unplugged: Type.Boolean(),
          asked_at: Timestamp,
          ended_at: Nullable(Timestamp),
          moved: Nullable(Type.Boolean({ description: 'Null: it is under way' })),
          problem: Nullable(
            Type.String({
              description: 'Why the service did not go over, or what it waits for while it is off',
            }),
          ),
        }),
        description: 'The last move of this service from or to this server; null: there was none',
      }),
    }),
  }),
);
