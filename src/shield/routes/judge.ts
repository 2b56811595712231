import type { Declarations } from '../../platform/http/index.ts';
import { explainPacket } from '../explain/explain.ts';
import * as S from '../schema.ts';
import { simulateRules } from '../simulate/simulate.ts';
import { reads, warned } from './access.ts';

/** What rules would do, and which one decides. */
export function judgeRoutes(route: Declarations): void {
  route.post(
    '/rules/simulate',
    {
      ...reads,
      operation: 'simulateShieldRules',
      summary: 'Simulate rules',
      description:
        'What rules would have done to the packets of the last hour, and what of that is otherwise than with the rules that are wanted ' +
        'now. Takes what `/rules/apply` takes, refuses what that refuses, and changes nothing. Packets are sampled: `certainty` and ' +
        'each `margin` say how sure the numbers are.',
      body: S.NewApply,
      data: S.Simulated,
      beside: S.warned,
      limit: 'shieldSimulate',
      idempotency: 'off',
      whileBlocked: true,
      errors: ['not_found', 'too_many', 'would_lock_out'],
    },
    async (ctx, req) => warned(await simulateRules(ctx, req.body)),
  );
  route.post(
    '/rules/explain',
    {
      ...reads,
      operation: 'explainPacket',
      summary: 'Explain packet',
      description:
        'Which rule decides about a packet, and why those before it do not. Changes nothing. With `live: true` the next packets like it ' +
        'are waited for as well, twenty at most and ten seconds at most, and each says what the edge has decided on it.',
      body: S.Explain,
      data: S.Explained,
      idempotency: 'off',
      whileBlocked: true,
      errors: ['not_supported', 'unavailable'],
      drivers: ['edge'],
      liveWhen: ({ body }) => body.live === true,
    },
    (ctx, req) => explainPacket(ctx, req.body, req.drivers.edge, req.principal),
  );
}
