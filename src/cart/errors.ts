import { errors } from '../platform/index.ts';

const cartErrors = errors({
  missing_fields: [400, 'missing fields'],
  empty_cart: [400, 'no products in the cart'],
  product_not_orderable: [400, 'product not found'],
  product_unknown: [404, 'product not found'],
});

type CartErrors = typeof cartErrors;

declare module '../platform/errors.ts' {
  interface ErrorCatalogue extends CartErrors {}
}
