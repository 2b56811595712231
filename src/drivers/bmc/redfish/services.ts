import type { Redfish } from './client.ts';
import type { Places } from './places.ts';
import { at, linkAt } from './resource.ts';

/** What its `NetworkProtocol` says is switched on; null: it has none. Makers have protocols of their own there, which count as well. */
export async function readServices(
  redfish: Redfish,
  { manager }: Places,
  leftMs: number,
): Promise<string[] | null> {
  const endsMs = performance.now() + leftMs;
  const path = linkAt(await redfish.get(manager, leftMs), 'NetworkProtocol');
  if (path === null) return null;
  const protocols = await redfish.get(path, endsMs - performance.now());
  return Object.keys(protocols).filter((name) => at(protocols, name, 'ProtocolEnabled') === true);
}
