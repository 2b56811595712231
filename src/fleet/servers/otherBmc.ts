import { record } from '../../events/index.ts';
import { type Context, fail, statement, type TxContext, transaction } from '../../platform/index.ts';
import { serverBmcAccepted } from '../events.ts';
import { askNow } from './halt.ts';
import { about, readServer, requireServer } from './staff.ts';
import { requireAction } from './states.ts';

const keep = statement<never, { serverId: number; uuid: string; now: Date }>(
  'fleet.keepBmcIdentity',
  'update server_bmcs set uuid = :uuid, identified_at = :now, other_uuid = null where server_id = :serverId',
);
const accept = statement<never, { serverId: number; uuid: string; now: Date }>(
  'fleet.acceptOtherBmc',
  `update server_bmcs set uuid = :uuid, identified_at = :now, other_uuid = null, problem = null, problem_since = null, power_problem = null
   where server_id = :serverId and other_uuid = :uuid`,
);

/** Writes down who the BMC of a server is that was proved to be its own; null: it has no UUID. */
export async function keepIdentity(tx: TxContext, serverId: number, uuid: string | null): Promise<void> {
  await tx.db.run(keep, { serverId, uuid: uuid ?? '', now: tx.clock.now() });
}

/**
 * Staff says that the BMC which answers now is the server's: it or the mainboard was replaced. `uuid` is the one that staff has looked at. `conflict` where none
 * answers but the one before, or another one by now.
 */
export async function acceptOtherBmc(ctx: Context, id: number, { uuid }: { uuid: string }) {
  return transaction(ctx, 'fleet.acceptOtherBmc', async (tx) => {
    const server = await requireServer(tx, id);
    requireAction('accept_bmc', server);
    const { name, bmc } = server;
    if ((await tx.db.run(accept, { serverId: id, uuid, now: tx.clock.now() })) === 0)
      throw fail('conflict', {
        message: `The BMC that answers for ${name} is another one by now: look again`,
      });
    const data = { name, before: bmc?.uuid || null, uuid: uuid || null };
    await record(tx, serverBmcAccepted, { ...about(id), data });
    await askNow(tx, id);
    return readServer(tx, id);
  });
}
