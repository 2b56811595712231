import type { HypervisorCapability } from '../drivers/hypervisor/index.ts';
import { type Context, statement } from '../platform/index.ts';

const setCapabilities = statement<never, { nodeId: number; capabilities: readonly HypervisorCapability[] }>(
  'fleet.setCapabilities',
  'update nodes set capabilities = :capabilities where id = :nodeId',
);

/** Writes down what the engine of a node can do, so that processes that do not run it know too. */
export async function writeCapabilities(
  ctx: Context,
  nodeId: number,
  capabilities: readonly HypervisorCapability[],
): Promise<void> {
  await ctx.db.run(setCapabilities, { nodeId, capabilities });
}
