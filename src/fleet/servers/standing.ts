import { record } from '../../events/index.ts';
import {
  type Context,
  findLastRestore,
  statement,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { closeAllOf } from '../assignments/open.ts';
import { serverOutOfOrder, serverQuarantined, serverReleased, serverRetired } from '../events.ts';
import { keepBmc } from './bmc.ts';
import { usesNone } from './mayBeOn.ts';
import { forceOff } from './power.ts';
import { setServerAside } from './rent.ts';
import type { ServerRow } from './rows.ts';
import { about, readServer, requireServer } from './staff.ts';
import { requireAction, type ServerState } from './states.ts';

const writeState = statement<never, { id: number; state: ServerState; reason: string | null; now: Date }>(
  'fleet.writeServerState',
  'update servers set state = :state, reason = :reason, state_since = :now, differences = null, out_of_order = null where id = :id',
);
const writeOutOfOrder = statement<never, { id: number; reason: string | null }>(
  'fleet.writeOutOfOrder',
  'update servers set out_of_order = :reason::text where id = :id',
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
 * nothing is at work any more is taken from it, and switched off: its addresses rest once it is off. One that a service was to move to is taken from that as well,
 * which stays where it is then. One that a customer has stays theirs and as it is, and they read that it is out of order, until it is released or its service has
 * another one.
 */
export async function quarantineServer(ctx: Context, id: number, { reason }: { reason: string }) {
  return transaction(ctx, 'fleet.quarantineServer', async (tx) => {
    const server = await requireServer(tx, id);
    requireAction('quarantine', server);
    const { name } = server;
    if (server.state === 'rented' && server.at_work === 'customer') {
      await tx.db.run(writeOutOfOrder, { id, reason });
      const data = { name, reason, service_id: server.service_id ?? 0 };
      await record(tx, serverOutOfOrder, { ...about(id), data });
      return readServer(tx, id);
    }
    if ((server.service_id ?? server.move_service_id) !== null) {
      await closeAllOf(tx, id);
      // Of one that a service moves to nothing was heard since it began to be installed.
      const isOff =
        server.bmc?.power === 'off' && !(server.state === 'held' && server.move_service_id !== null);
      await setServerAside(tx, id, isOff ? reason : `${reason}; ${mayStillRun}`, { by: 'staff' });
      if (!isOff && !(await isOfBackup(tx, server))) await forceOff(tx, server);
      return readServer(tx, id);
    }
    await write(tx, id, 'quarantined', reason);
    await record(tx, serverQuarantined, {
      ...about(id),
      data: { name, reason, service_id: null, by: 'staff' },
    });
    return readServer(tx, id);
  });
}

const mayStillRun =
  'it may still run with the addresses that it had, which nobody gets before its BMC says that it is off: pull its power';

/** Nobody but a person switches a server that is a service's as of a backup: it may be somebody else's since. */
async function isOfBackup(tx: TxContext, { state_since: since }: ServerRow): Promise<boolean> {
  const restore = await findLastRestore(tx);
  return restore !== null && since <= restore.restored_at;
}

/** Ends what keeps a server out: it waits to be accepted as one that is new, and one that was out of order under its customer can be used again. `conflict` when nothing does. */
export async function releaseServer(ctx: Context, id: number) {
  return transaction(ctx, 'fleet.releaseServer', async (tx) => {
    const server = await requireServer(tx, id);
    requireAction('release', server);
    const { name, state: before, service_id: serviceId } = server;
    if (before === 'rented') await tx.db.run(writeOutOfOrder, { id, reason: null });
    else await write(tx, id, 'waiting', null);
    await record(tx, serverReleased, { ...about(id), data: { name, before, service_id: serviceId } });
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
    await usesNone(tx, id);
    await tx.db.run(unplugAll, { id });
    await record(tx, serverRetired, { ...about(id), data: { name: server.name, reason } });
    return readServer(tx, id);
  });
}

async function write(tx: TxContext, id: number, state: ServerState, reason: string | null): Promise<void> {
  await tx.db.run(writeState, { id, state, reason, now: tx.clock.now() });
}
