import { Type } from 'typebox';
import { IdParams, named, routes } from '../platform/http/index.ts';
import { deliverByHand } from './delivery/deliverByHand.ts';
import { retryService } from './delivery/retry.ts';
import { examples } from './examples.ts';
import * as S from './schema.ts';
import { listServicesForStaff, readServiceAsStaff } from './serviceStaff.ts';

const group = {
  tag: 'Staff: services',
  about: 'What customers own, and deliveries that need a hand.',
  examples,
};

export const serviceStaffRoutes = routes('/staff/services', group, (route) => {
  route.get(
    '',
    {
      auth: 'staff',
      area: 'vps',
      operation: 'listServicesAsStaff',
      summary: 'List services as staff',
      description:
        'Every service with whose it is and on which node, or those of one organization, newest first.',
      query: S.StaffServiceQuery,
      data: S.StaffServiceList,
    },
    (ctx, req) => listServicesForStaff(ctx, req.query),
  );
  route.get(
    '/:id',
    {
      auth: 'staff',
      area: 'vps',
      operation: 'getServiceAsStaff',
      summary: 'Get service as staff',
      description: 'One service, whoever owns it.',
      params: IdParams,
      data: S.StaffServiceData,
      errors: ['not_found'],
    },
    (ctx, req) => readServiceAsStaff(ctx, req.params.id),
  );
  route.post(
    '/:id/retry',
    {
      auth: 'staff',
      area: 'vps',
      staffRoles: ['administrator', 'operator'],
      operation: 'retryServiceDelivery',
      summary: 'Retry the delivery of a service that failed',
      description: 'Starts the delivery again from the beginning.',
      params: IdParams,
      data: named('DeliveryRetried', Type.Object({ retried: Type.Boolean() })),
      errors: ['not_found', 'conflict'],
    },
    (ctx, req) => retryService(ctx, req.params.id),
  );
  route.post(
    '/:id/deliver',
    {
      auth: 'staff',
      area: 'vps',
      staffRoles: ['administrator', 'operator'],
      operation: 'deliverServiceByHand',
      summary: 'Mark a service as delivered that staff delivers by hand',
      description:
        'It is active from now on, its first period starts today, and its customer is told by mail.',
      params: IdParams,
      data: S.ServiceData,
      errors: ['not_found', 'conflict'],
    },
    (ctx, req) => deliverByHand(ctx, req.params.id),
  );
});
