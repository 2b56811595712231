import { findPlacement, type Resources, resizeResources } from '../../fleet/index.ts';
import type { TxContext } from '../../platform/index.ts';
import { findChange, resourcesOf, type Terms, vpsOptions } from '../../services/index.ts';
import { findMachine } from '../machine.ts';
import { findWaiting } from './queries.ts';

/**
 * Holds what a service needs on its node, the most of three: what its terms say, what its machine takes until it has
 * become smaller, and what an upgrade that waits for its payment was promised. `options` are those of an upgrade
 * that is being asked for. The service's row is locked. `insufficient_stock` when it would grow and there is no room.
 */
export async function holdNeeded(
  tx: TxContext,
  service: Terms,
  options: Record<string, unknown> = service.options,
): Promise<void> {
  if ((await findPlacement(tx, service.id)) === null) return;
  const waiting = await findWaiting(tx, { serviceId: service.id });
  const product = await findChange(tx, { serviceId: service.id });
  const promised = { ...service.options, ...waiting?.options };
  const sizes = [service.options, options, promised, product?.options ?? service.options];
  const machine = await findMachine(tx, service.id);
  const taken = machine && {
    cpuCores: machine.cpu_cores,
    memoryMib: machine.memory_mib,
    diskGib: machine.disk_gib,
  };
  const needed = sizes.map((size) => resourcesOf(vpsOptions.read(size)));
  await resizeResources(tx, service.id, [...needed, ...(taken ? [taken] : [])].reduce(larger));
}

function larger(one: Resources, other: Resources): Resources {
  return {
    cpuCores: Math.max(one.cpuCores, other.cpuCores),
    memoryMib: Math.max(one.memoryMib, other.memoryMib),
    diskGib: Math.max(one.diskGib, other.diskGib),
  };
}
