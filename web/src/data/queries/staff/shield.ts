import { staffList, staffThing } from './read.ts';

export const shieldProducts = staffList('/staff/shield/products', 'products');
export const staffAttacks = staffList('/staff/shield/attacks', 'attacks');
export const staffAttack = staffThing('/staff/shield/attacks/{id}');
