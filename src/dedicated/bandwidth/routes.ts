import { IdParams, routes } from '../../platform/http/index.ts';
import { examples } from './examples.ts';
import { readBandwidth, readBandwidthSummary } from './read.ts';
import * as S from './schema.ts';

const reading = {
  auth: 'organization',
  permission: 'dedicated.read',
  params: IdParams,
  errors: ['not_found', 'not_on_server'],
} as const;

const group = { tag: 'Dedicated servers', examples };

export const bandwidthRoutes = routes('/dashboard/service', group, (route) => {
  route.get(
    '/:id/dedicated/bandwidth',
    {
      ...reading,
      operation: 'getDedicatedBandwidth',
      summary: 'Get dedicated server bandwidth',
      description:
        'What the server received (`netin`) and sent (`netout`), in bytes a second as in the charts of a VPS, counted at its switch ports: in five minutes each for a day, thirty for a week, two hours for a month, a day for a year.',
      query: S.BandwidthQuery,
      data: S.Bandwidth,
    },
    (ctx, req) => readBandwidth(ctx, req.params.id, req.query.period ?? 'day'),
  );
  route.get(
    '/:id/dedicated/bandwidth/summary',
    {
      ...reading,
      operation: 'getDedicatedBandwidthSummary',
      summary: 'Get dedicated server bandwidth summary',
      description:
        'The calendar month (UTC) so far: all traffic, what the price includes, and the 95th percentiles of both directions.',
      data: S.BandwidthSummary,
    },
    (ctx, req) => readBandwidthSummary(ctx, req.params.id),
  );
});
