import { IdParams, routes } from '../../platform/http/index.ts';
import { readPlan } from './departing.ts';
import { evacuateNode, lockEvacuatedNode, readEvacuation, restoreNode, stopEvacuation } from './evacuate.ts';
import { evacuationExamples } from './examples.ts';
import * as S from './schema.ts';

const one = {
  auth: 'staff',
  area: 'vps',
  staffRoles: ['administrator', 'operator'],
  params: IdParams,
  data: S.EvacuationData,
} as const;

const group = { tag: 'Staff: fleet', examples: evacuationExamples };

export const evacuationRoutes = routes('/staff/nodes', group, (route) => {
  route.post(
    '/:id/evacuate',
    {
      ...one,
      operation: 'evacuateNode',
      summary: 'Evacuate node',
      description:
        'Has all machines of a member of a cluster go to other members with room, and the node take no new ones. They go while they run ' +
        'where the engine can. Machines of a host of our own go into the cluster that `cluster_id` names: each is shut down, made anew there of its ' +
        'disk with the same addresses, started, and taken away from the host once it was seen running; what fails starts again where it was. ' +
        'Where one does not answer there as it did before, no other begins (`halted_for`): asked for again, what waits goes on. ' +
        '`GET …/evacuation` tells how far each is, `GET …/evacuation/plan` what would become of each.',
      body: S.Evacuate,
      errors: ['not_found', 'conflict'],
    },
    (ctx, req) => evacuateNode(ctx, req.params.id, req.body),
  );
  route.get(
    '/:id/evacuation/plan',
    {
      ...one,
      operation: 'getEvacuationPlan',
      summary: 'Plan an evacuation into a cluster',
      description:
        'What would become of each machine of a host of our own, were it to go into a cluster: whether it can, what it would lose. Nothing is changed.',
      query: S.PlanQuery,
      data: S.PlanData,
      errors: ['not_found', 'invalid_request'],
    },
    (ctx, req) => readPlan(ctx, req.params.id, req.query.cluster_id),
  );
  route.get(
    '/:id/evacuation',
    {
      ...one,
      operation: 'getEvacuation',
      summary: 'Get evacuation of a node',
      description:
        'What becomes of each machine; poll it while its `state` is `running`. Null: it never was evacuated.',
      errors: ['not_found'],
      // Machines go on moving while somebody decides to stop them.
      etag: { without: ['waiting', 'moving', 'moved', 'stay', 'machines'] },
    },
    (ctx, req) => readEvacuation(ctx, req.params.id),
  );
  route.delete(
    '/:id/evacuation',
    {
      ...one,
      operation: 'stopEvacuation',
      summary: 'Stop evacuation of a node',
      description: 'Machines that wait stay, those that move come to their end. The node stays as it is.',
      errors: ['not_found', 'conflict'],
      lock: (tx, req) => lockEvacuatedNode(tx, req.params.id),
    },
    (ctx, req) => stopEvacuation(ctx, req.params.id),
  );
  route.post(
    '/:id/restore',
    {
      ...one,
      operation: 'restoreNode',
      summary: 'Restore node after an evacuation',
      description: 'Has the node take machines again, and brings back those that were taken away if wanted.',
      body: S.Restore,
      errors: ['not_found', 'conflict'],
    },
    (ctx, req) => restoreNode(ctx, req.params.id, req.body),
  );
});
