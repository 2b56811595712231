/**
 * The cart: from a list of wishes to an invoice. It prices them by the catalogue, reserves what they need and
 * writes the order in one transaction; a quote is the same without the writing.
 */

import './errors.ts';
import './permissions.ts';

export { cartLacks } from './lacks.ts';
export { cartRoutes } from './routes.ts';
