import { type Bmc, BmcError } from '../../drivers/bmc/index.ts';
import { nonceReader } from '../../drivers/installer/index.ts';

/**
 * Reads nonces on the serial line of a BMC's server until `find` knows one, and gives what it found; null: none was read in time. What goes
 * out over that line nobody else can know.
 */
export async function readNonce<T>(
  bmc: Bmc,
  find: (nonce: string) => Promise<T | null>,
  { withinMs, signal }: { withinMs: number; signal: AbortSignal },
): Promise<T | null> {
  const line = await bmc.openSerial();
  const read = nonceReader();
  let stop = () => {};
  try {
    return await new Promise<T | null>((resolve, reject) => {
      const timer = setTimeout(() => resolve(null), withinMs);
      const abort = () => reject(signal.reason);
      signal.addEventListener('abort', abort, { once: true });
      stop = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', abort);
      };
      line.on('data', (chunk: Buffer) => {
        for (const nonce of read(chunk.toString('latin1')))
          find(nonce).then((found) => {
            if (found !== null) resolve(found);
          }, reject);
      });
      line.on('error', reject);
      line.once('close', () =>
        reject(new BmcError('serial_taken', 'the serial line was closed before anything was proved')),
      );
    });
  } finally {
    stop();
    line.destroy();
  }
}
