import { Type } from 'typebox';
import { IdParams, named, routes } from '../platform/http/index.ts';
import { deliverByHand } from './delivery/deliverByHand.ts';
import { retryService } from './delivery/retry.ts';
import { examples } from './examples.ts';
import { ServiceData } from './schema.ts';

const group = { tag: 'Staff: services', about: 'Deliveries that need a hand.', examples };

export const serviceStaffRoutes = routes('/staff/services', group, (route) => {
  route.post(
    '/:id/retry',
    {
      auth: 'staff',
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
      staffRoles: ['administrator', 'operator'],
      operation: 'deliverServiceByHand',
      summary: 'Mark a service as delivered that staff delivers by hand',
      description:
        'It is active from now on, its first period starts today, and its customer is told by mail.',
      params: IdParams,
      data: ServiceData,
      errors: ['not_found', 'conflict'],
    },
    (ctx, req) => deliverByHand(ctx, req.params.id),
  );
});
