import { IdParams, routes } from '../../platform/http/index.ts';
import { examples } from './examples.ts';
import { upgradeVps } from './request.ts';
import { UpgradeTerms, UpgradeVps } from './schema.ts';

export const upgradeRoutes = routes('/dashboard/services', { tag: 'Services', examples }, (route) => {
  route.post(
    '/:id/upgrade-vps',
    {
      auth: 'organization',
      permission: 'billing.pay',
      operation: 'upgradeVpsResources',
      summary: 'Upgrade VPS resources',
      description: 'Storage never shrinks. The machine has its new size once the invoice is paid.',
      params: IdParams,
      body: UpgradeVps,
      data: UpgradeTerms,
      errors: [
        'not_found',
        'not_a_vps',
        'conflict',
        'invalid_configuration',
        'insufficient_stock',
        'too_many',
        'amount_too_large',
      ],
      limit: 'checkout',
    },
    (ctx, req) => upgradeVps(ctx, req.params.id, req.body),
  );
});
