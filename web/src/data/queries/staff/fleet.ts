import { staffList, staffThing } from './read.ts';

export const clusters = staffList('/staff/clusters', 'clusters');
export const cluster = staffThing('/staff/clusters/{id}');
export const nodes = staffList('/staff/nodes', 'nodes');
export const node = staffThing('/staff/nodes/{id}');
export const evacuation = staffThing('/staff/nodes/{id}/evacuation');
export const addressPools = staffList('/staff/address-pools', 'address_pools');
export const addressPool = staffThing('/staff/address-pools/{id}');
export const poolAddresses = staffList('/staff/address-pools/{id}/addresses', 'addresses');
export const images = staffList('/staff/images', 'images');
