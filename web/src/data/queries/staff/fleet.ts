import { staffList, staffThing } from './read.ts';

export const clusters = staffList('/staff/clusters', 'clusters');
/** The first hundred, to choose one of. */
export const clusterChoices = staffThing('/staff/clusters');
export const cluster = staffThing('/staff/clusters/{id}');
export const nodes = staffList('/staff/nodes', 'nodes');
export const node = staffThing('/staff/nodes/{id}');
export const evacuation = staffThing('/staff/nodes/{id}/evacuation');
export const evacuationPlan = staffThing('/staff/nodes/{id}/evacuation/plan');
export const recovery = staffThing('/staff/nodes/{id}/recovery');
export const unknownMachine = staffThing('/staff/unknown-machines/{id}');
export const addressPools = staffList('/staff/address-pools', 'address_pools');
export const addressPool = staffThing('/staff/address-pools/{id}');
export const poolAddresses = staffList('/staff/address-pools/{id}/addresses', 'addresses');
export const images = staffList('/staff/images', 'images');
export const racks = staffList('/staff/racks', 'racks');
export const rack = staffThing('/staff/racks/{id}');
export const switches = staffList('/staff/switches', 'switches');
export const oneSwitch = staffThing('/staff/switches/{id}');
export const switchPorts = staffList('/staff/switches/{id}/ports', 'ports');
export const servers = staffList('/staff/servers', 'servers');
export const server = staffThing('/staff/servers/{id}');
export const serverReadings = staffThing('/staff/servers/{id}/readings');
export const serverProfiles = staffList('/staff/server-profiles', 'profiles');
export const enrolment = staffThing('/staff/enrolment');
export const arrivals = staffList('/staff/enrolment/arrivals', 'arrivals');
export const arrival = staffThing('/staff/enrolment/arrivals/{id}');
