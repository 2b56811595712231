import { isIPv6 } from 'node:net';
import { fingerprintOf, presentedAt } from '../../hypervisor/index.ts';
import { defaultPorts } from '../connection.ts';
import { BmcError } from '../failure.ts';

/**
 * Which certificate a BMC presents at an IP address, as SHA-256 in hexadecimal, to be pinned when it is enrolled. Nothing of ours is told to it.
 * `bmc_silent` where nobody presents one; an address of this host, which is no BMC's, is not asked unless `allow` names it.
 */
export async function certificateOf(
  address: string,
  port: number = defaultPorts.redfish,
  allow: readonly string[] = [],
): Promise<string> {
  const endpoint = `https://${isIPv6(address) ? `[${address}]` : address}:${port}`;
  const [shown] = await presentedAt([endpoint], allow);
  if (shown?.certificate) return fingerprintOf(shown.certificate);
  throw new BmcError('bmc_silent', `no certificate of Redfish is to be had at ${shown?.problem ?? endpoint}`);
}
