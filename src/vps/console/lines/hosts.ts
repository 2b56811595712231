import type { Duplex } from 'node:stream';
import { type ConsoleKind, type Hypervisor, HypervisorError } from '../../../drivers/hypervisor/index.ts';
import { type Context, causesOf, statement } from '../../../platform/index.ts';
import { serviceIdOf } from '../../machine.ts';
import { ownProcess } from './address.ts';
import { dial } from './dial.ts';

/** The process that runs the machines of a host of ours, and where it answers others. */
export interface ConsoleHost {
  node_id: number;
  process: string;
  address: string;
}

const writeHost = statement<never, { nodeId: number; process: string; address: string }>(
  'vps.writeConsoleHost',
  `insert into console_hosts (node_id, process, address) values (:nodeId, :process::uuid, :address)
   on conflict (node_id) do update set process = excluded.process, address = excluded.address`,
);
const removeHost = statement<never, { nodeId: number; process: string }>(
  'vps.removeConsoleHost',
  'delete from console_hosts where node_id = :nodeId and process = :process::uuid',
);
const allHosts = statement<ConsoleHost>(
  'vps.consoleHosts',
  'select node_id, process, address from console_hosts order by node_id',
);

/** Writes down where this process shows the machines of its node to others. Returns how to take that back. */
export async function announceHost(
  ctx: Context,
  nodeId: number,
  address: string,
): Promise<() => Promise<void>> {
  const process = ownProcess(ctx.config);
  await ctx.db.run(writeHost, { nodeId, process, address });
  return async () => {
    // Without the database it stops all the same; then nobody answers where it was.
    await ctx.db.run(removeHost, { nodeId, process }).catch((error: Error) => {
      ctx.log.warn(
        { err: causesOf(error) },
        'other processes are not told that this one shows no machines any more',
      );
    });
  };
}

export function findConsoleHosts(ctx: Context): Promise<ConsoleHost[]> {
  return ctx.db.many(allHosts);
}

/** A picture of a screen, uncompressed at the worst. */
const mostPictureBytes = 2 ** 25;

/**
 * What runs the machines of a host of ours, for processes that it does not run in: consoles and screens, over its own process. Nothing
 * else is asked of it from elsewhere, and fails with `host_not_ready`, as does what cannot be reached.
 */
export function hypervisorElsewhere(
  ctx: Context,
  { node_id: nodeId, process, address }: ConsoleHost,
): Hypervisor {
  const notHere = () =>
    new HypervisorError('host_not_ready', `node ${nodeId} is run by another process, which does not answer`);
  async function ask(id: string, what: ConsoleKind | 'screen'): Promise<Duplex> {
    const wanted = { serviceId: serviceIdOf(id) ?? 0, what, nodeId };
    const opened = await dial(ctx, wanted, { holder: process, address });
    if (opened === null) throw notHere();
    return opened;
  }
  const own: Pick<Hypervisor, 'openConsole' | 'readScreen'> = {
    openConsole: ask,
    async readScreen(id) {
      const picture = await wholeOf(await ask(id, 'screen'));
      if (picture !== null) return picture;
      throw new HypervisorError('screen_failed', `the screen of ${id} is not shown`);
    },
  };
  return new Proxy(own as Hypervisor, {
    get: (known, name) => Reflect.get(known, name) ?? (() => Promise.reject(notHere())),
  });
}

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
    if ((error as NodeJS.ErrnoException).code === 'ERR_STREAM_PREMATURE_CLOSE') return null;
    throw error;
  }
  return bytes === 0 ? null : Buffer.concat(pieces);
}
