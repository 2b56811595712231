import { HypervisorError } from './failure.ts';

/**
 * What an engine may lack; everything else in the contract every engine must do. A call that needs what is lacking is
 * `not_supported`, permanent, and changes nothing.
 */
export const hypervisorCapabilities = [
  /** `createSnapshot`, `restoreSnapshot`. */
  'snapshots',
  /** `createBackup`, `restoreBackup`. */
  'backups',
  /** `boot: 'rescue'`. */
  'rescue',
  /** `boot: 'network'`. */
  'netboot',
  /** The screen, `openConsole(id, 'vnc')` and `readScreen`. */
  'vnc',
  /** The serial line, `openConsole(id, 'serial')`. */
  'serial',
  /** Reaches into the running guest: `setPassword`, `setAuthorizedKeys`, `setHostname`, and `setAddresses` at once. */
  'guest_agent',
  /** `resize` of a running machine. Without it that is `not_stopped`, and of a stopped one it works as ever. */
  'live_resize',
] as const;

export type HypervisorCapability = (typeof hypervisorCapabilities)[number];

/** Refuses what an engine does not claim to do. */
export function requireCapability(
  engine: { kind: string; capabilities: readonly HypervisorCapability[] },
  wanted: HypervisorCapability,
): void {
  if (engine.capabilities.includes(wanted)) return;
  throw new HypervisorError('not_supported', `${engine.kind} has no ${wanted}`, { permanent: true });
}
