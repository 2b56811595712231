import { IdParams, routes } from '../../platform/http/index.ts';
import { moveExamples } from './examples.ts';
import { moveServer, readServerMove } from './move.ts';
import * as S from './schema.ts';

const one = {
  auth: 'staff',
  area: 'vps',
  staffRoles: ['administrator', 'operator'],
  params: IdParams,
} as const;

const group = { tag: 'Staff: servers', examples: moveExamples };

export const serverMoveRoutes = routes('/staff/servers', group, (route) => {
  route.get(
    '/:id/move',
    {
      ...one,
      operation: 'getServerMove',
      summary: 'Get where the service of a server could go',
      description:
        'Whether the service of a server can leave it, to which servers it could go, and what came of the last time. Poll it while `action` is there.',
      data: S.MoveData,
      errors: ['not_found'],
    },
    (ctx, req) => readServerMove(ctx, req.params.id),
  );
  route.post(
    '/:id/move',
    {
      ...one,
      operation: 'moveServer',
      summary: 'Move the service of a server to another one',
      description:
        'Installs the other server with the same system, hostname and keys, then switches this one off and gives the other one its addresses with their names, and its VLANs where ' +
        'the switches can. **What is on the disks does not go along**, nor does user data of an earlier installation, which is not kept. A password is made anew where there was one, and shown once to its customer. The service is on the other server once that greets by SSH; ' +
        'this one is then wiped as one that comes back. When anything fails before, the service goes on where it is.',
      body: S.Move,
      data: S.MoveAction,
      errors: ['not_found', 'conflict', 'locked', 'action_not_allowed', 'insufficient_stock'],
    },
    (ctx, req) => moveServer(ctx, req.params.id, req.body),
  );
});
