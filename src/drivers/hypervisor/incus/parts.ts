import type { HypervisorCapability } from '../capabilities.ts';
import type { MachineId } from '../contract.ts';
import type { PublicIdentity } from '../qemu/seed.ts';
import type { IncusClient } from './client.ts';
import type { ClusterFacts } from './cluster.ts';
import type { ClusterImages } from './images.ts';
import type { Instances } from './instances.ts';
import type { IncusOptions } from './options.ts';
import type { Seeds } from './seeds.ts';

/** What the driver is put together from. */
export interface Parts {
  options: IncusOptions;
  client: IncusClient;
  engine: { kind: string; capabilities: readonly HypervisorCapability[] };
  cluster: ClusterFacts;
  images: ClusterImages;
  instances: Instances;
  seeds: Seeds;
  oneAtATime: <T>(key: string, work: () => Promise<T>) => Promise<T>;
  /** Gives the guest another seed, and takes the one before away. */
  replaceSeed(id: MachineId, known: PublicIdentity, seed: string): Promise<void>;
}
