import { IdParams, routes } from '../platform/http/index.ts';
import { listServices, readService } from './read.ts';
import * as S from './schema.ts';

export const serviceRoutes = routes('/dashboard/services', { tag: 'Services' }, (route) => {
  route.get(
    '',
    {
      auth: 'organization',
      permission: 'service.read',
      operation: 'listServices',
      summary: 'List services',
      query: S.ServiceListQuery,
      data: S.ServiceList,
      errors: ['invalid_cursor', 'page_too_deep'],
    },
    (ctx, req) => listServices(ctx, req.query),
  );
  route.get(
    '/:id',
    {
      auth: 'organization',
      permission: 'service.read',
      operation: 'getServiceDetails',
      summary: 'Get service details',
      params: IdParams,
      data: S.ServiceData,
      errors: ['not_found'],
      etag: true,
    },
    (ctx, req) => readService(ctx, req.params.id),
  );
});
