import { type Context, causesOf, statement } from '../../platform/index.ts';
import { ownProcess } from './address.ts';

/** The process that does the work of a host of ours, and where it answers others. */
export interface ConsoleHost {
  node_id: number;
  process: string;
  address: string;
}

const writeHost = statement<never, { nodeId: number; process: string; address: string }>(
  'consoles.writeHost',
  `insert into console_hosts (node_id, process, address) values (:nodeId, :process::uuid, :address)
   on conflict (node_id) do update set process = excluded.process, address = excluded.address`,
);
const removeHost = statement<never, { nodeId: number; process: string }>(
  'consoles.removeHost',
  'delete from console_hosts where node_id = :nodeId and process = :process::uuid',
);
const allHosts = statement<ConsoleHost>(
  'consoles.hosts',
  'select node_id, process, address from console_hosts order by node_id',
);

/** Writes down where this process shows what it reaches to others. Returns how to take that back. */
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
