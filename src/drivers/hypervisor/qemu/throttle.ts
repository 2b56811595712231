import type { Monitor } from './monitor.ts';
import type { DiskLimits } from './options.ts';

/** All disks of a machine count together. */
const group = 'disks';

/**
 * Holds what a running machine reads and writes to limits; without one, takes away those that it had. Said over QMP, not
 * on the command line, so that one that runs already gets what has changed meanwhile.
 */
export async function throttleDisks(monitor: Monitor, { iops, mbPerSecond }: DiskLimits): Promise<void> {
  const devices = (await monitor.command('query-block')) as { qdev?: string }[];
  const limits = { bps: mbPerSecond * 1_000_000, bps_rd: 0, bps_wr: 0, iops, iops_rd: 0, iops_wr: 0 };
  for (const { qdev } of devices)
    if (qdev !== undefined) await monitor.command('block_set_io_throttle', { id: qdev, group, ...limits });
}
