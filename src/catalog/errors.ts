import { errors } from '../platform/index.ts';

const catalogErrors = errors({
  invalid_configuration: [400, 'invalid product configuration'],
  currency_not_sold: [400, 'Nothing is sold in this currency'],
  product_sold: [409, 'This product was sold, and what it is stays'],
  invalid_coupon: [400, 'invalid coupon code'],
});

type CatalogErrors = typeof catalogErrors;

declare module '../platform/errors.ts' {
  interface ErrorCatalogue extends CatalogErrors {}
}
