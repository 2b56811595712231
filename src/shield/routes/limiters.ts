import { type Declarations, Nothing } from '../../platform/http/index.ts';
import {
  changeLimiter,
  createLimiter,
  deleteLimiter,
  listLimiters,
  lockLimiter,
  readLimiter,
} from '../limiters/limiters.ts';
import * as S from '../schema.ts';
import { manages, reads } from './access.ts';

/** Rate limiters. */
export function limiterRoutes(route: Declarations): void {
  route.get(
    '/rate-limiters',
    {
      ...reads,
      operation: 'listRateLimiters',
      summary: 'List rate limiters',
      description: 'Rates that rules can hold packets to.',
      query: S.LimiterQuery,
      data: S.LimiterList,
    },
    (ctx, req) => listLimiters(ctx, req.query),
  );
  route.post(
    '/rate-limiters',
    {
      ...manages,
      operation: 'createRateLimiter',
      summary: 'Create rate limiter',
      description: 'Makes a rate for rules to use; at most 100.',
      body: S.NewLimiter,
      data: S.LimiterData,
      errors: ['too_many', 'conflict'],
    },
    (ctx, req) => createLimiter(ctx, req.body),
  );
  route.get(
    '/rate-limiters/:id',
    {
      ...reads,
      operation: 'getRateLimiter',
      summary: 'Get rate limiter',
      description: 'One rate.',
      params: S.SmallIdParams,
      data: S.LimiterData,
      errors: ['not_found'],
      etag: true,
    },
    (ctx, req) => readLimiter(ctx, req.params.id),
  );
  route.patch(
    '/rate-limiters/:id',
    {
      ...manages,
      operation: 'updateRateLimiter',
      summary: 'Change rate limiter',
      description: 'Changes a rate, for all rules that use it.',
      params: S.SmallIdParams,
      body: S.LimiterChange,
      data: S.LimiterData,
      errors: ['not_found', 'conflict'],
      lock: (tx, req) => lockLimiter(tx, req.params.id),
    },
    (ctx, req) => changeLimiter(ctx, req.params.id, req.body),
  );
  route.delete(
    '/rate-limiters/:id',
    {
      ...manages,
      operation: 'deleteRateLimiter',
      summary: 'Delete rate limiter',
      description: 'Takes away a rate that no rule uses.',
      params: S.SmallIdParams,
      data: Nothing,
      errors: ['not_found', 'limiter_in_use'],
      lock: (tx, req) => lockLimiter(tx, req.params.id),
    },
    (ctx, req) => deleteLimiter(ctx, req.params.id),
  );
}
