import { Duplex } from 'node:stream';
import { dial, findConsoleHosts, type OpenForOthers } from '../../consoles/index.ts';
import type { OpenBmc } from '../../drivers/bmc/index.ts';
import { type Context, causesOf, fail } from '../../platform/index.ts';
import { bmcConnection } from '../servers/life.ts';

/** Opens the serial line of a server: takes it over from whoever has it. */
export type OpenServerLine = (serverId: number) => Promise<Duplex>;

/** No process that reaches BMCs answers. */
export class LineUnreached extends Error {}

/** The serial line of a server through its BMC, which this process reaches. The BMC is let go of with the line. */
export function openServerLine(ctx: Context, openBmc: OpenBmc): OpenServerLine {
  return async (serverId) => {
    const connection = await bmcConnection(ctx, serverId);
    if (connection === null)
      throw new LineUnreached(`nobody says how the BMC of server ${serverId} is reached`);
    const bmc = openBmc(connection);
    const letGo = () =>
      void bmc.close().catch((error: Error) => {
        ctx.log.warn({ server: serverId, err: causesOf(error) }, 'a BMC was not let go of');
      });
    try {
      return (await bmc.openSerial()).once('close', letGo);
    } catch (error) {
      letGo();
      throw error;
    }
  };
}

/** The same through another process of ours: BMCs are on a network that those alone need to reach which do the jobs. */
export function serverLineElsewhere(ctx: Context): OpenServerLine {
  return async (serverId) => {
    for (const { process: holder, address } of await findConsoleHosts(ctx)) {
      const line = await dial(ctx, { what: 'server', serverId }, { holder, address });
      if (line !== null) return line;
    }
    throw new LineUnreached('no process that does jobs answers');
  };
}

/** What a process that reaches BMCs shows to those that do not. */
export function serversToOthers(open: OpenServerLine): OpenForOthers {
  return (wanted) => {
    if (wanted.what === 'server') return open(wanted.serverId);
    return wanted.what === 'nothing' ? Promise.resolve(Duplex.from([])) : null;
  };
}

/** Refuses a console of a server that could not be carried from here, before a ticket is given: `driver_absent`. */
export async function requireServersReached(ctx: Context): Promise<void> {
  if (ctx.config.role !== 'api') return;
  for (const { process: holder, address } of await findConsoleHosts(ctx)) {
    const heard = await dial(ctx, { what: 'nothing' }, { holder, address });
    if (heard !== null) return void heard.destroy();
  }
  const message =
    'The process that answers here reaches none of those that speak to servers; send this request to one that does';
  throw fail('driver_absent', { message });
}
