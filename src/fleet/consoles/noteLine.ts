import { statement, type TxContext } from '../../platform/index.ts';
import { placeNow } from '../servers/life.ts';

const write = statement<never, { serverId: number; at: string; showsLine: boolean }>(
  'fleet.noteServerLine',
  `update server_bmcs b set shows_line = :showsLine where b.server_id = :serverId and ${placeNow} = :at
     and b.shows_line is distinct from :showsLine`,
);

/** Writes down whether the BMC of a server that was asked at this place shows a serial line, unless it is another one by now. */
export async function noteLine(
  tx: TxContext,
  serverId: number,
  at: string,
  showsLine: boolean,
): Promise<void> {
  await tx.db.run(write, { serverId, at, showsLine });
}
