import type { Declarations } from '../../platform/http/index.ts';
import * as S from '../schema.ts';
import { tokenForKey } from '../token.ts';

/** The token of an API key. */
export function tokenRoutes(route: Declarations): void {
  route.post(
    '/auth/api',
    {
      auth: 'public',
      actor: 'visitor',
      operation: 'getShieldToken',
      summary: 'Get token for key',
      description: 'For clients that ask for a token first: what to send in the header `token` from then on.',
      body: S.KeyForToken,
      data: S.Token,
      limit: 'sign-in',
      errors: ['unauthorized'],
    },
    (ctx, req) => tokenForKey(ctx, req.body.key, req.ip),
  );
}
