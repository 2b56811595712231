import { isIPv6 } from 'node:net';
import { type DnsCapability, DnsError, type ReverseDns } from './contract.ts';
import { checkName, pointerName } from './names.ts';

export interface DatabaseDnsOptions {
  /** What it can. Default: everything; less stands in for a lesser engine in tests. */
  capabilities?: readonly DnsCapability[];
}

/**
 * The embedded default: the name in the product's own database is the record, so there is nothing to carry
 * anywhere. It refuses what a real server would refuse.
 */
export function databaseDns({ capabilities = ['ipv6'] }: DatabaseDnsOptions = {}): ReverseDns {
  return {
    kind: 'database',
    capabilities,
    async setName(address, name) {
      pointerName(address);
      if (isIPv6(address) && !capabilities.includes('ipv6')) {
        throw new DnsError('not_supported', 'names of IPv6 addresses are not kept', { permanent: true });
      }
      if (name !== null) checkName(name);
    },
  };
}
