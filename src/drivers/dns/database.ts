import type { ReverseDns } from './contract.ts';
import { checkName, pointerName } from './names.ts';

/**
 * The embedded default: the name in the product's own database is the record, so there is nothing to carry
 * anywhere. It refuses what a real server would refuse.
 */
export function databaseDns(): ReverseDns {
  return {
    kind: 'database',
    capabilities: ['ipv6'],
    async setName(address, name) {
      pointerName(address);
      if (name !== null) checkName(name);
    },
  };
}
