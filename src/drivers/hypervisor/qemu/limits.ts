/** The limits of one machine, in the kernel's words. */
export interface Limits {
  /** Against other machines, of processors and disks: 1 to 10,000. */
  weight: number;
  /** Microseconds of processors within a second. */
  cpuUsPerSecond: number;
  memoryBytes: number;
  /** Processes and threads. */
  tasks: number;
}

/** One way to make groups: systemd's, or by hand. */
export interface Groups {
  prepare(): Promise<void>;
  take(id: string, pid: number, limits: Limits): Promise<void>;
  giveBack(id: string): Promise<void>;
}

/** All machines together against the host's other services, which count 100 each. */
export const weightOfAll = 50;
const mib = 2 ** 20;
/** What QEMU does besides running its guest: disks, network, screen. */
const ownCpuUs = 500_000;
const ownMib = 512;
/** Beside a thread for each of its processors: workers for disks (64 for each of its loops), for screens, its own. */
const ownTasks = 256;

export function limitsOf({ cpuCores, memoryMib }: { cpuCores: number; memoryMib: number }): Limits {
  return {
    weight: Math.min(10_000, 100 * cpuCores),
    cpuUsPerSecond: cpuCores * 1_000_000 + ownCpuUs,
    memoryBytes: (memoryMib + ownMib + Math.ceil(memoryMib / 16)) * mib,
    tasks: cpuCores + ownTasks,
  };
}
