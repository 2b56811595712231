import { Type } from 'typebox';
import { IdParams, named, routes } from '../platform/http/index.ts';
import { retryService } from './delivery/retry.ts';
import { examples } from './examples.ts';

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
});
