import { staffList, staffThing } from './read.ts';

export const nodes = staffList('/staff/nodes', 'nodes');
export const addressPools = staffList('/staff/address-pools', 'address_pools');
export const addressPool = staffThing('/staff/address-pools/{id}');
export const poolAddresses = staffList('/staff/address-pools/{id}/addresses', 'addresses');
export const images = staffList('/staff/images', 'images');
