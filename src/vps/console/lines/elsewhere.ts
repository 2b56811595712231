import type { Duplex } from 'node:stream';
import { type ConsoleHost, dial, FailedElsewhere, type Wanted } from '../../../consoles/index.ts';
import {
  type ConsoleKind,
  type Hypervisor,
  HypervisorError,
  type MachineReport,
} from '../../../drivers/hypervisor/index.ts';
import type { Context } from '../../../platform/index.ts';
import { serviceIdOf } from '../../machine.ts';

/** A picture of a screen, uncompressed at the worst. */
const mostPictureBytes = 2 ** 25;

/**
 * What runs the machines of a host of ours, for processes that it does not run in: consoles, screens, and how a machine is, over its own process.
 * Nothing else is asked of it from elsewhere, and fails with `host_not_ready`, as does what cannot be reached.
 */
export function hypervisorElsewhere(
  ctx: Context,
  { node_id: nodeId, process, address }: ConsoleHost,
): Hypervisor {
  const notHere = () =>
    new HypervisorError('host_not_ready', `node ${nodeId} is run by another process, which does not answer`);
  const ask = (id: string, what: ConsoleKind | 'screen') =>
    open({ serviceId: serviceIdOf(id) ?? 0, what, nodeId });
  async function open(wanted: Wanted): Promise<Duplex> {
    const opened = await dial(ctx, wanted, { holder: process, address });
    if (opened === null) throw notHere();
    return opened;
  }
  const own: Pick<Hypervisor, 'openConsole' | 'readScreen' | 'inspect'> = {
    openConsole: ask,
    async readScreen(id) {
      const picture = await wholeOf(await ask(id, 'screen'));
      if (picture !== null) return picture;
      throw new HypervisorError('screen_failed', `the screen of ${id} is not shown`);
    },
    async inspect(id) {
      const said = await wholeOf(await open({ what: 'machine', machine: id, nodeId }));
      if (said === null) throw notHere();
      const { startedAt, ...report } = JSON.parse(said.toString('utf8')) as Sent;
      return { ...report, startedAt: startedAt === null ? null : new Date(startedAt) };
    },
  };
  return new Proxy(own as Hypervisor, {
    get: (known, name) => Reflect.get(known, name) ?? (() => Promise.reject(notHere())),
  });
}

/** A report as it goes from process to process. */
type Sent = Omit<MachineReport, 'startedAt'> & { startedAt: string | null };

/** Null when nothing came, not all of it, or too much. */
async function wholeOf(stream: Duplex): Promise<Buffer | null> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const piece of stream as AsyncIterable<Buffer>) {
      pieces.push(piece);
      bytes += piece.length;
      if (bytes > mostPictureBytes) return null;
    }
  } catch (error) {
    if (error instanceof FailedElsewhere) return null;
    if ((error as NodeJS.ErrnoException).code === 'ERR_STREAM_PREMATURE_CLOSE') return null;
    throw error;
  }
  return bytes === 0 ? null : Buffer.concat(pieces);
}
