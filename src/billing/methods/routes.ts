import { IdParams, routes } from '../../platform/http/index.ts';
import { examples } from './examples.ts';
import {
  addMethod,
  changeMethod,
  listMethods,
  lockOwnMethods,
  readMethod,
  removeOwnMethod,
} from './methods.ts';
import * as S from './schema.ts';

const group = {
  tag: 'Payment methods',
  about: 'Cards and accounts that the payment provider keeps, so that renewals are paid by themselves.',
  examples,
};

export const methodRoutes = routes('/dashboard/payment-methods', group, (route) => {
  route.get(
    '',
    {
      auth: 'organization',
      permission: 'billing.read',
      operation: 'listPaymentMethods',
      summary: 'List payment methods',
      description: 'The saved methods of the organization, in the order in which they were saved.',
      query: S.MethodQuery,
      data: S.MethodList,
    },
    (ctx, req) => listMethods(ctx, req.query),
  );
  route.post(
    '',
    {
      auth: 'organization',
      permission: 'billing.pay',
      personal: true,
      whileBlocked: true,
      operation: 'addPaymentMethod',
      summary: 'Add a payment method',
      description:
        'Answers with the page to go to. The method is saved there, by the payment provider; it is in the list a moment ' +
        'later. The first one is the default.',
      data: S.AddMethodData,
      errors: ['payment_provider_missing'],
      limit: 'checkout',
    },
    (ctx) => addMethod(ctx),
  );
  route.get(
    '/:id',
    {
      auth: 'organization',
      permission: 'billing.read',
      operation: 'getPaymentMethod',
      summary: 'Get payment method',
      description: 'One saved method.',
      params: IdParams,
      data: S.MethodData,
      errors: ['not_found'],
      etag: true,
    },
    (ctx, req) => readMethod(ctx, req.params.id),
  );
  route.patch(
    '/:id',
    {
      auth: 'organization',
      permission: 'billing.pay',
      personal: true,
      operation: 'changePaymentMethod',
      summary: 'Change payment method',
      description: 'Chooses the default method, to which renewals are charged.',
      params: IdParams,
      body: S.ChangeMethod,
      data: S.MethodData,
      errors: ['not_found'],
      lock: (tx) => lockOwnMethods(tx),
    },
    (ctx, req) => changeMethod(ctx, req.params.id, req.body),
  );
  route.delete(
    '/:id',
    {
      auth: 'organization',
      permission: 'billing.pay',
      personal: true,
      operation: 'removePaymentMethod',
      summary: 'Remove payment method',
      description:
        'Nothing is charged to it any more, and the payment provider forgets it. Without a default method renewals are ' +
        'paid by hand.',
      params: IdParams,
      data: S.Deleted,
      errors: ['not_found'],
      lock: (tx) => lockOwnMethods(tx),
    },
    (ctx, req) => removeOwnMethod(ctx, req.params.id),
  );
});
