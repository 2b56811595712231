import { codeGuess } from '../catalog/index.ts';
import { type Problem, routes } from '../platform/http/index.ts';
import { type AppError, fail } from '../platform/index.ts';
import { checkout } from './checkout.ts';
import { examples } from './examples.ts';
import { quoteCart } from './quote.ts';
import * as S from './schema.ts';

const causes = [
  'missing_fields',
  'empty_cart',
  'product_not_orderable',
  'product_unknown',
  'invalid_configuration',
  'invalid_domain',
  'weak_password',
  'invalid_coupon',
  'insufficient_stock',
  'amount_too_large',
] as const;

const group = { tag: 'Cart', about: 'From a list of wishes to an invoice.', examples };

export const cartRoutes = routes('/cart', group, (route) => {
  route.post(
    '/checkout/invoice',
    {
      auth: 'organization',
      organization: 'default-when-absent',
      unauthorized: 'unauthenticated',
      permission: 'order',
      operation: 'checkout',
      // An order sets a machine's password.
      personal: true,
      summary: 'Generate an invoice from the cart',
      description:
        'Reserves what is in the cart until the invoice is due. An order confirmation goes out by mail.',
      body: S.Cart,
      data: S.Order,
      // A header that is no integer is refused; only one that is absent has a default.
      errors: [...causes, 'organization_required', 'too_many'],
      limit: 'checkout',
      guess: codeGuess,
      onInvalid: missingFields,
    },
    (ctx, req) => checkout(ctx, req.body),
  );
  route.post(
    '/quote',
    {
      auth: 'public',
      actor: 'visitor',
      caller: 'when-given',
      operation: 'quoteCart',
      summary: 'Price a cart without ordering',
      description:
        'Says what the cart would cost. Nothing is written or held, and the invoice that follows asks for the same.',
      body: S.Cart,
      data: S.Quote,
      errors: causes,
      guess: codeGuess,
      onInvalid: missingFields,
      idempotency: 'off',
    },
    (ctx, req) => quoteCart(ctx, req.body),
  );
});

// Specification §7: whatever else is wrong, absent fields are told first and by these words.
function missingFields(problems: readonly Problem[]): AppError | undefined {
  const missing = problems.filter((problem) => problem.rule === 'required');
  if (missing.length === 0) return undefined;
  return fail('missing_fields', { details: missing.map(({ field, message }) => ({ field, message })) });
}
