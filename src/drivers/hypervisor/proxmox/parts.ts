import type { HypervisorCapability } from '../capabilities.ts';
import type { MachineId } from '../contract.ts';
import type { PublicIdentity, Secrets } from '../qemu/seed.ts';
import type { ProxmoxClient } from './client.ts';
import type { ClusterImages } from './images.ts';
import type { Machine, Machines } from './machines.ts';
import type { ProxmoxOptions } from './options.ts';
import type { PowerWatch } from './power.ts';
import type { Seeds } from './seeds.ts';

/** What the driver is put together from. */
export interface Parts {
  options: ProxmoxOptions;
  client: ProxmoxClient;
  engine: { kind: string; capabilities: readonly HypervisorCapability[] };
  images: ClusterImages;
  machines: Machines;
  powers: PowerWatch;
  seeds: Seeds;
  oneAtATime: <T>(key: string, work: () => Promise<T>) => Promise<T>;
  /** Gives the guest another disc with its identity, and takes the one before away. */
  replaceSeed(machine: Machine, known: PublicIdentity, secrets: Secrets | null): Promise<void>;
  /** What the disc that it has holds of secrets; null when they are forgotten. Fails when that could not be kept. */
  secretsOf(machine: Machine): Secrets | null;
  /** A stopped machine of ours; `not_stopped` when it runs. */
  mustBeOff(id: MachineId): Promise<Machine>;
}
