import { IdParams, routes } from '../../platform/http/index.ts';
import { adoptMachine } from './adopt.ts';
import { adoptExamples } from './examples.ts';
import * as S from './schema.ts';

const group = { tag: 'Staff: fleet', examples: adoptExamples };

export const adoptRoutes = routes('/staff/unknown-machines', group, (route) => {
  route.post(
    '/:id/adopt',
    {
      auth: 'staff',
      area: 'vps',
      staffRoles: ['administrator', 'operator'],
      params: IdParams,
      data: S.AdoptedData,
      operation: 'adoptMachine',
      summary: 'Adopt an unknown machine',
      description:
        'After the restore of a backup a machine may have been made anew since, in a cluster or on another member: its engine has a later one than the ' +
        'database knows. This has the database follow it, with the same service, addresses and access; what was taken for the machine is an old copy ' +
        'from then on, which nobody starts. `id` is that of the concern `machine.unknown`.',
      errors: ['not_found', 'conflict', 'locked'],
    },
    (ctx, req) => adoptMachine(ctx, req.params.id),
  );
});
