import { IdParams, routes } from '../../platform/http/index.ts';
import { examples } from './examples.ts';
import { readRenewal, renewService } from './renew.ts';
import * as S from './schema.ts';

export const renewRoutes = routes('/dashboard/services', { tag: 'Services', examples }, (route) => {
  route.get(
    '/:id/renew',
    {
      auth: 'organization',
      permission: 'service.read',
      operation: 'getRenewalOptions',
      summary: 'Get renewal options',
      description:
        'The cycles that the service can be renewed for. In its own cycle it keeps its price; another one costs what ' +
        'the catalogue says today. What it will cost by a new price that was announced stands in `coming_price`.',
      params: IdParams,
      data: S.RenewalOptions,
      errors: ['not_found'],
    },
    (ctx, req) => readRenewal(ctx, req.params.id),
  );
  route.post(
    '/:id/renew',
    {
      auth: 'organization',
      permission: 'billing.pay',
      operation: 'renewService',
      summary: 'Create renewal invoice',
      description:
        'The due date moves once the invoice is paid. An invoice that is open already is returned; one for another cycle ' +
        'is cancelled and replaced, but not while a payment for it, such as a debit, is on its way.',
      params: IdParams,
      body: S.Renew,
      data: S.Renewed,
      errors: ['not_found', 'conflict', 'invalid_configuration', 'amount_too_large'],
      limit: 'checkout',
    },
    (ctx, req) => renewService(ctx, req.params.id, req.body),
  );
});
