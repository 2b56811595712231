import type { Declarations } from '../../platform/http/index.ts';
import { readTrafficOf } from '../analytics/traffic.ts';
import * as S from '../schema.ts';
import { reads } from './access.ts';

/** What came to an address. */
export function trafficRoutes(route: Declarations): void {
  route.get(
    '/analytics/traffic',
    {
      ...reads,
      operation: 'getShieldTraffic',
      summary: 'Get traffic',
      description:
        'What came to an address, and what of it rules dropped: by the minute for the last hours, in wider rows for a longer time. A ' +
        'minute is there once it is over.',
      query: S.TrafficQuery,
      data: S.TrafficData,
    },
    (ctx, req) => readTrafficOf(ctx, req.query),
  );
}
