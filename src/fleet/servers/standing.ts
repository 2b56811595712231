import { record } from '../../events/index.ts';
import { type Context, statement, type TxContext, transaction } from '../../platform/index.ts';
import { closeAllOf } from '../assignments/open.ts';
import { serverQuarantined, serverReleased, serverRetired } from '../events.ts';
import { keepBmc } from './bmc.ts';
import { setServerAside } from './rent.ts';
import { about, readServer, requireServer } from './staff.ts';
import { requireAction, type ServerState } from './states.ts';

const writeState = statement<never, { id: number; state: ServerState; reason: string | null; now: Date }>(
  'fleet.writeServerState',
  'update servers set state = :state, reason = :reason, state_since = :now where id = :id',
);
const leaveRack = statement<never, { id: number }>(
  'fleet.leaveRack',
  'update servers set rack_id = null, unit = null where id = :id',
);

const unplugAll = statement<never, { id: number }>(
  'fleet.unplugServer',
  'update server_ports set switch_id = null, switch_port = null where server_id = :id',
);

/**
 * Keeps a server out of stock, and says why. `conflict` while an order or a customer has it, or a job is about to change that. One of a service for which
 * nothing is at work any more is taken from it: `server.quarantined` names that service.
 */
export async function quarantineServer(ctx: Context, id: number, { reason }: { reason: string }) {
  return transaction(ctx, 'fleet.quarantineServer', async (tx) => {
    const server = await requireServer(tx, id);
    requireAction('quarantine', server);
    const { name, service_id: serviceId } = server;
    if (serviceId !== null) {
      await closeAllOf(tx, id);
      await setServerAside(tx, id, reason, 'quarantined', 'staff');
      return readServer(tx, id);
    }
    await write(tx, id, 'quarantined', reason);
    await record(tx, serverQuarantined, { ...about(id), data: { name, reason, service_id: null } });
    return readServer(tx, id);
  });
}

/** Ends what keeps a server out: it waits to be accepted as one that is new. `conflict` when nothing does. */
export async function releaseServer(ctx: Context, id: number) {
  return transaction(ctx, 'fleet.releaseServer', async (tx) => {
    const server = await requireServer(tx, id);
    requireAction('release', server);
    await write(tx, id, 'waiting', null);
    await record(tx, serverReleased, { ...about(id), data: { name: server.name, before: server.state } });
    return readServer(tx, id);
  });
}

/** Takes a server out of its rack for good: its place is free, and how its BMC was reached is forgotten. `conflict` as above. */
export async function retireServer(ctx: Context, id: number, { reason = null }: { reason?: string | null }) {
  return transaction(ctx, 'fleet.retireServer', async (tx) => {
    const server = await requireServer(tx, id);
    requireAction('retire', server);
    await write(tx, id, 'retired', reason);
    await tx.db.run(leaveRack, { id });
    await keepBmc(tx, id, null);
    await tx.db.run(unplugAll, { id });
    await record(tx, serverRetired, { ...about(id), data: { name: server.name, reason } });
    return readServer(tx, id);
  });
}

async function write(tx: TxContext, id: number, state: ServerState, reason: string | null): Promise<void> {
  await tx.db.run(writeState, { id, state, reason, now: tx.clock.now() });
}
