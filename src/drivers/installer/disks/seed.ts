import { cloudInitSeed } from '../../hypervisor/index.ts';
import type { Identity } from '../plan.ts';

/**
 * The files by which cloud-init learns who a server is (NoCloud), by their names. `id` is of this installation: what is done at a first
 * start is done once for each.
 */
export function seedOf(id: string, identity: Identity): Record<string, string> {
  const { hostname, nameservers, mac, addresses, keys, passwordHash, userData } = identity;
  // The speed of its port is no matter of its system.
  const nic = { mac, addresses, portMbps: 0 };
  const known = { guest: 'cloud-init' as const, hostname, nameservers, nic };
  const files = cloudInitSeed(id, known, { passwordHash, authorizedKeys: keys, userData: userData ?? null });
  return Object.fromEntries(files.map(({ path, content }) => [path, content.toString()]));
}
