import { IdParams, routes } from '../../platform/http/index.ts';
import { recoveryExamples } from './examples.ts';
import { readRecovery, recoverMachines } from './recover.ts';
import * as S from './schema.ts';

const one = {
  auth: 'staff',
  area: 'vps',
  staffRoles: ['administrator', 'operator'],
  params: IdParams,
  data: S.RecoveryData,
} as const;

const group = { tag: 'Staff: fleet', examples: recoveryExamples };

export const recoveryRoutes = routes('/staff/nodes', group, (route) => {
  route.get(
    '/:id/recovery',
    {
      ...one,
      operation: 'getNodeRecovery',
      summary: 'Get what can be recovered of a node',
      description:
        'Which machines of a node that does not answer can be made anew on others, and to which moment each goes back; poll it while one is `running`.',
      errors: ['not_found'],
    },
    (ctx, req) => readRecovery(ctx, req.params.id),
  );
  route.post(
    '/:id/recover',
    {
      ...one,
      operation: 'recoverNode',
      summary: 'Recover machines of a lost node',
      description:
        'Makes machines of a member of a cluster that does not answer anew on other members with room, each from its newest backup that can be ' +
        'read. A machine keeps its service, its addresses and its access; what it wrote after the backup is gone. What the lost node has of it is ' +
        'never started when it returns. Machines without such a backup stay.',
      body: S.Recover,
      errors: ['not_found', 'conflict'],
    },
    (ctx, req) => recoverMachines(ctx, req.params.id, req.body),
  );
});
