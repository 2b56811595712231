import type { HypervisorErrorCode } from '../drivers/hypervisor/index.ts';

const ofDriver = [
  'disk_failed',
  'host_not_ready',
  'image_build_failed',
  'network_failed',
  'start_failed',
] as const satisfies HypervisorErrorCode[];
/** As the system calls them: no space, a disk that fails, one that only reads. */
const ofSystem = ['ENOSPC', 'EDQUOT', 'EIO', 'EROFS'] as const;

/**
 * Failures of a host that end by themselves, or once somebody has seen to the host, such as a full disk. What was paid for is done
 * then, and so is what takes a machine away from who does not pay: nobody else would ask for it again.
 */
export const hostOutages: readonly string[] = [...ofDriver, ...ofSystem];
