import { setTimeout as sleep } from 'node:timers/promises';
import { type Again, again } from './again.ts';
import { type Hypervisor, keptFree, type NodeCapacity } from './drivers/hypervisor/index.ts';
import {
  addImage,
  addPool,
  followGateways,
  gatewaysOf,
  type Host,
  type Image,
  type Reserve,
  registerNode,
  registerRouter,
  requireOwnName,
  troubleNoter,
  writeCapabilities,
  writeTroubles,
} from './fleet/index.ts';
import { dataDirId } from './platform/host/dataDirId.ts';
import { type Context, causesOf, type Drivers, transaction } from './platform/index.ts';
import {
  announceNow,
  createRuleCounter,
  createWatcher,
  type OwnEdges,
  reconcileEdge,
  requireNothingBehind,
} from './shield/index.ts';
import {
  createReconciler,
  createSampler,
  findUnknownMachines,
  onMachineEvent,
  resolutions,
} from './vps/index.ts';

/** The machine this process runs on, as a node of the fleet. */
export interface LocalNode {
  /** Its id in the fleet. */
  id: number;
  /** Null where it only filters, for machines of other nodes. */
  hypervisor: Hypervisor | null;
}

type Say = (line: string) => void;

const reconcileEveryMs = 5_000;
const troublesEveryMs = 5_000;
const followEveryMs = 30_000;
const mendEveryMs = 10_000;
const compareEdgeEveryMs = 60_000;
const countRulesEveryMs = 5_000;
const readTrafficEveryMs = 1_000;
const compareRoutersEveryMs = 2_000;
/** So long machines that should run wait for their rules when the process starts. */
const edgePatienceMs = 30_000;

const builtInImages: Omit<Image, 'forServers'>[] = [
  {
    slug: 'debian',
    name: 'Debian',
    version: '12',
    source: { slug: 'debian', kind: 'build', recipe: 'debian-12' },
    minMemoryMib: 512,
    minDiskGib: 4,
  },
  {
    slug: 'tiny',
    name: 'Tiny Linux',
    version: '1',
    source: { slug: 'tiny', kind: 'build', recipe: 'tiny' },
    minMemoryMib: 64,
    minDiskGib: 1,
  },
];

/** This host as the fleet knows it: by its name, and the DATA_DIR that has its machines. Throws when another one does. */
export async function knownHost(ctx: Context, dataDir: string): Promise<Host> {
  const { nodeName: name, location, databaseUrl } = ctx.config;
  const host = { name, location, dataDirId: await dataDirId(dataDir), isAlone: databaseUrl === null };
  await requireOwnName(ctx, host);
  return host;
}

/** Makes a hypervisor ready and writes its host down as a node of the fleet; one without as a host that only filters. */
export async function enlistNode(
  ctx: Context,
  hypervisor: Hypervisor | null,
  host: Host,
  say: Say,
): Promise<LocalNode> {
  if (hypervisor === null) return { id: await registerRouter(ctx, host), hypervisor };
  await requireNothingBehind(ctx, host.name);
  await hypervisor.prepare(say);
  const capacity = await hypervisor.capacity();
  const id = await registerNode(ctx, host, capacity, hostsOwn(hypervisor.kind, capacity));
  await writeCapabilities(ctx, id, hypervisor.capabilities);
  await writeTroubles(ctx, id, await hypervisor.troubles()); // before anybody can order
  // Before any job runs: one for an order of which there is a machine must not write over it.
  await findUnknownMachines(ctx, id, await hypervisor.list(), hypervisor);
  return { id, hypervisor };
}

const gib = 2 ** 30;

/**
 * What a new node keeps for QEMU itself, the product and its database: a sixteenth of the memory and at least 1 GiB, but
 * never more than a quarter; of the disk what copies have to leave free as well. Simulated machines need nothing.
 */
function hostsOwn(kind: string, { memoryMib, diskGib }: NodeCapacity): Reserve {
  if (kind === 'simulator') return { memoryMib: 0, diskGib: 0 };
  return {
    memoryMib: Math.floor(Math.min(Math.max(1_024, memoryMib / 16), memoryMib / 4)),
    diskGib: Math.floor(keptFree(diskGib * gib) / gib),
  };
}

/**
 * An empty database gets the images we can build and a pool from the configured networks. Returns the gateways of this
 * location, on which its node answers.
 */
export async function ensureInventory(ctx: Context): Promise<string[]> {
  const { network4, network6, location } = ctx.config;
  await transaction(ctx, 'node.ensureInventory', async (tx) => {
    for (const image of builtInImages) await addImage(tx, image);
    if ((await gatewaysOf(tx, location)).length > 0) return;
    await addPool(tx, { name: `${location} IPv4`, location, network: network4 });
    await addPool(tx, { name: `${location} IPv6`, location, network: network6 });
  });
  return gatewaysOf(ctx, location);
}

/** Keeps a node's machines as they are wanted, and what filters at it. `gateways`: those it answers on. Returns how to stop. */
export function watchNode(
  ctx: Context,
  { id, hypervisor }: LocalNode,
  gateways: string[],
  drivers: Drivers,
  edges: OwnEdges,
): () => Promise<void> {
  const shielding = shieldNode(ctx, id, drivers, edges);
  if (hypervisor === null) return () => shielding.stop();
  const sample = createSampler(
    ctx,
    () => [id],
    () => hypervisor.sample(),
  );
  // After a reboot of the host the rules are back before the machines are, unless the edge takes very long.
  const filteredOnce = Promise.race([shielding.first, sleep(edgePatienceMs, undefined, { ref: false })]);
  const reconcile = createReconciler(ctx, id, hypervisor);
  const comparing = again(ctx, 'machines could not be compared', reconcileEveryMs, async () => {
    await filteredOnce;
    await reconcile();
  });
  const sampling = again(ctx, 'machines could not be sampled', resolutions.hour.intervalS * 1_000, sample);
  const noteTroubles = troubleNoter(ctx, id);
  const asking = again(ctx, 'a node could not be asked what it lacks', troublesEveryMs, async () =>
    noteTroubles(await hypervisor.troubles()),
  );
  const mending = again(ctx, 'what machines stand on could not be mended', mendEveryMs, () =>
    hypervisor.mend(),
  );
  const following = again(ctx, 'gateways of new pools could not be added', followEveryMs, () =>
    followGateways(ctx, ctx.config.location, gateways, () => hypervisor.prepare(() => undefined)),
  );
  const forget = hypervisor.watch((event) => {
    onMachineEvent(ctx, hypervisor, event).catch((error: Error) =>
      ctx.log.warn({ err: causesOf(error), machine: event.id }, 'a power change could not be followed'),
    );
  });
  return async () => {
    forget();
    const all = [comparing, sampling, asking, mending, following, shielding];
    await Promise.all(all.map(({ stop }) => stop()));
    await sample
      .finish()
      .catch((error: Error) => ctx.log.warn({ err: causesOf(error) }, 'traffic could not be written down'));
  };
}

/** Keeps what stands in front of addresses as it is wanted, and watches what is sent to them. `first`: once rules were compared. */
function shieldNode(ctx: Context, id: number, { edge, routers }: Drivers, edges: OwnEdges): Again {
  const filtering = again(ctx, 'rules could not be compared', compareEdgeEveryMs, () =>
    reconcileEdge(ctx, id, edge),
  );
  const count = createRuleCounter(ctx, id, edge);
  const watch = createWatcher(ctx, id, edge, routers);
  const all = [
    filtering,
    again(ctx, 'what rules count could not be read', countRulesEveryMs, count),
    again(ctx, 'traffic could not be read', readTrafficEveryMs, watch),
  ];
  if (edges.routers !== null) {
    const at = { edgeId: edges.routers, nodeId: id };
    const announce = () => announceNow(ctx, at, routers);
    all.push(again(ctx, 'what routers are told could not be compared', compareRoutersEveryMs, announce));
  }
  return {
    first: filtering.first,
    stop: async () => {
      await Promise.all(all.map(({ stop }) => stop()));
    },
  };
}
