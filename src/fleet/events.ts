import { event } from '../events/index.ts';
import type { ImageChange, NewImage, NodeChange } from './changes.ts';

interface NodeNamed {
  name: string;
}

interface NodeTroubled {
  name: string;
  trouble: string;
}

interface NodeUpdated {
  name: string;
  change: NodeChange;
}

interface PoolCreated {
  name: string;
  location: string;
  network: string;
  gateway?: string;
  rest_hours?: number;
}

interface PoolUpdated {
  change: { name?: string; rest_hours?: number };
}

interface PoolDeleted {
  name: string;
  network: string;
}

interface AddressNoted {
  address: string;
  note: string | null;
}

interface AddressNamed {
  address: string;
  dns_name: string | null;
  before: string | null;
}

interface ImageNamed {
  slug: string;
}

interface ImageCreated {
  slug: string;
  source: NewImage['source'];
}

interface ImageUpdated {
  slug: string;
  change: ImageChange;
}

interface ImageFailed {
  slug: string;
  reason: string;
}

interface ClusterNamed {
  name: string;
}

interface ClusterCreated {
  name: string;
  engine: string;
  location: string;
  endpoints: string[];
  project: string;
  fingerprints: string[];
}

interface ClusterUpdated {
  name: string;
  /** What staff changed, by its name; credentials are said to be another, and no more. */
  change: {
    name?: string;
    state?: string;
    endpoints?: string[];
    fingerprints?: string[];
    bridge?: string;
    credential?: 'another';
  };
}

interface ClusterChecked {
  name: string;
  version: string | null;
  /** What it lacks; none: machines may run there. */
  problems: string[];
}

interface ClusterSilent {
  name: string;
  reason: string;
}

interface Member {
  name: string;
  cluster_id: number;
}

interface Renamed extends Member {
  before: string;
}

interface RackNamed {
  name: string;
}

interface RackCreated {
  name: string;
  location: string;
  units: number;
  power_watts: number | null;
}

interface RackUpdated {
  name: string;
  change: {
    name?: string;
    location?: string;
    units?: number;
    power_watts?: number | null;
    note?: string | null;
  };
}

interface ServerCreated {
  name: string;
  serial: string;
  rack_id: number | null;
  unit: number | null;
  macs: string[];
}

interface ServerUpdated {
  name: string;
  /** What staff changed, by its name; a BMC is said to be another, and no more. */
  change: {
    name?: string;
    serial?: string;
    rack_id?: number | null;
    unit?: number | null;
    height?: number;
    macs?: string[];
    bmc?: 'another' | null;
    note?: string | null;
  };
}

interface ServerQuarantined {
  name: string;
  reason: string;
  /** Which service held or had it until now; null: none. */
  service_id: number | null;
  /** `product`: a job found something wrong with it, and sees to the service as well. */
  by: 'staff' | 'product';
  /** How it differs from the baseline of its profile, in words, where that is why. */
  differences?: string[];
}

interface ServerReleased {
  name: string;
  before: string;
  /** Whose server can be used again; null: it was no customer's. */
  service_id: number | null;
}

interface ServerBmcAccepted {
  name: string;
  /** Of the one before, and of the one that answers now; null: it has no UUID. */
  before: string | null;
  uuid: string | null;
}

interface ServerRescueAsked {
  name: string;
  /** Into the rescue system, or out of it. */
  on: boolean;
  reason: string | null;
}

interface ServerRescueEnded {
  name: string;
  on: boolean;
  /** Why it came to nothing; null: it is so now. */
  problem: string | null;
}

interface ServerOutOfOrder {
  name: string;
  reason: string;
  service_id: number;
}

interface ServerRetired {
  name: string;
  reason: string | null;
}

interface ServerDiskChanged {
  name: string;
  /** Serials; null: none was taken out, or none put in. */
  removed: string | null;
  installed: string | null;
}

interface ServerNamed {
  name: string;
}

interface ServerOfService {
  name: string;
  service_id: number;
}

interface ServerReturning extends ServerOfService {
  /** The service goes on without it, or was not delivered on it: whatever else it had is its own still. */
  is_left: boolean;
}

interface ServerWiped extends ServerOfService {
  /** Who could sign in at its BMC besides us, by name, and cannot any more. */
  accounts: string[];
}

interface ServerBmcLost {
  name: string;
  problem: string;
}

interface ServerPowerAsked {
  name: string;
  action: 'start' | 'stop' | 'restart';
  force: boolean;
}

interface ServerPowerChanged {
  name: string;
  action: 'start' | 'stop' | 'restart';
  power: 'on' | 'off';
}

interface ServerPowerFailed {
  name: string;
  action: 'start' | 'stop' | 'restart';
  /** Which kind of failure it is, for programs. */
  code: string;
  problem: string;
}

interface ProfileCreated {
  name: string;
  rules: ProfileRules;
}

interface ProfileUpdated {
  name: string;
  /** A baseline is said to be another, and no more. */
  change: ProfileRules & { name?: string; note?: string | null; baseline?: 'another' | null };
}

interface BaselineTaken {
  name: string;
  /** The server that others have to be like. */
  server: string;
}

interface DifferencesAccepted {
  name: string;
  differences: string[];
  /** Others have to be as it is from now on. */
  as_baseline: boolean;
}

interface ProfileRules {
  threads?: number | null;
  memory_gib?: number | null;
  model?: string | null;
  disks?: { kind: string; gb: number; count: number }[] | null;
  port_mbps?: number | null;
  product_id?: number | null;
}

interface SwitchNamed {
  name: string;
}

interface SwitchCreated {
  name: string;
  location: string;
  address: string;
}

interface SwitchUpdated {
  name: string;
  /** What staff changed, by its name; a credential is said to be another, and no more. */
  change: {
    name?: string;
    location?: string;
    address?: string;
    port?: number;
    note?: string | null;
    credential?: 'another';
  };
}

interface SwitchChecked {
  name: string;
  /** Why nothing could be read of it; null: it was read. */
  problem: string | null;
}

interface SwitchPlugged {
  name: string;
  port: string;
  /** Who is, or was, plugged in there. */
  server: string | null;
  mac: string | null;
}

export const nodeUpdated = event<NodeUpdated>('node.updated', 'staff changed what a node may promise');
export const nodeReplaced = event<NodeNamed>(
  'node.replaced',
  'staff let another host take the place of a node',
);
export const nodeSilent = event<NodeNamed>('node.silent', 'a node was not heard of for a minute');
export const nodeBack = event<NodeNamed>('node.back', 'a silent node was heard of again');
export const nodeTroubled = event<NodeTroubled>(
  'node.troubled',
  'the host of a node lacks something, and the node takes no new machines',
);
export const nodeFit = event<NodeNamed>('node.fit', 'the host of a node lacks nothing any more');

export const poolCreated = event<PoolCreated>('address_pool.created', 'staff added a pool of addresses');
export const poolUpdated = event<PoolUpdated>('address_pool.updated', 'staff changed a pool');
export const poolDeleted = event<PoolDeleted>('address_pool.deleted', 'staff removed a pool');
export const addressReserved = event<AddressNoted>(
  'address.reserved',
  'staff kept an address from being given out',
);
export const addressUnreserved = event<AddressNoted>(
  'address.unreserved',
  'staff gave a reserved address back',
);
export const addressNamed = event<AddressNamed>(
  'address.named',
  "an address' name in reverse DNS was set or removed",
);

export const imageCreated = event<ImageCreated>('image.created', 'staff added an operating-system image');
export const imageUpdated = event<ImageUpdated>('image.updated', 'staff changed what is said of an image');
export const imageDeleted = event<ImageNamed>('image.deleted', 'staff removed an image');
export const imagePreparing = event<ImageNamed>('image.preparing', 'staff has an image built or downloaded');
export const imagePrepared = event<ImageNamed>('image.prepared', 'an image was built or downloaded');
export const imageFailed = event<ImageFailed>('image.failed', 'an image could not be built or downloaded');

export const clusterCreated = event<ClusterCreated>('cluster.created', 'staff added a cluster');
export const clusterUpdated = event<ClusterUpdated>('cluster.updated', 'staff changed a cluster');
export const clusterDeleted = event<ClusterNamed>('cluster.deleted', 'staff removed a cluster');
export const clusterCheckAsked = event<ClusterNamed>(
  'cluster.check_asked',
  'staff has it looked whether a cluster is fit to run machines',
);
export const clusterChecked = event<ClusterChecked>(
  'cluster.checked',
  'it was looked whether a cluster is fit to run machines',
);
export const clusterSilent = event<ClusterSilent>(
  'cluster.silent',
  'no process of ours reaches a cluster any more',
);
export const clusterBack = event<ClusterNamed>('cluster.back', 'a silent cluster answers again');
export const nodeJoined = event<Member>('node.joined', 'a cluster has a member that is now a node');
export const nodeLeft = event<Member>(
  'node.left',
  'a member of a cluster is gone, and its node takes no machines',
);
export const nodeRenamed = event<Renamed>('node.renamed', 'a member of a cluster has another name');

export const rackCreated = event<RackCreated>('rack.created', 'staff added a rack');
export const rackUpdated = event<RackUpdated>('rack.updated', 'staff changed a rack');
export const rackDeleted = event<RackNamed>('rack.deleted', 'staff removed a rack');

interface ServerConsoleOpened extends ServerNamed {
  reason: string;
  /** Of the customer who has it; null: nobody. */
  service_id: number | null;
}

export const serverCreated = event<ServerCreated>('server.created', 'staff added a server');
export const serverUpdated = event<ServerUpdated>('server.updated', 'staff changed or placed a server');
export const serverQuarantined = event<ServerQuarantined>(
  'server.quarantined',
  'a server is kept out of stock until it is released',
);
export const serverBmcAccepted = event<ServerBmcAccepted>(
  'server.bmc_accepted',
  'staff said that the BMC which answers now is the server’s: it, or the mainboard, was replaced',
);
export const serverRescueAsked = event<ServerRescueAsked>(
  'server.rescue_asked',
  'staff has a server that is nobody’s taken into the rescue system, or out of it',
);
export const serverRescueEnded = event<ServerRescueEnded>(
  'server.rescue_ended',
  'a server that is nobody’s is in the rescue system, or out of it, or could not be brought there',
);
export const serverOutOfOrder = event<ServerOutOfOrder>(
  'server.out_of_order',
  'staff found a server out of order that a customer rents: it stays theirs, and cannot be used until it is released or its service has another one',
);
export const serverHeld = event<ServerOfService>('server.held', 'an order or a service holds a server');
export const serverRented = event<ServerOfService>('server.rented', 'a server is its customer’s');
export const serverGivenBack = event<ServerOfService>(
  'server.given_back',
  'a server that was held and never used is nobody’s again',
);
export const serverReturning = event<ServerReturning>(
  'server.returning',
  'the service of a server has ended, or does without it: its disks are to be wiped',
);
export const serverWiped = event<ServerWiped>(
  'server.wiped',
  'a server came back and each of its disks was shown to be wiped: it is in stock again, unless it is quarantined with that',
);
export const serverReleased = event<ServerReleased>(
  'server.released',
  'staff ended what kept a server out of stock',
);
export const serverRetired = event<ServerRetired>('server.retired', 'staff took a server out for good');
export const serverDiskChanged = event<ServerDiskChanged>(
  'server.disk_changed',
  'staff recorded that a disk of a server was changed',
);

export const switchCreated = event<SwitchCreated>('switch.created', 'staff added a switch');
export const switchUpdated = event<SwitchUpdated>('switch.updated', 'staff changed a switch');
export const switchDeleted = event<SwitchNamed>('switch.deleted', 'staff removed a switch');
export const switchCheckAsked = event<SwitchNamed>('switch.check_asked', 'staff has a switch read once more');
export const switchChecked = event<SwitchChecked>(
  'switch.checked',
  'a switch could be read for the first time, no longer, or again',
);
export const switchPlugged = event<SwitchPlugged>(
  'switch.plugged',
  'staff said which server is plugged into a port of a switch',
);

export const serverBmcLost = event<ServerBmcLost>(
  'server.bmc_lost',
  "a server's BMC does not answer any more, does not let us in, or is another one",
);
export const serverBmcBack = event<ServerNamed>('server.bmc_back', "a server's BMC was heard of again");
export const serverConsoleOpened = event<ServerConsoleOpened>(
  'server.console_opened',
  'staff opened the console of a server',
);
export const serverBmcRead = event<ServerNamed>(
  'server.bmc_read',
  "a server's BMC was read once more, as staff had asked",
);
export const profileCreated = event<ProfileCreated>(
  'server_profile.created',
  'staff said what a server has to have to be sold as one thing',
);
export const profileUpdated = event<ProfileUpdated>(
  'server_profile.updated',
  'staff changed what a server has to have to be sold as one thing',
);
export const profileDeleted = event<ServerNamed>(
  'server_profile.deleted',
  'staff removed a profile of servers',
);
export const baselineTaken = event<BaselineTaken>(
  'server_profile.baseline_taken',
  'staff has servers of a profile be as one of them is',
);
export const differencesAccepted = event<DifferencesAccepted>(
  'server.differences_accepted',
  'staff took a server into stock that differs from the baseline of its profile',
);
export const serverPowerAsked = event<ServerPowerAsked>(
  'server.power_asked',
  'somebody asked for a server to be started, stopped or restarted',
);
export const serverPowerChanged = event<ServerPowerChanged>(
  'server.power_changed',
  'a server was started, stopped or restarted by its BMC',
);
export const serverPowerFailed = event<ServerPowerFailed>(
  'server.power_failed',
  'a server was not switched as was asked',
);

interface EnrolmentOpened {
  until: string;
}

interface MachineArrived {
  serial: string;
  mac: string;
}

interface MachineAccepted {
  serial: string;
  /** What it is called as a server. */
  server: string;
}

interface MachineNotEnrolled {
  serial: string;
  problem: string;
}

export const enrolmentOpened = event<EnrolmentOpened>(
  'enrolment.opened',
  'staff lets machines that nobody knows start from the network',
);
export const enrolmentClosed = event(
  'enrolment.closed',
  'staff lets nobody start from the network any more who is not known',
);
export const machineArrived = event<MachineArrived>(
  'arrival.came',
  'a machine that nobody knows started from the network, and waits to be accepted',
);
export const machineAccepted = event<MachineAccepted>(
  'arrival.accepted',
  'staff accepted a machine that waited',
);
export const machineRejected = event<MachineArrived>(
  'arrival.rejected',
  'staff sent a machine away that waited',
);
export const machineNotEnrolled = event<MachineNotEnrolled>(
  'arrival.failed',
  'a machine that was accepted could not be enrolled, and waits again',
);
export const serverInstalled = event<ServerNamed>(
  'server.installed',
  'a server was wiped, and a system was installed on it',
);
export const serverEnrolled = event<ServerNamed>(
  'server.enrolled',
  'a machine was proved to be the one behind its BMC, and is a server that is ready, or is wiped first',
);
