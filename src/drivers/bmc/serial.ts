import type { Duplex } from 'node:stream';
import type { Bmc } from './contract.ts';
import { BmcError } from './failure.ts';
import type { Talk } from './talk.ts';
import { until } from './turns.ts';

const openMs = 30_000;
/** How often we look whether it is still ours: few BMCs tell. */
const lookMs = 5_000;

/** Who has the serial line of a BMC in this process. */
const open = new Map<string, Duplex>();

/** One line a BMC: whoever opens it takes it over, and the one before is told. */
export function serialCalls(talk: Talk, key: string): Pick<Bmc, 'openSerial'> & { letGo(): void } {
  const own = new Set<Duplex>();

  async function openSerial({ timeoutMs = openMs } = {}): Promise<Duplex> {
    const { kind, capabilities } = talk.controls;
    if (!capabilities.includes('serial'))
      throw new BmcError('not_supported', `a BMC of the kind ${kind} shows no serial line`);
    let holder: string | null = null;
    const line = await talk.change(until(timeoutMs), async (at, leftMs) => {
      open.get(key)?.destroy(taken());
      const opened = await at.openSerial(leftMs);
      open.set(key, opened);
      holder = await at.serialHolder(leftMs).catch(() => null);
      return opened;
    });
    const stopLooking = holder === null ? () => undefined : watch(talk, line, holder);
    own.add(line);
    line.once('close', () => {
      stopLooking();
      own.delete(line);
      if (open.get(key) === line) open.delete(key);
    });
    return line;
  }

  return {
    openSerial,
    letGo: () => {
      for (const line of own) line.destroy();
    },
  };
}

/** Ends the line once somebody else has it. A BMC that says nothing for a while leaves it as it is. */
function watch(talk: Talk, line: Duplex, holder: string): () => void {
  const look = async () => {
    const now = await talk.read(until(lookMs), (at, leftMs) => at.serialHolder(leftMs)).catch(() => holder);
    if (now !== holder) line.destroy(taken());
  };
  const timer = setInterval(() => (line.destroyed ? clearInterval(timer) : void look()), lookMs).unref();
  return () => clearInterval(timer);
}

function taken(): BmcError {
  return new BmcError('serial_taken', 'somebody else has opened the serial line');
}
