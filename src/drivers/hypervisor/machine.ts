/** Lower-case letters, digits and hyphens, at most 40: it names files, taps and processes. */
export type MachineId = string;

/** Everything a driver needs to make and run one machine; all of it chosen before the first step. */
export interface MachineSpec {
  id: MachineId;
  cpuCores: number;
  memoryMib: number;
  diskGib: number;
  /** Slug of an image known through `ensureImage`. */
  image: string;
  nic: Nic;
  /**
   * What it starts from. Default: its disk. `rescue` is a small system of the driver's, whose traces go when the
   * machine starts from its disk again, with the machine's disk beside it. `network` is a boot loader that has the
   * machine's address and asks elsewhere for a system; a driver without one refuses it (`spec_invalid`).
   */
  boot?: 'disk' | 'network' | 'rescue';
}

export interface Nic {
  /** Lower case, colons. The guest can send from this address alone. */
  mac: string;
  /** The guest can use these alone. The first is the primary one. */
  addresses: NicAddress[];
  /** Rate of the port in Mbit/s, both directions. */
  portMbps: number;
}

export interface NicAddress {
  family: 4 | 6;
  address: string;
  /** Prefix length of the network the address is on. */
  prefix: number;
  gateway: string;
}

/** What a guest was told of itself that is no secret: it stays on the host for as long as the machine exists. */
export interface PublicIdentity {
  /** How it learns who it is: see `qemu/seed.ts`. */
  guest: 'tiny' | 'cloud-init';
  nic: Nic;
  /** Addresses that the machine had and has no more; there, if empty, once its addresses have ever changed. */
  former?: NicAddress[];
  /** What cloud-init tells machines apart by, where it is not the machine's id: it was made anew from a backup of another one. */
  instanceId?: string;
  hostname: string;
  nameservers: string[];
  /** Whether they are others than the machine was made with. */
  newNameservers?: boolean | undefined;
}
