import { IdParams, routes } from '../../platform/http/index.ts';
import { lockForChange } from '../change.ts';
import { cancelService, revokeCancellation } from './cancel.ts';
import { examples } from './examples.ts';
import type { EndingGuards } from './guard.ts';
import { readCancellation } from './preview.ts';
import * as S from './schema.ts';

/** How services are cancelled; the rooms above say what is against it. */
export function cancelRoutes(guards: EndingGuards) {
  return routes('/dashboard/services', { tag: 'Services', examples }, (route) => {
    route.get(
      '/:id/cancel',
      {
        auth: 'organization',
        permission: 'service.read',
        operation: 'getCancellation',
        summary: 'Get cancellation of service',
        description: 'Whether the service ends and when, and what cancelling it now would give back.',
        params: IdParams,
        data: S.CancellationOptions,
        errors: ['not_found'],
        etag: true,
      },
      (ctx, req) => readCancellation(ctx, req.params.id, guards),
    );
    route.post(
      '/:id/cancel',
      {
        auth: 'organization',
        permission: 'service.cancel',
        personal: true,
        operation: 'cancelService',
        summary: 'Cancel service',
        description:
          'At once, or at the end of the time that is paid for, as long as that runs. Its open invoices are cancelled with it. What is given ' +
          'back is what `GET` on this path says before; with `dry_run` the answer is the one that cancelling would have, and ' +
          'nothing changes.',
        params: IdParams,
        body: S.Cancel,
        data: S.Cancelled,
        errors: ['not_found', 'conflict', 'amount_too_large'],
      },
      (ctx, req) => cancelService(ctx, req.params.id, req.body, guards),
    );
    route.delete(
      '/:id/cancel',
      {
        auth: 'organization',
        permission: 'service.cancel',
        operation: 'revokeCancellation',
        summary: 'Take cancellation of service back',
        description: 'While it has not come true.',
        params: IdParams,
        data: S.Cancelled,
        errors: ['not_found', 'conflict'],
        lock: (tx, req) => lockForChange(tx, req.params.id),
      },
      (ctx, req) => revokeCancellation(ctx, req.params.id),
    );
  });
}
