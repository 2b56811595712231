import { copyFile, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { removeDataDir } from '../../../test/dataDir.ts';
import { type TestProduct, until } from '../../../test/product.ts';
import { readConfig } from '../../config.ts';
import { type MemoryEdge, memoryEdge } from '../../drivers/edge/index.ts';
import { createLog } from '../../platform/index.ts';
import { startProduct } from '../../product.ts';

/** A worker of a product that holds no machines, and filters in memory for those of other nodes. */
export interface RouterProcess {
  edge: MemoryEdge;
  nodeId: number;
  edgeId: number;
  /** Has its edge stand before these nodes. */
  standBefore(nodes: readonly number[]): Promise<{ status: number; body: Record<string, unknown> }>;
  /** Its DATA_DIR. */
  folder: string;
  /** `keeps`: it is started again with the folder. */
  stop(how?: { keeps?: boolean }): Promise<void>;
}

const silent = { stage: () => undefined, say: () => undefined };

/**
 * Starts one beside a product, on its database and by its clock; `folder` and `edge` of one that was stopped to start it again. With another
 * HYPERVISOR in `env` it is a node with machines of its own. `DATABASE_URL` may lead over a cable.
 */
export async function startRouter(
  product: TestProduct,
  name: string,
  {
    env = {},
    folder: known,
    edge = memoryEdge({ now: () => product.clock.now().getTime() }),
  }: RouterOptions = {},
): Promise<RouterProcess> {
  const folder = known ?? (await mkdtemp(path.join(tmpdir(), 'innkeeper-router-')));
  const key = path.join(product.ctx.config.dataDir, 'secret.key');
  if (known === undefined) await copyFile(key, path.join(folder, 'secret.key'));
  const config = readConfig({
    ...{ DATABASE_URL: product.databaseUrl, DATA_DIR: folder, ROLE: 'worker', HYPERVISOR: 'none' },
    ...{ NODE_NAME: name, WORKER_PORT: '0', DEMO: 'off', STAFF_EMAIL: 'off', LOG_LEVEL: 'silent', ...env },
  });
  const parts = { clock: product.clock, drivers: { edge }, log: createLog('silent') };
  const running = await startProduct(config, silent, parts).catch(async (error) => {
    if (known === undefined) await removeDataDir(folder);
    throw error;
  });
  const kind = config.hypervisor === 'none' ? 'router' : 'node';
  const { edges } = (await product.staff.get(`/staff/shield/edges?kind=${kind}&limit=100`)).body.data;
  const own = edges.find((each: { node: { name: string } }) => each.node.name === name);
  return {
    ...{ edge, folder, nodeId: own.node.id },

    edgeId: own.id,
    standBefore: (nodes) => product.staff.patch(`/staff/shield/edges/${own.id}`, { nodes }),
    stop: async ({ keeps = false } = {}) => {
      await running.stop();
      if (!keeps) await removeDataDir(folder);
    },
  };
}

interface RouterOptions {
  env?: Record<string, string>;
  edge?: MemoryEdge;
  folder?: string;
}

/** The nodes of a product that run machines, by their ids. */
export async function machineNodes(product: TestProduct): Promise<number[]> {
  const { nodes } = (await product.staff.get('/staff/nodes?limit=100')).body.data;
  return nodes
    .filter((each: { runs_machines: boolean }) => each.runs_machines)
    .map((each: { id: number }) => each.id);
}

/** Waits until an edge holds a policy for an address, or none any more. */
export function heldBy(edge: MemoryEdge, address: string, isHeld = true): Promise<boolean> {
  return until(
    async () => (await edge.list()).some((each) => each.destination.split('/')[0] === address),
    (found) => found === isHeld,
  );
}
