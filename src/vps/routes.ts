import { IdParams, routes } from '../platform/http/index.ts';
import { listHistory, readAction } from './actions.ts';
import { readIps, readOverview } from './overview.ts';
import { restartVps, startVps, stopVps } from './power.ts';
import * as S from './schema.ts';

const reading = { auth: 'organization', permission: 'vps.read', params: IdParams } as const;
const acting = {
  auth: 'organization',
  permission: 'vps.power',
  params: IdParams,
  data: S.ActionData,
  errors: ['not_found', 'not_a_vps', 'locked', 'action_not_allowed'],
  limit: 'vps',
} as const;

export const vpsRoutes = routes('/dashboard/service', { tag: 'VPS manager' }, (route) => {
  route.get(
    '/:id/vps/overview',
    { ...reading, summary: 'Get VPS overview', data: S.Overview, errors: ['not_found', 'not_a_vps'] },
    (ctx, req) => readOverview(ctx, req.params.id),
  );
  route.post('/:id/vps/start', { ...acting, summary: 'Start VPS' }, (ctx, req) =>
    startVps(ctx, req.params.id),
  );
  route.post('/:id/vps/stop', { ...acting, summary: 'Stop VPS', body: S.Force }, (ctx, req) =>
    stopVps(ctx, req.params.id, req.body),
  );
  route.post('/:id/vps/restart', { ...acting, summary: 'Restart VPS', body: S.Force }, (ctx, req) =>
    restartVps(ctx, req.params.id, req.body),
  );
  route.get(
    '/:id/vps/ips',
    { ...reading, summary: 'Get VPS IP addresses', data: S.Ips, errors: ['not_found', 'not_a_vps'] },
    (ctx, req) => readIps(ctx, req.params.id),
  );
  route.get(
    '/:id/vps/history',
    {
      ...reading,
      summary: 'Get VPS action history',
      query: S.HistoryQuery,
      data: S.History,
      errors: ['not_found', 'not_a_vps', 'invalid_cursor', 'page_too_deep'],
    },
    (ctx, req) => listHistory(ctx, req.params.id, req.query),
  );
  route.get(
    '/:id/vps/history/:action_id',
    {
      ...reading,
      params: S.HistoryParams,
      summary: 'Get one VPS action',
      data: S.ActionData,
      errors: ['not_found', 'not_a_vps'],
    },
    (ctx, req) => readAction(ctx, req.params.id, req.params.action_id),
  );
});
