import type { HypervisorCapability } from '../drivers/hypervisor/index.ts';
import { fail } from '../platform/index.ts';

/** What is said to whoever wants what the engine of the machine's node cannot do. */
const words: Record<HypervisorCapability, string> = {
  snapshots: 'The node of this machine keeps no snapshots',
  backups: 'The node of this machine makes no backups',
  rescue: 'The node of this machine has no rescue system',
  netboot: 'The node of this machine starts machines from their disk only',
  vnc: 'The node of this machine shows no screen; ask for the serial console, type=serial',
  serial: 'The node of this machine has no serial console; ask for the screen, type=vnc',
  guest_agent:
    'The node of this machine cannot reach into the guest; sign in to the machine and change it there',
  live_resize: 'The node of this machine changes the size of stopped machines only',
};

/** A machine with what its node can do; null where nobody has written that down. */
export interface Capable {
  capabilities: readonly HypervisorCapability[] | null;
}

/** Why a machine's node cannot do any of these, in words for the customer; null when it can do one, or needs none. */
export function lackOf({ capabilities }: Capable, anyOf: readonly HypervisorCapability[]): string | null {
  const [first] = anyOf;
  if (first === undefined || capabilities === null) return null;
  return anyOf.some((each) => capabilities.includes(each)) ? null : words[first];
}

/** Refuses what a machine's node cannot do before anything is touched: `not_supported`. `field` is what asked for it. */
export function requireCapability(machine: Capable, wanted: HypervisorCapability, field?: string): void {
  const message = lackOf(machine, [wanted]);
  if (message === null) return;
  throw fail('not_supported', { message, ...(field === undefined ? {} : { details: [{ field, message }] }) });
}
