import { staffList, staffThing } from './read.ts';

export const shieldProducts = staffList('/staff/shield/products', 'products');
export const staffAttacks = staffList('/staff/shield/attacks', 'attacks');
export const staffAttack = staffThing('/staff/shield/attacks/{id}');
export const shieldEdges = staffList('/staff/shield/edges', 'edges');
export const shieldEdge = staffThing('/staff/shield/edges/{id}');
export const announcements = staffList('/staff/shield/edges/{id}/announcements', 'announcements');
export const rulesAtRouters = staffList('/staff/shield/edges/{id}/rules', 'rules');
export const shieldAddressLists = staffThing('/staff/shield/address-lists');
export const shieldPrefixes = staffList('/staff/shield/prefixes', 'prefixes');
