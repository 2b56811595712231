import { join } from 'node:path';
import {
  canRunMachines,
  type Hypervisor,
  HypervisorError,
  hostPackages,
  keptFree,
  loadStore,
  type NodeCapacity,
  qemuHypervisor,
  saveStore,
  simulatedHypervisor,
} from './drivers/hypervisor/index.ts';
import {
  addImage,
  addPool,
  followGateways,
  gatewaysOf,
  type Image,
  type Reserve,
  registerNode,
} from './fleet/index.ts';
import type { DataDir } from './platform/host/dataDir.ts';
import { ensurePackages } from './platform/host/packages.ts';
import { type Context, transaction } from './platform/index.ts';
import { createSampler, type HypervisorOf, onMachineEvent, reconcileNode, resolutions } from './vps/index.ts';

/** The machine this process runs on, as a node of the fleet. */
export interface LocalNode {
  hypervisor: Hypervisor;
  hypervisorOf: HypervisorOf;
  /** Keeps its machines as they are wanted. Returns how to stop. */
  watch(): () => Promise<void>;
  close(): Promise<void>;
}

type Say = (line: string) => void;

const reconcileEveryMs = 5_000;

const builtInImages: Image[] = [
  {
    slug: 'debian',
    name: 'Debian',
    version: '12',
    source: { slug: 'debian', kind: 'build', recipe: 'debian-12' },
    min_memory_mib: 512,
    min_disk_gib: 4,
  },
  {
    slug: 'tiny',
    name: 'Tiny Linux',
    version: '1',
    source: { slug: 'tiny', kind: 'build', recipe: 'tiny' },
    min_memory_mib: 64,
    min_disk_gib: 1,
  },
];

/**
 * Brings up the hypervisor of this machine and writes it down as a node: real machines where they can run, the
 * simulator where they cannot. `given` replaces it in tests.
 */
export async function openNode(
  ctx: Context,
  data: DataDir,
  say: Say,
  given?: Hypervisor,
): Promise<LocalNode> {
  await ensureInventory(ctx);
  const gateways = await gatewaysOf(ctx, ctx.config.location);
  const hypervisor = given ?? (await chooseHypervisor(ctx, data, say, gateways));
  await hypervisor.prepare(say);
  const { config } = ctx;
  const capacity = await hypervisor.capacity();
  const identity = { name: config.nodeName, location: config.location };
  const nodeId = await registerNode(ctx, identity, capacity, hostsOwn(hypervisor.kind, capacity));
  return {
    hypervisor,
    hypervisorOf: (id) => {
      if (id === nodeId) return hypervisor;
      throw new HypervisorError('host_not_ready', `node ${id} is not run by this process`);
    },
    watch: () => watchMachines(ctx, nodeId, hypervisor, gateways),
    close: () => hypervisor.close(),
  };
}

const GIB = 2 ** 30;

/**
 * What a new node keeps for QEMU itself, the product and its database: a sixteenth of the memory and at least 1 GiB, but
 * never more than a quarter; of the disk what copies have to leave free as well. Simulated machines need nothing.
 */
function hostsOwn(kind: string, { memoryMib, diskGib }: NodeCapacity): Reserve {
  if (kind === 'simulator') return { memoryMib: 0, diskGib: 0 };
  return {
    memoryMib: Math.floor(Math.min(Math.max(1_024, memoryMib / 16), memoryMib / 4)),
    diskGib: Math.floor(keptFree(diskGib * GIB) / GIB),
  };
}

/** An empty database gets the images we can build and a pool from the configured networks. */
async function ensureInventory(ctx: Context): Promise<void> {
  const { network4, network6, location } = ctx.config;
  await transaction(ctx, 'node.ensureInventory', async (tx) => {
    for (const image of builtInImages) await addImage(tx, image);
    if ((await gatewaysOf(tx, location)).length > 0) return;
    await addPool(tx, { name: `${location} IPv4`, location, network: network4 });
    await addPool(tx, { name: `${location} IPv6`, location, network: network6 });
  });
}

async function chooseHypervisor(
  ctx: Context,
  data: DataDir,
  say: Say,
  gateways: string[],
): Promise<Hypervisor> {
  const { config, log } = ctx;
  const host = config.hypervisor === 'simulator' ? null : await canRunMachines();
  if (host?.ok === false && config.hypervisor === 'qemu') throw new Error(host.reason);
  if (host?.ok !== true) {
    const reason = host?.reason ?? 'HYPERVISOR=simulator';
    say(`no real machines here, they are simulated: ${reason}`);
    return persistentSimulator(join(data.dir, 'simulator.json'));
  }
  await ensurePackages(
    hostPackages.filter((wanted) => wanted.use === 'start'),
    say,
  );
  return qemuHypervisor({
    dir: join(data.dir, 'hypervisor'),
    runDir: data.runDir,
    bridge: { name: config.bridge, addresses: gateways, nat: config.nat },
    netbootUrl: config.netbootUrl,
    log,
    ...(config.imagesDir === null ? {} : { imagesDir: config.imagesDir }),
  });
}

const changesNothing = new Set([
  'prepare',
  'capacity',
  'waitUntilReady',
  'inspect',
  'list',
  'watch',
  'close',
]);

/** A simulator whose machines outlive the product, as real ones do: what a call has done is on disk when it ends. */
function persistentSimulator(file: string): Hypervisor {
  const store = loadStore(file);
  const simulator = simulatedHypervisor({ store, delaysMs: { boot: 500 } });
  let next: Promise<void> | null = null;
  // Calls that end in the same turn of the event loop share one writing.
  const saved = (): Promise<void> => {
    next ??= new Promise((resolve, reject) => {
      setImmediate(() => {
        next = null;
        try {
          saveStore(store, file);
          resolve();
        } catch (error) {
          reject(error);
        }
      });
    });
    return next;
  };
  const keeping = Object.entries(simulator).map(([name, member]) => {
    if (typeof member !== 'function' || changesNothing.has(name)) return [name, member];
    const call = member as (...args: unknown[]) => unknown;
    const kept = (...args: unknown[]) => {
      const answer = call(...args);
      return answer instanceof Promise ? answer.finally(saved) : answer;
    };
    return [name, kept];
  });
  return {
    ...(Object.fromEntries(keeping) as unknown as Hypervisor),
    close: async () => {
      saveStore(store, file);
      await simulator.close();
    },
  };
}

function watchMachines(
  ctx: Context,
  nodeId: number,
  hypervisor: Hypervisor,
  gateways: string[],
): () => Promise<void> {
  const sample = createSampler(ctx, nodeId, () => hypervisor.sample());
  const comparing = again(ctx, 'machines could not be compared', reconcileEveryMs, () =>
    reconcileNode(ctx, nodeId, hypervisor),
  );
  const sampling = again(ctx, 'machines could not be sampled', resolutions.hour.intervalS * 1_000, sample);
  const following = again(ctx, 'gateways of new pools could not be added', reconcileEveryMs, () =>
    followGateways(ctx, ctx.config.location, gateways, () => hypervisor.prepare(() => undefined)),
  );
  const forget = hypervisor.watch((event) => {
    onMachineEvent(ctx, hypervisor, event).catch((error: Error) =>
      ctx.log.warn({ err: error.message, machine: event.id }, 'a power change could not be followed'),
    );
  });
  return async () => {
    forget();
    await Promise.all([comparing(), sampling(), following()]);
  };
}

/** Does something now and again and again, one turn at a time; a failure is logged. Returns how to stop. */
function again(
  ctx: Context,
  complaint: string,
  everyMs: number,
  work: () => Promise<void>,
): () => Promise<void> {
  let turn: Promise<void> | null = null;
  const take = () => {
    turn ??= work()
      .catch((error: Error) => ctx.log.warn({ err: error.message }, complaint))
      .finally(() => {
        turn = null;
      });
  };
  const timer = setInterval(take, everyMs);
  take();
  return async () => {
    clearInterval(timer);
    await turn;
  };
}
