import { staffList, staffThing } from './read.ts';

export const staffServices = staffList('/staff/services', 'services');
export const staffService = staffThing('/staff/services/{id}');
export const orders = staffList('/staff/orders', 'orders');
export const priceMoves = staffList('/staff/price-moves', 'price_moves');
export const priceMoveServices = staffList('/staff/price-moves/{id}/services', 'services');
export const figures = staffThing('/staff/figures');
