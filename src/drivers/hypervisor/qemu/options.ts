import type { Log } from '../log.ts';
/** The program that runs machines. */
export const qemuProgram = 'qemu-system-x86_64';

export interface QemuOptions {
  /** Folder of this driver's state: `images/` and `machines/<id>/`. */
  dir: string;
  /** Short path for sockets, such as `/run/innkeeper/ab12cd34`: socket paths hold at most 107 bytes. */
  runDir: string;
  bridge: BridgeOptions;
  diskLimits: DiskLimits;
  log: Log;
  /** What machines that start from the network go on with, a URL without blanks; null: their user says. */
  netbootUrl: string | null;
  /** Default: this host's. */
  kvm?: Kvm;
  /** Folder of finished images. Default: `images` in `dir`. */
  imagesDir?: string;
}

/** The host's KVM, as far as it is asked. Tests stand in for it. */
export interface Kvm {
  device: string;
  /** Boots a kernel in it: null, or why that failed. */
  boot(kernel: string): Promise<string | null>;
}

/** What a machine's disks do at most, all of them together; 0: no limit. */
export interface DiskLimits {
  /** Reads and writes a second. */
  iops: number;
  /** Megabytes a second, of 1,000,000 bytes. */
  mbPerSecond: number;
}

export interface BridgeOptions {
  /** At most 15 characters. Everything this driver makes on the host's network is named after it. */
  name: string;
  /** The host's addresses on the bridge, the guests' gateways: `10.77.0.1/24`, `fd77::1/64`. */
  addresses: string[];
  /** Whether guests reach the world behind the host's own address. */
  nat: boolean;
  /** What guests reach beside the world and the bridge's networks. Default: nothing. */
  reach?: GuestReach;
  /** How many connections of one guest are followed at a time. Default: what docs/operations/machines.md says. */
  connections?: Partial<Connections>;
}

/** The host's table of connections is everybody's; who begins them is either side. */
export interface Connections {
  fromGuest: number;
  toGuest: number;
}

export interface GuestReach {
  /** Addresses and networks beyond the host that would be the provider's own. */
  networks: string[];
  /** The host's services: `tcp/80`, `udp/53`. */
  ports: string[];
}
