import { staffList } from './read.ts';

export const shieldProducts = staffList('/staff/shield/products', 'products');
