/**
 * What the provider owns: nodes that run machines, the addresses machines answer on, and the operating-system
 * images they start from. Orders hold room and addresses here before there is a machine.
 */
export {
  type Address,
  freeRestedAddresses,
  listAddresses,
  releaseAddresses,
  reserveAddresses,
  returnUnusedAddresses,
} from './addresses.ts';
export { addImage, findImage, type Image, listImages } from './images.ts';
export { registerNode } from './nodes.ts';
export { findPlacement, type Placement, type Room, releaseRoom, reserveRoom } from './placement.ts';
export { addPool, gatewaysOf, type Pool } from './pools.ts';
export { setReverseName } from './reverse.ts';
