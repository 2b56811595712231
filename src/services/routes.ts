import { IdParams, routes } from '../platform/http/index.ts';
import { examples } from './examples.ts';
import { listServices, readService } from './read.ts';
import * as S from './schema.ts';

const group = { tag: 'Services', about: 'Everything you ordered and what it costs.', examples };

export const serviceRoutes = routes('/dashboard/services', group, (route) => {
  route.get(
    '',
    {
      auth: 'organization',
      permission: 'service.read',
      operation: 'listServices',
      summary: 'List services',
      description: 'What the organization ordered, newest first.',
      query: S.ServiceListQuery,
      data: S.ServiceList,
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
      description: 'One service. It can be used once its `status` is `active`; poll it after paying.',
      params: IdParams,
      data: S.ServiceData,
      errors: ['not_found'],
      etag: true,
    },
    (ctx, req) => readService(ctx, req.params.id),
  );
});
