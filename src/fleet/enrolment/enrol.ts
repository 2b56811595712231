import { type Bmc, type BmcConnection, BmcError } from '../../drivers/bmc/index.ts';
import { record } from '../../events/index.ts';
import {
  AppError,
  type Context,
  type Drivers,
  type Failure,
  saga,
  statement,
  type TxContext,
} from '../../platform/index.ts';
import { atWork } from '../assignments/atHand.ts';
import { findDifferences, keepObserved } from '../baselines/keep.ts';
import { mayBeInsecure, observedOf, type SeenBmc, seeBmc, usersBesides } from '../baselines/observe.ts';
import { machineNotEnrolled, serverEnrolled, serverQuarantined } from '../events.ts';
import { keepBmc, type NewBmc, otherAtBmc } from '../servers/bmc.ts';
import { keepIdentity } from '../servers/otherBmc.ts';
import { sendBackUnwiped } from '../servers/rent.ts';
import { requireServer } from '../servers/staff.ts';
import { about, leaveToNewest, requireArrival } from './arrivals.ts';
import { keepMeasured } from './measured.ts';
import { readNonce } from './readNonce.ts';
import { openBmc, sealBmc } from './sealedBmc.ts';
import { endStart, proveStart } from './starts.ts';

interface Payload {
  arrivalId: number;
  serverId: number;
}

interface State {
  /** Null: it needs none, or has one. */
  certificate: string | null;
  isProved: true;
  /** How its BMC was found. */
  seen: SeenBmc;
}

interface Under {
  state: string;
  start_id: number | null;
  mac: string;
  nonce: string | null;
  bmc: Buffer | null;
  bmc_inside: 'wanted' | 'set' | null;
  problem: string | null;
  decided_at: Date;
}

/** The installer asks every two seconds; whatever BMC it speaks to has answered by then. */
const insideMs = 5 * 60_000;
/** It prints its nonce every two seconds. */
const proofMs = 30_000;

const under = statement<Under, { id: number }>(
  'fleet.arrivalUnderWay',
  `select a.state, a.start_id, a.mac::text as mac, s.nonce, a.bmc, a.bmc_inside, a.problem, a.decided_at
   from server_arrivals a left join server_starts s on s.id = a.start_id where a.id = :id`,
);
const enrolled = statement<never, { id: number }>(
  'fleet.enrolArrival',
  `update server_arrivals set state = 'enrolled', start_id = null, bmc = null, bmc_inside = null, problem = null where id = :id`,
);
const ready = statement<never, { id: number; now: Date }>(
  'fleet.readyServer',
  // What is in the rescue system, or on its way there, is nothing to be sold.
  `update servers s set state = 'ready', reason = null, state_since = :now where id = :id and state = 'waiting' and customer_work is null
     and not exists (select from server_assignments g where g.server_id = s.id and g.state in ('open', 'working'))`,
);
const pin = statement<never, { id: number; bmc: Buffer }>(
  'fleet.pinBmcOfArrival',
  `update server_arrivals set bmc = :bmc where id = :id and state = 'accepted'`,
);
const keepOut = statement<never, { id: number; reason: string; differences: string; now: Date }>(
  'fleet.keepOutEnrolled',
  `update servers set state = 'quarantined', reason = :reason, differences = :differences::jsonb, state_since = :now where id = :id`,
);
const putBack = statement<{ serial: string }, { id: number; problem: string; isHeld: boolean }>(
  'fleet.putBackArrival',
  `update server_arrivals set state = 'waiting', bmc = case when :isHeld then bmc end, bmc_inside = null, problem = :problem where id = :id and state = 'accepted'
   returning serial`,
);

/**
 * Makes a machine that staff accepted a server that is ready: its BMC has our account, it is the machine behind that BMC, nobody else is let in
 * there, and it is off. Its disks are as they were; those to which something was written for a customer before are wiped next. One that differs from the baseline of its profile is a server in quarantine instead.
 */
export const enrolment = saga<Payload, State>({
  name: 'fleet.enrol',
  queue: 'racks',
  steps: [
    {
      name: 'inside',
      do: async (run) => {
        requireNotHeld(run);
        await waitForInstaller(run.ctx, run.payload.arrivalId);
      },
    },
    {
      // Before our password is told to whoever answers there. What the machine prints is read through the one that presented it.
      name: 'certificate',
      attempts: 3,
      do: async ({ ctx, drivers, payload, isHeld }) => {
        requireNotHeld({ isHeld });
        const { bmc } = await requireUnder(ctx, payload.arrivalId);
        const reached = bmc === null ? null : openBmc(ctx, payload.arrivalId, bmc);
        if (reached?.kind !== 'redfish' || reached.certificate) return { certificate: null };
        const { address, port } = reached;
        return { certificate: await answered(() => drivers.bmcCertificate(address, port ?? undefined)) };
      },
      recorded: async (tx, { arrivalId }, { certificate = null }) => {
        const { bmc } = await tx.db.one(under, { id: arrivalId });
        if (certificate === null || bmc === null) return;
        const pinned = sealBmc(tx, arrivalId, { ...openBmc(tx, arrivalId, bmc), certificate });
        await tx.db.run(pin, { id: arrivalId, bmc: pinned });
      },
    },
    {
      name: 'proof',
      attempts: 3,
      do: async ({ ctx, drivers, payload, signal, isHeld }) => {
        requireNotHeld({ isHeld });
        await refuseAnothers(ctx, payload);
        await withBmc(ctx, drivers, payload.arrivalId, async (bmc, { nonce }) => {
          if ((await bmc.readPower()) !== 'on') throw notProved('its BMC says that the server is off');
          if (
            (await readNonce(bmc, async (read) => (read === nonce ? read : null), {
              withinMs: proofMs,
              signal,
            })) === null
          )
            throw notProved('what it should have printed on its serial line was not read there');
        });
        return { isProved: true };
      },
      recorded: async (tx, { arrivalId }) => {
        const row = await tx.db.one(under, { id: arrivalId });
        if (row.start_id !== null) await proveStart(tx, row.start_id, row.mac);
      },
    },
    {
      name: 'security',
      attempts: 3,
      do: async ({ ctx, drivers, payload, isHeld }) => {
        requireNotHeld({ isHeld });
        return withBmc(ctx, drivers, payload.arrivalId, async (bmc, { user, address }) => {
          const users = usersBesides(await bmc.listAccounts(), user);
          const { seen, findings } = await seeBmc(bmc);
          const found = { seen: { ...seen, users } };
          if (findings.length === 0) return found;
          const words = findings.map((finding) => finding.message).join(' ');
          if (!mayBeInsecure(ctx.config, address)) throw refused('insecure_bmc', words);
          ctx.log.warn(
            { arrival: payload.arrivalId, findings: words },
            'a server is enrolled with an insecure BMC',
          );
          return found;
        });
      },
    },
    {
      name: 'off',
      do: async ({ ctx, drivers, payload, isHeld }) => {
        requireNotHeld({ isHeld });
        await withBmc(ctx, drivers, payload.arrivalId, (bmc) => bmc.powerOff());
      },
    },
    {
      name: 'ready',
      transactional: true,
      do: async ({ ctx, payload: { arrivalId, serverId }, state: { seen = null }, isHeld }) => {
        requireNotHeld({ isHeld });
        await end(ctx, arrivalId, serverId, seen);
      },
    },
  ],
  failed: async (tx, { arrivalId }, failure) => {
    // The machine waits since it was held, or was accepted anew, and is another job's then.
    if (failure.code === restoredSince) return 'unwanted';
    await endFailed(tx, arrivalId, failure);
    return undefined;
  },
  // It can be accepted anew, and this is not gone on with then.
  stuck: (tx, { arrivalId }, failure) => endFailed(tx, arrivalId, failure),
});

const restoredSince = 'restored_since';

/** Since the restore that holds it the machine waits, and may have been accepted anew with another BMC, which nothing of this has proved. */
function requireNotHeld({ isHeld }: { isHeld: boolean }): void {
  if (!isHeld) return;
  const message = 'this was begun before the database was restored: the machine is accepted anew';
  throw Object.assign(new Error(message), { code: restoredSince, permanent: true, unwanted: true });
}

/** Until the machine has set our password from inside, where it is to. */
async function waitForInstaller(ctx: Context, id: number): Promise<void> {
  const row = await requireUnder(ctx, id);
  if (row.bmc_inside !== 'wanted') return;
  if (row.problem !== null) throw refused('bmc_refused', `The BMC did not take our account: ${row.problem}`);
  if (ctx.clock.now().getTime() - row.decided_at.getTime() > insideMs)
    throw refused(
      'installer_silent',
      'The machine was not heard of while it was to set the password of its BMC',
    );
  throw atWork('the machine has not set the password of its BMC yet');
}

async function withBmc<T>(
  ctx: Context,
  drivers: Drivers,
  id: number,
  work: (bmc: Bmc, row: { nonce: string; user: string; address: string }) => Promise<T>,
): Promise<T> {
  const { bmc: sealed, nonce } = await requireUnder(ctx, id);
  if (sealed === null || nonce === null) throw notProved('the machine has started anew meanwhile');
  const connection = connectionOf(openBmc(ctx, id, sealed));
  const bmc = drivers.bmc(connection);
  try {
    return await answered(() => work(bmc, { nonce, user: connection.user, address: connection.address }));
  } finally {
    await bmc.close();
  }
}

/** One that answers nobody while it is enrolled is a wrong address, and nobody waits for that for days. */
async function answered<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof BmcError && error.waits) throw refused(error.code, error.message, false);
    throw error;
  }
}

/** It may say another address by now than when it was accepted. */
async function refuseAnothers(ctx: Context, { arrivalId, serverId }: Payload): Promise<void> {
  const { bmc: sealed } = await requireUnder(ctx, arrivalId);
  if (sealed === null) return;
  const { address, port = null } = openBmc(ctx, arrivalId, sealed);
  const other = await otherAtBmc(ctx, serverId, { address, port });
  if (other !== null) throw notProved(`the BMC at ${address} is that of ${other}`);
}

async function requireUnder(ctx: Context, id: number): Promise<Under> {
  const row = await ctx.db.one(under, { id });
  if (row.state !== 'accepted') throw Object.assign(new Error('it is enrolled no more'), { unwanted: true });
  return row;
}

function notProved(why: string): Error {
  return refused('not_proved', `It is not shown that the machine is the one behind this BMC: ${why}`);
}

function refused(code: string, message: string, permanent = true): Error {
  return Object.assign(new Error(message), { code, permanent });
}

function connectionOf({ port, certificate, ...bmc }: NewBmc): BmcConnection {
  return { ...bmc, ...(port != null && { port }), ...(certificate != null && { certificate }) };
}

async function end(tx: TxContext, id: number, serverId: number, seen: SeenBmc | null): Promise<void> {
  const machine = await requireArrival(tx, id);
  const row = await requireUnder(tx, id);
  if (row.bmc === null) throw notProved('the machine has started anew meanwhile');
  // First whether it is still wanted: staff may have put the server away meanwhile, and then nothing of this is written down.
  const { name, state } = await requireServer(tx, serverId);
  if ((await tx.db.run(ready, { id: serverId, now: tx.clock.now() })) === 0)
    throw refused('conflict', `${name} is ${state} meanwhile, and only one that waits is enrolled`);
  try {
    await keepMeasured(tx, serverId, machine);
    await keepBmc(tx, serverId, openBmc(tx, id, row.bmc));
    if (seen?.uuid !== undefined) await keepIdentity(tx, serverId, seen.uuid);
  } catch (error) {
    // Another has it by now: no other try changes that, only staff does.
    if (error instanceof AppError && error.code === 'conflict') throw refused(error.code, error.message);
    throw error;
  }
  await tx.db.run(enrolled, { id });
  if (row.start_id !== null) await endStart(tx, row.start_id);
  const aboutServer = { subject: { type: 'server', id: serverId }, organizationId: null };
  // What is found of it is compared once it is wiped.
  if (await sendBackUnwiped(tx, serverId))
    return record(tx, serverEnrolled, { ...aboutServer, data: { name } });
  // By the profile that it fits as it was measured just now.
  const observed = observedOf(machine.inventory, seen);
  const differing = await findDifferences(tx, serverId, observed);
  await keepObserved(tx, serverId, observed);
  if (differing === null) return record(tx, serverEnrolled, { ...aboutServer, data: { name } });
  const { reason, differences } = differing;
  const now = tx.clock.now();
  await tx.db.run(keepOut, { id: serverId, reason, differences: JSON.stringify(differences), now });
  await record(tx, serverQuarantined, {
    ...aboutServer,
    data: { name, reason, differences, service_id: null, by: 'product' },
  });
}

/** It waits again, and staff sees why; whatever password its BMC has by now is nobody's. Held after a restore it is kept: no other copy may be left of it. */
async function endFailed(tx: TxContext, id: number, { code, message }: Failure): Promise<void> {
  const row = await tx.db.maybe(putBack, { id, problem: message, isHeld: code === 'held' });
  if (row === null) return;
  await record(tx, machineNotEnrolled, { ...about(id), data: { serial: row.serial, problem: message } });
  await leaveToNewest(tx);
}
