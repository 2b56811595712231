import { IdParams, routes } from '../../platform/http/index.ts';
import { adoptMachine, readUnknownMachine } from './adopt.ts';
import { adoptExamples } from './examples.ts';
import * as S from './schema.ts';

const one = {
  auth: 'staff',
  area: 'vps',
  staffRoles: ['administrator', 'operator'],
  params: IdParams,
} as const;

const group = { tag: 'Staff: fleet', examples: adoptExamples };

export const adoptRoutes = routes('/staff/unknown-machines', group, (route) => {
  route.get(
    '/:id',
    {
      ...one,
      data: S.UnknownMachineData,
      operation: 'getUnknownMachine',
      summary: 'Get unknown machine',
      description:
        'A machine that a node has and the database does not know, whose it may be, and whether it can be adopted. It is left alone, and nobody else gets its ' +
        'addresses, until it is gone from the node or known. `id` is that of the concern `machine.unknown`.',
      errors: ['not_found'],
      // Whether another copy runs its engine says, and not the database.
      drivers: ['hypervisor'],
    },
    (ctx, req) => readUnknownMachine(ctx, req.params.id, req.drivers.hypervisor),
  );
  route.post(
    '/:id/adopt',
    {
      ...one,
      data: S.AdoptedData,
      operation: 'adoptMachine',
      summary: 'Adopt an unknown machine',
      description:
        'After the restore of a backup a machine may have been made anew since, in a cluster or on another member: its engine has a later one than the ' +
        'database knows. This has the database follow it, with the same service, addresses and access; what was taken for the machine is an old copy ' +
        'from then on, which nobody starts. Engines are asked whether another copy runs: while one does it is refused, and where one cannot say until `confirm` ' +
        'names its node. `id` is that of the concern `machine.unknown`.',
      body: S.Adopt,
      errors: ['not_found', 'conflict', 'locked'],
      drivers: ['hypervisor'],
    },
    (ctx, req) =>
      adoptMachine(ctx, req.params.id, {
        confirm: req.body.confirm,
        hypervisorOf: req.drivers.hypervisor,
      }),
  );
});
