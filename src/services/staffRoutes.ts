import { Type } from 'typebox';
import { IdParams, named, routes } from '../platform/http/index.ts';
import { retryService } from './delivery/retry.ts';

export const serviceStaffRoutes = routes('/staff/services', { tag: 'Staff: services' }, (route) => {
  route.post(
    '/:id/retry',
    {
      auth: 'staff',
      staffRoles: ['administrator', 'operator'],
      operation: 'retryServiceDelivery',
      summary: 'Retry the delivery of a service that failed',
      params: IdParams,
      data: named('DeliveryRetried', Type.Object({ retried: Type.Boolean() })),
      errors: ['not_found', 'conflict'],
    },
    (ctx, req) => retryService(ctx, req.params.id),
  );
});
