import type { Duplex } from 'node:stream';
import type { Bmc } from './contract.ts';
import { BmcError } from './failure.ts';
import type { Talk } from './talk.ts';
import { until } from './turns.ts';

const openMs = 30_000;

/** Who has the serial line of a BMC in this process. */
const open = new Map<string, Duplex>();

/** One line a BMC: whoever opens it takes it over, and the one before is told. */
export function serialCalls(talk: Talk, key: string): Pick<Bmc, 'openSerial'> & { letGo(): void } {
  let own: Duplex | null = null;
  return {
    async openSerial({ timeoutMs = openMs } = {}) {
      const { kind, capabilities } = talk.controls;
      if (!capabilities.includes('serial'))
        throw new BmcError('not_supported', `a BMC of the kind ${kind} shows no serial line`);
      const line = await talk.change(until(timeoutMs), async (at, leftMs) => {
        open.get(key)?.destroy(new BmcError('serial_taken', 'somebody else has opened the serial line'));
        const opened = await at.openSerial(leftMs);
        open.set(key, opened);
        return opened;
      });
      line.once('close', () => {
        if (open.get(key) === line) open.delete(key);
      });
      own = line;
      return line;
    },
    letGo: () => void own?.destroy(),
  };
}
