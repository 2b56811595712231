import { staffList, staffThing } from './read.ts';

export const staffProducts = staffList('/staff/products', 'products');
export const staffProduct = staffThing('/staff/products/{id}');
export const productGroups = staffList('/staff/product-groups', 'product_groups');
export const coupons = staffList('/staff/coupons', 'coupons');
