import { IdParams, routes } from '../../platform/http/index.ts';
import { finishByHand } from '../byHand/tasks.ts';
import { ServiceData } from '../schema.ts';
import { suspendByStaff, terminateByStaff, unsuspendByStaff } from './byStaff.ts';
import { examples } from './examples.ts';
import * as S from './schema.ts';

const common = {
  auth: 'staff',
  area: 'vps',
  staffRoles: ['administrator', 'operator'],
  params: IdParams,
  data: ServiceData,
  errors: ['not_found', 'conflict'],
} as const;

export const suspendStaffRoutes = routes('/staff/services', { tag: 'Staff: services', examples }, (route) => {
  route.post(
    '/:id/suspend',
    {
      ...common,
      operation: 'suspendService',
      summary: 'Suspend a service',
      description:
        'It is switched off and cannot be used until staff takes that back; nothing of it is deleted, and its customer is ' +
        'told the reason by mail. One that is suspended because it was not paid stays so when it is.',
      body: S.Suspension,
    },
    (ctx, req) => suspendByStaff(ctx, req.params.id, req.body),
  );
  route.post(
    '/:id/unsuspend',
    {
      ...common,
      operation: 'unsuspendService',
      summary: 'Take the suspension of a service back',
      description: 'It goes on as it was before: a machine that ran then is started.',
    },
    (ctx, req) => unsuspendByStaff(ctx, req.params.id),
  );
  route.post(
    '/:id/terminate',
    {
      ...common,
      operation: 'terminateService',
      summary: 'Terminate a service',
      description:
        'Ends it for good: a machine is deleted with its disk, snapshots and backups, its addresses are given back, and ' +
        'open invoices for it are cancelled. Its history stays. What was paid is given back by a refund of its invoice.',
      body: S.Termination,
    },
    (ctx, req) => terminateByStaff(ctx, req.params.id, req.body),
  );
  route.post(
    '/:id/done',
    {
      ...common,
      operation: 'finishServiceByHand',
      summary: 'Mark as done what staff does by hand with a service',
      description:
        'Services that no room looks after are suspended, unsuspended and terminated by staff. What is still to be done ' +
        'stands in the list of what needs a person, until this says that it is done.',
      body: S.ByHand,
    },
    (ctx, req) => finishByHand(ctx, req.params.id, req.body.task),
  );
});
