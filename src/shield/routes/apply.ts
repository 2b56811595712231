import type { Declarations } from '../../platform/http/index.ts';
import { applyRules } from '../apply/apply.ts';
import { cancelApply, confirmApply, readApply } from '../apply/trial.ts';
import * as S from '../schema.ts';
import { manages, reads, warned } from './access.ts';

/** All rules of addresses replaced as one, tried out, kept or taken back. */
export function applyRoutes(route: Declarations): void {
  route.post(
    '/rules/apply',
    {
      ...manages,
      operation: 'applyShieldRules',
      summary: 'Replace all rules',
      description:
        'Replaces all rules of some addresses as one. With `confirm_within_s` they are tried out: nothing else changes until they ' +
        'are confirmed, and what was in force comes back by itself, also when nothing of ours lives. Confirm over a new ' +
        'connection: whoever is shut out cannot.',
      body: S.NewApply,
      data: S.ApplyMade,
      beside: S.warned,
      errors: ['not_found', 'too_many', 'would_lock_out'],
    },
    async (ctx, req) => warned(await applyRules(ctx, req.body)),
  );
  route.get(
    '/rules/apply/:id',
    {
      ...reads,
      operation: 'getShieldApply',
      summary: 'Get replacement',
      description: 'How rules stand that were put in force as one.',
      params: S.SmallIdParams,
      data: S.ApplyData,
      errors: ['not_found'],
    },
    (ctx, req) => readApply(ctx, req.params.id),
  );
  route.post(
    '/rules/apply/:id/confirm',
    {
      ...manages,
      operation: 'confirmShieldApply',
      summary: 'Confirm',
      description:
        'Keeps rules that are tried out. With `new_connection` it takes that over none but a connection that was opened since they are ' +
        'in force.',
      params: S.SmallIdParams,
      body: S.Confirmation,
      data: S.ApplyData,
      errors: ['not_found', 'trial_over', 'conflict', 'connection_too_old'],
    },
    (ctx, req) => confirmApply(ctx, req.params.id, req.body.new_connection ? req.connectedAt : null),
  );
  route.post(
    '/rules/apply/:id/cancel',
    {
      ...manages,
      operation: 'cancelShieldApply',
      summary: 'Take back',
      description: 'Takes rules back at once that are tried out.',
      params: S.SmallIdParams,
      data: S.ApplyData,
      errors: ['not_found', 'trial_over'],
    },
    (ctx, req) => cancelApply(ctx, req.params.id),
  );
}
