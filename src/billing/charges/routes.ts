import { Raw, routes } from '../../platform/http/index.ts';
import { examples } from './examples.ts';
import { goToPage } from './page.ts';
import { receiveEvent } from './receive.ts';
import * as S from './schema.ts';

const group = { tag: 'Payments', about: 'Where payment providers and their customers meet us.', examples };

export const paymentRoutes = routes('', group, (route) => {
  route.get(
    '/payment-pages/:page',
    {
      auth: 'public',
      operation: 'openPaymentPage',
      summary: 'Go to the page of the payment provider',
      description:
        'Sends a browser on (303) to the page of the payment provider on which an invoice is paid or a payment method is ' +
        'saved. The address is the `redirect_url` that paying and adding a method answer with; mails have it as well. What ' +
        'is paid already is shown in the dashboard instead.',
      params: S.PageParams,
      produces: 'text/plain; charset=utf-8',
      errors: [
        'not_found',
        'payment_provider_missing',
        'payment_provider_unavailable',
        'payment_not_possible',
      ],
      drivers: ['payments'],
    },
    (ctx, req) => goToPage(ctx, req.drivers.payments, req.params.page),
  );
  route.post(
    '/payments/:driver/events',
    {
      auth: 'public',
      actor: 'system',
      operation: 'receivePaymentEvent',
      summary: 'Hear from a payment provider',
      description:
        'For payment providers: they tell here what happened, and prove who they are by a signature over the body and ' +
        'the time. The same event any number of times, in any order, has one effect.',
      params: S.DriverParams,
      body: Raw(['application/json']),
      produces: 'application/json',
      errors: ['not_found', 'signature_invalid'],
      drivers: ['payments'],
    },
    (ctx, req) => {
      const { body, headers, params } = req;
      return receiveEvent(ctx, req.drivers.payments, { driver: params.driver, body, headers });
    },
  );
});
