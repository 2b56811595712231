import { type Bmc, BmcError, type ServerPower } from '../../drivers/bmc/index.ts';
import { record } from '../../events/index.ts';
import {
  type Context,
  enqueue,
  type Failure,
  type Run,
  saga,
  statement,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { serverPowerAsked, serverPowerChanged, serverPowerFailed } from '../events.ts';
import { bmcConnection, hear, placeOf } from './life.ts';
import type { ServerRow } from './rows.ts';
import { about, readServer, requireServer } from './staff.ts';
import { type PowerAction, requireAction } from './states.ts';

interface Payload {
  serverId: number;
  action: PowerAction;
  force: boolean;
}

interface State {
  /** Whom it was asked of, as {@link placeOf} says it. */
  at: string;
  power: ServerPower;
}

/** A system may have much to write down before it goes off. */
const buttonMs = 120_000;

const begin = statement<never, { serverId: number; action: PowerAction; now: Date }>(
  'fleet.beginServerPower',
  `update server_bmcs set power_action = :action, power_action_since = :now, power_problem = null where server_id = :serverId`,
);
const end = statement<{ name: string }, { serverId: number; problem: string | null }>(
  'fleet.endServerPower',
  `update server_bmcs b set power_action = null, power_action_since = null, power_problem = :problem
   from servers s where b.server_id = :serverId and s.id = b.server_id returning s.name`,
);

/**
 * Has a server's BMC switch it on, or off, or off and on. Without `force` its power button is pressed, and its system has two minutes to
 * follow; with it the power goes at once. `conflict` where it has no BMC or the product itself is at work on it, `locked` while it is switched.
 */
export async function switchServer(ctx: Context, id: number, action: PowerAction, force = false) {
  return transaction(ctx, 'fleet.switchServer', async (tx) => {
    const server = await requireServer(tx, id);
    requireAction(action, server);
    await ask(tx, server, action, force);
    return readServer(tx, id);
  });
}

/** Takes the power of a server that its caller has locked, where its BMC can be asked and nobody else switches it. */
export async function forceOff(tx: TxContext, server: Pick<ServerRow, 'id' | 'name' | 'bmc'>): Promise<void> {
  if (server.bmc !== null && server.bmc.action === null) await ask(tx, server, 'stop', true);
}

async function ask(
  tx: TxContext,
  { id, name }: Pick<ServerRow, 'id' | 'name'>,
  action: PowerAction,
  force: boolean,
): Promise<void> {
  await tx.db.run(begin, { serverId: id, action, now: tx.clock.now() });
  await enqueue(tx, switchingServer, { serverId: id, action, force }, { organizationId: null });
  await record(tx, serverPowerAsked, { ...about(id), data: { name, action, force } });
}

/** Switches a server. The power that is read back decides, not what its BMC answers. */
export const switchingServer = saga<Payload, State>({
  name: 'fleet.switchServer',
  queue: 'machine',
  steps: [
    {
      name: 'off',
      attempts: 1, // whoever presses the button of a system that is busy going off twice may mean something else by it
      do: async (run) => {
        const { action, force } = run.payload;
        requireNotHeld(run);
        if (action === 'start' || (action === 'restart' && force)) return {};
        const power = 'off' as const;
        return { at: await atBmc(run, (bmc) => takeDown(bmc, force)), power };
      },
    },
    {
      name: 'on',
      attempts: 1,
      do: async (run) => {
        const { action, force } = run.payload;
        requireNotHeld(run);
        if (action === 'stop') return {};
        const power = 'on' as const;
        const isCycle = action === 'restart' && force;
        return { at: await atBmc(run, (bmc) => (isCycle ? bmc.powerCycle() : bmc.powerOn())), power };
      },
    },
  ],
  succeeded: async (tx, { serverId, action }, { at, power }) => {
    const ended = await tx.db.maybe(end, { serverId, problem: null });
    if (ended === null || at === undefined || power === undefined) return; // forgotten meanwhile
    await hear(tx, serverId, at, { power });
    await record(tx, serverPowerChanged, { ...about(serverId), data: { name: ended.name, action, power } });
  },
  failed: async (tx, payload, failure) => {
    // It was ended at the server when it was held, and somebody may have asked for another since.
    if (failure.code !== restoredSince) await endFailed(tx, payload, failure);
    return 'unwanted'; // whoever asked reads at the server what came of it
  },
  stuck: endFailed,
});

const restoredSince = 'restored_since';

/** Whoever asked did so before the backup that was restored: the server may be another's since, and is switched by whoever asks anew. */
function requireNotHeld({ isHeld }: Run<Payload, State>): void {
  if (!isHeld) return;
  const message = 'this was asked for before the database was restored: ask anew where it is still wanted';
  throw Object.assign(new Error(message), { code: restoredSince, permanent: true, unwanted: true });
}

function takeDown(bmc: Bmc, force: boolean): Promise<void> {
  return force ? bmc.powerOff() : bmc.shutDown({ timeoutMs: buttonMs });
}

/** Somebody waits to see what comes of it: a BMC that is silent ends it in words, and is not waited for. */
async function atBmc({ ctx, drivers, payload }: Run<Payload, State>, work: (bmc: Bmc) => Promise<void>) {
  const connection = await bmcConnection(ctx, payload.serverId);
  if (connection === null) throw ended('bmc_forgotten', 'nobody says any more how its BMC is reached');
  const bmc = drivers.bmc(connection);
  try {
    await work(bmc);
    return placeOf(connection);
  } catch (error) {
    if (error instanceof BmcError && error.waits) throw ended(error.code, error.message, error);
    throw error;
  } finally {
    await bmc.close();
  }
}

function ended(code: string, message: string, cause?: Error): Error {
  return Object.assign(new Error(message, { cause }), { code, permanent: true });
}

async function endFailed(tx: TxContext, { serverId, action }: Payload, { code, message }: Failure) {
  const problem = code === 'shutdown_timeout' ? `${message}; with force its power is taken away` : message;
  const written = await tx.db.maybe(end, { serverId, problem });
  if (written === null) return;
  await record(tx, serverPowerFailed, {
    ...about(serverId),
    data: { name: written.name, action, code, problem },
  });
}
