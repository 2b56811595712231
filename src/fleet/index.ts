/**
 * What the provider owns: nodes that run machines, clusters whose members are nodes, the addresses machines answer on, the operating-system
 * images they start from, and the racks with the servers that stand in them. Orders hold room and addresses here before there is a machine. Staff decides what a
 * node may promise, which networks there are, and what can be installed.
 */

import './errors.ts';

export {
  type Address,
  holdMoreAddresses,
  listAddresses,
  lockAddresses,
  releaseAddresses,
  reserveAddresses,
  returnHeldAddresses,
  returnUnusedAddresses,
  useHeldAddresses,
} from './addresses.ts';
export { endAddressesAside, keepAddressesAside } from './asideAddresses.ts';
export {
  atWork,
  carryOut,
  disarm,
  isServerOn,
  requireServerOff,
  ServerFailure,
  shutDownServer,
  startFromDisks,
  switchOff,
} from './assignments/carryOut.ts';
export { serverDesk } from './assignments/desk.ts';
export { disksOf, missingDisks, type ServerDisk } from './assignments/disksOf.ts';
export { type Installed, installedOn } from './assignments/installed.ts';
export {
  assignmentOfReturn,
  closeAllOf,
  closeAssignment,
  findAssignment,
  findUnfinishedOf,
  installationSince,
  isLastAssignment,
  layoutOf,
  openAssignment,
  saidWithPlan,
  usualLayoutOf,
} from './assignments/open.ts';
export { othersAtBmc, type Renewed, renewBmcPassword, shutOthersOut } from './assignments/ownBmc.ts';
export { lookForRescue, proveAnew } from './assignments/proveRescue.ts';
export { type Assignment, type Erasure, sealedPlans } from './assignments/rows.ts';
export { type Needs, requireAddresses, requireAvailable } from './availability.ts';
export type { BmcUser } from './baselines/compare.ts';
export type { SeenBmc } from './baselines/observe.ts';
export { writeCapabilities } from './capabilities.ts';
export { sealedClusters } from './clusters/credential.ts';
export { type Destination, findDestination, withRoomIn } from './clusters/destination.ts';
export {
  clustersToDrive,
  hearCluster,
  leaveCluster,
  missCluster,
  noteCompared,
  unseenAnywhere,
  unseenSince,
  watchesCluster,
} from './clusters/drive.ts';
export { writeMembers } from './clusters/members.ts';
export { fleetConcerns } from './concerns.ts';
export {
  type OpenServerLine,
  openServerLine,
  requireServersReached,
  serverLineElsewhere,
  serversToOthers,
} from './consoles/line.ts';
export { serverSight } from './consoles/sight.ts';
export { serverConsoles } from './consoles/staff.ts';
export { resizeCopies } from './copies.ts';
export { bootAnswer, macsOfServers } from './enrolment/desks.ts';
export { sealedArrivals } from './enrolment/sealedBmc.ts';
export { enrolmentSince, hearServerNetwork, leaveServerNetwork } from './enrolment/window.ts';
export {
  serverConsoleOpened,
  serverOutOfOrder,
  serverPowerChanged,
  serverPowerFailed,
  serverQuarantined,
  serverReleased,
  serverReturning,
} from './events.ts';
export { nodeStaffFinds } from './finds.ts';
export { followGateways } from './gateways.ts';
export { nodesCheck } from './heartbeat.ts';
export {
  addImage,
  findImage,
  type Image,
  isRejectedAt,
  listImages,
  reasonAgainst,
  requireImage,
  requireOrderedImage,
} from './images.ts';
export { fleetJobs, fleetJobsToHold, fleetPeriodicJobs, fleetWatches } from './jobs.ts';
export { compareLeftRooms, endLeftRooms, leaveRoom, switchLeftRoomOff } from './leftRooms.ts';
export { readLow } from './low.ts';
export { fleetMeasures } from './measures.ts';
export { moveHeld } from './moveHeld.ts';
export { moveRoom } from './moveRoom.ts';
export {
  findNodeId,
  type Host,
  type Reserve,
  registerNode,
  registerRouter,
  requireOwnName,
  setNodeState,
} from './nodes.ts';
export { fleetPersonal } from './personal.ts';
export {
  findPlacement,
  listPlacedAt,
  type Placement,
  type Resources,
  releaseResources,
  reserveResources,
  resizeResources,
} from './placement.ts';
export { addPool, gatewaysOf, type Pool } from './pools.ts';
export { imagePreparation } from './prepareImage.ts';
export { unorderable } from './profiles/orderable.ts';
export { readSpeed } from './profiles/speed.ts';
export { dedicatedModule } from './profiles/staff.ts';
export { replaceNode } from './replaceNode.ts';
export { setReverseName } from './reverse.ts';
export { type OtherNode, takeRoomElsewhere } from './roomElsewhere.ts';
export {
  listServerImages,
  reasonAgainstMirror,
  type ServerSystem,
  serverSystemOf,
  takesUserData,
} from './serverImages.ts';
export { sealedBmcs } from './servers/bmc.ts';
export { beginCustomerWork, endCustomerWork } from './servers/customerWork.ts';
export { exampleServer } from './servers/examples.ts';
export {
  askNow,
  dropWasOn,
  haltServer,
  hearPower,
  keepWasOn,
  powerOfServices,
  readPowerOf,
  readWasOn,
  startServer,
} from './servers/halt.ts';
export { keepFromOthers, mayBeOn } from './servers/mayBeOn.ts';
export {
  type AnotherServer,
  findLeftServer,
  holdForMove,
  isAside,
  isBeingSwitched,
  isHeldForMove,
  isServerOf,
  letGoOfMove,
  listAnotherServers,
  locationOfAddresses,
  lockServerOf,
  requireStaffServer,
  serverName,
  swapServers,
} from './servers/moving.ts';
export { keepBmcPassword } from './servers/password.ts';
export { switchServer } from './servers/power.ts';
export {
  beginReturn,
  giveBackServer,
  holdAnotherServer,
  holdServers,
  isChosen,
  listServerOffers,
  noteOfReturn,
  rentServer,
  restockServer,
  type ServerChoice,
  type ServerOffer,
  type ServerOfService,
  serverOfService,
  setServerAside,
  type WantedServer,
} from './servers/rent.ts';
export {
  findRentedServer,
  notMeasured,
  type RentedServer,
  readRentedHardware,
  readRentedSensors,
} from './servers/rented.ts';
export { HardwareDifference, Server, ServerSensor, serverMeasured } from './servers/schema.ts';
export {
  beginStaffRescue,
  endStaffRescue,
  isNobodys,
  isStaffRescueOpen,
  readStaffServer,
} from './servers/staffWork.ts';
export { portMbpsOf } from './servers/startPort.ts';
export { isLeftUnwipedBy } from './servers/tenant.ts';
export { fleetStaffRoutes } from './staffRoutes.ts';
export { sealedSwitches } from './switches/rows.ts';
export { exchangeVlans, isApart, planVlanExchange, type VlanExchange } from './switches/vlans.ts';
export {
  listTraffic,
  readOwnTrafficOf,
  readPercentilesOf,
  readTrafficOf,
  setTrafficSettled,
} from './traffic/read.ts';
export { troubleNoter, writeTroubles } from './troubles.ts';
