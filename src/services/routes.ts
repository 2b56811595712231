import { IdParams, type RouteGroup, routes } from '../platform/http/index.ts';
import { promiseRoutes } from './calendar/routes.ts';
import type { EndingGuards } from './cancel/guard.ts';
import { cancelRoutes } from './cancel/routes.ts';
import { changeNote, changeService, lockForChange } from './change.ts';
import { examples } from './examples.ts';
import { listServices, readService } from './read.ts';
import { renewRoutes } from './renew/routes.ts';
import * as S from './schema.ts';

const group = { tag: 'Services', about: 'Everything you ordered and what it costs.', examples };

const ownRoutes = routes('/dashboard/services', group, (route) => {
  route.get(
    '',
    {
      auth: 'organization',
      permission: 'service.read',
      operation: 'listServices',
      summary: 'List services',
      description:
        'What the organization ordered, newest first. Your preference `show_cancelled_items` says whether those are among ' +
        'it that are cancelled or over, unless you ask for a status.',
      query: S.ServiceListQuery,
      data: S.ServiceList,
    },
    (ctx, req) => listServices(ctx, req.query, req.principal),
  );
  route.get(
    '/:id',
    {
      auth: 'organization',
      permission: 'service.read',
      operation: 'getServiceDetails',
      summary: 'Get service details',
      description: 'One service. It can be used once its `status` is `active`; poll it after paying.',
      params: IdParams,
      data: S.ServiceData,
      errors: ['not_found'],
      etag: true,
    },
    (ctx, req) => readService(ctx, req.params.id),
  );
  route.patch(
    '/:id',
    {
      auth: 'organization',
      permission: 'billing.pay',
      operation: 'updateService',
      summary: 'Update service',
      description: 'Changes what the body names; the rest stays.',
      params: IdParams,
      body: S.ServiceChange,
      data: S.ServiceData,
      errors: ['not_found', 'conflict'],
      lock: (tx, req) => lockForChange(tx, req.params.id),
    },
    (ctx, req) => changeService(ctx, req.params.id, req.body),
  );
  route.get(
    '/:id/note',
    {
      auth: 'organization',
      permission: 'service.read',
      operation: 'getServiceNote',
      summary: 'Get service note',
      description: 'The service with its note: the same answer and the same `ETag` as the service itself.',
      params: IdParams,
      data: S.ServiceData,
      errors: ['not_found'],
      etag: true,
    },
    (ctx, req) => readService(ctx, req.params.id),
  );
  route.patch(
    '/:id/note',
    {
      auth: 'organization',
      permission: 'service.manage',
      operation: 'updateServiceNote',
      summary: 'Update service note',
      description: 'What your organization notes of the service, for itself.',
      params: IdParams,
      body: S.NoteChange,
      data: S.ServiceData,
      errors: ['not_found', 'conflict'],
      lock: (tx, req) => lockForChange(tx, req.params.id),
    },
    (ctx, req) => changeNote(ctx, req.params.id, req.body),
  );
});

/** What customers do with their services. */
export function serviceRoutes(guards: EndingGuards): RouteGroup[] {
  return [ownRoutes, renewRoutes, cancelRoutes(guards), promiseRoutes];
}
