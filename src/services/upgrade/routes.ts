import { codeGuess } from '../../catalog/index.ts';
import { IdParams, type RouteGroup, routes } from '../../platform/http/index.ts';
import { examples } from './examples.ts';
import type { Growths } from './growth.ts';
import { readUpgrades } from './offers.ts';
import { upgradeService } from './request.ts';
import * as S from './schema.ts';

/** Another product for a service. What a machine needs to follow is handed over by the room above. */
export function productUpgradeRoutes(growths: Growths): RouteGroup {
  return routes('/dashboard/services', { tag: 'Services', examples }, (route) => {
    route.get(
      '/:id/upgrade',
      {
        auth: 'organization',
        permission: 'service.read',
        operation: 'getUpgradeOptions',
        summary: 'Get upgrade options',
        description:
          'The products of its kind that the service can become, each with what it would cost now; with `cycle` for a period of ' +
          'that length, which would begin today.',
        params: IdParams,
        query: S.UpgradeQuery,
        data: S.UpgradeOptions,
        errors: ['not_found', 'amount_too_large'],
      },
      (ctx, req) => readUpgrades(ctx, req.params.id, req.query, growths),
    );
    route.post(
      '/:id/upgrade',
      {
        auth: 'organization',
        permission: 'billing.pay',
        operation: 'upgradeService',
        summary: 'Create upgrade invoice',
        description:
          'Makes the service another product of its kind. What it has it keeps, and storage never shrinks. It counts once ' +
          'the invoice is paid; with nothing to pay it counts at once, or with the next period when the product says so. ' +
          'With another `cycle` a new period begins today, and what the days that remain are worth is taken off its price.',
        params: IdParams,
        body: S.Upgrade,
        data: S.UpgradeData,
        errors: [
          ...(['not_found', 'conflict', 'invalid_configuration', 'invalid_coupon'] as const),
          ...(['insufficient_stock', 'too_many', 'amount_too_large'] as const),
        ],
        limit: 'checkout',
        guess: codeGuess,
      },
      (ctx, req) => upgradeService(ctx, req.params.id, req.body, growths),
    );
  });
}
