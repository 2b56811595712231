import { routes } from '../../platform/http/index.ts';
import { examples } from '../examples.ts';
import * as S from '../schema.ts';
import { topUp } from './topUp.ts';

const group = { tag: 'Billing', about: 'Invoices and how they are paid.', examples };

export const topUpRoutes = routes('/dashboard/credit', group, (route) => {
  route.post(
    '/top-up',
    {
      auth: 'organization',
      permission: 'billing.pay',
      personal: true,
      operation: 'topUpCredit',
      summary: 'Buy account credit',
      description:
        'Issues an invoice; once it is paid, its amount is account credit. It cannot be paid with credit. No tax is on it: ' +
        'that is on what the credit pays for.',
      body: S.TopUp,
      data: S.TopUpData,
      errors: ['currency_not_sold', 'invalid_amount', 'amount_too_large', 'too_many'],
      limit: 'checkout',
    },
    (ctx, req) => topUp(ctx, req.body),
  );
});
