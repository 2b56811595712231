import { type BmcConnection, BmcError, type ServerPower } from '../../drivers/bmc/index.ts';
import { record } from '../../events/index.ts';
import {
  type Context,
  type Drivers,
  enqueue,
  isJobUnfinishedAbout,
  type PeriodicJob,
  saga,
  statement,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { serverBmcBack, serverBmcLost } from '../events.ts';
import { openBmcPassword, placeNow, placeOf, type Reached } from './bmc.ts';
import { usesNone } from './mayBeOn.ts';
import { keepBmcPassword, laterPassword } from './password.ts';

export { placeNow, placeOf } from './bmc.ts';

interface Payload {
  serverId: number;
}

interface State {
  /** Whom it was asked at: what another one said says nothing. */
  at: string;
  /** `isSilent`: nobody answered at all. */
  found: Found;
}

/** `uuid`: who it is, empty where it has none; absent: it was not asked that. `otherUuid`: of another one that answers instead. */
type Found =
  | { power: ServerPower; uuid?: string }
  | { problem: string; isSilent: boolean; otherUuid?: string };

/** Each is asked this often, so that a login that stops working is noticed within the hour, and a silent one much sooner. */
const askEveryMs = 300_000;
const askTimeoutMs = 8_000;

/** So often it is asked who it is, and whenever something was wrong with it before. */
const identifyEveryMs = 3_600_000;
/** Its inventory of parts, which some read slowly, comes along. */
const identifyTimeoutMs = 20_000;

const bmcOf = statement<
  Omit<Reached, 'user'> & { username: string; password: Buffer; uuid: string | null },
  { serverId: number }
>(
  'fleet.bmcOfServer',
  `select kind, host(address) as address, port, username, certificate, password, uuid from server_bmcs where server_id = :serverId`,
);
const knownIdentity = statement<
  { uuid: string | null; identified_at: Date | null; problem: string | null },
  { serverId: number }
>('fleet.identityOfBmc', 'select uuid, identified_at, problem from server_bmcs where server_id = :serverId');

/** Codes of a BMC that knows no power button, or whose server does not follow it: its power can be taken all the same. */
export const deafToButton: ReadonlySet<string> = new Set([
  'shutdown_timeout',
  'bmc_refused',
  'nothing_happened',
]);

/** How a server's BMC is spoken to, password and all: for the driver alone. Null: nobody said how. */
export async function bmcConnection(ctx: Context, serverId: number): Promise<BmcConnection | null> {
  const row = await ctx.db.maybe(bmcOf, { serverId });
  if (row === null) return null;
  const { kind, address, port, username: user, certificate } = row;
  const password = openBmcPassword(ctx, serverId, row.password);
  // Nothing is changed where another one answers.
  const uuid = row.uuid || null;
  return { kind, address, user, password, certificate, uuid, ...(port !== null && { port }) };
}

/** Asks a server's BMC whether its power is on: the sign of life. Nothing is changed. */
export const askingBmc = saga<Payload, State>({
  name: 'fleet.askBmc',
  queue: 'racks',
  steps: [
    {
      name: 'ask',
      do: async ({ ctx, drivers, payload: { serverId } }) => {
        const connection = await bmcConnection(ctx, serverId);
        if (connection === null) return {}; // forgotten meanwhile
        const at = placeOf(connection);
        try {
          return { at, found: await askBmc({ ctx, drivers }, serverId, connection) };
        } catch (error) {
          // One that is not heard of is what was found, and no failure of the question.
          if (!isOfBmc(error)) throw error;
          // Its readings are being taken: that it had no time says nothing of it, and a minute later it is asked again.
          if (!error.wasAsked) return {};
          return { at, found: { problem: error.message, isSilent: error.waits } };
        }
      },
    },
  ],
  succeeded: async (tx, { serverId }, { at, found }) => {
    if (at !== undefined && found !== undefined) await hear(tx, serverId, at, found);
  },
});

/** Its power, and now and then who it is. */
async function askBmc(
  at: { ctx: Context; drivers: Drivers },
  serverId: number,
  connection: BmcConnection,
): Promise<Found> {
  const power = await askPower(at, serverId, connection);
  const known = await at.ctx.db.maybe(knownIdentity, { serverId });
  const askedMs = known?.identified_at?.getTime() ?? Number.NEGATIVE_INFINITY;
  const isDue = known?.problem !== null || at.ctx.clock.now().getTime() - askedMs >= identifyEveryMs;
  if (!isDue) return { power };
  const uuid = await whoAnswers(at, serverId);
  if (uuid === null) return { power };
  if (!known?.uuid || known.uuid === uuid) return { power, uuid };
  const { address } = connection;
  const problem = `another BMC answers at ${address}: ${uuid || 'it has no UUID'}, not ${known.uuid}. Nothing is switched there: when the BMC or the mainboard of the server was replaced, accept it, and otherwise look who has its address`;
  return { problem, isSilent: false, otherUuid: uuid };
}

/** Its UUID, empty where it has none; null where it does not say at the moment: it is asked again with the next sign of life. */
async function whoAnswers(
  { ctx, drivers }: { ctx: Context; drivers: Drivers },
  serverId: number,
): Promise<string | null> {
  // Its password may have been found meanwhile.
  const connection = await bmcConnection(ctx, serverId);
  if (connection === null) return null;
  const bmc = drivers.bmc(connection);
  try {
    return (await bmc.identify({ timeoutMs: identifyTimeoutMs })).uuid ?? '';
  } catch (error) {
    if (!isOfBmc(error)) throw error;
    return null;
  } finally {
    await bmc.close();
  }
}

/** A BMC may have a password that we made and do not know to be its own, as after a restore of the database: it is found, and kept. */
async function askPower(
  { ctx, drivers }: { ctx: Context; drivers: Drivers },
  serverId: number,
  connection: BmcConnection,
): Promise<ServerPower> {
  const bmc = drivers.bmc(connection);
  try {
    return await bmc.readPower({ timeoutMs: askTimeoutMs });
  } catch (error) {
    const isRefused = isOfBmc(error) && error.code === 'sign_in_refused';
    const later = isRefused ? await laterPassword(ctx, bmc, serverId, connection, error.message) : null;
    if (later === null) throw error;
    await transaction(ctx, 'fleet.keepLaterPassword', (tx) =>
      keepBmcPassword(tx, serverId, placeOf(connection), later.no),
    );
    const again = drivers.bmc({ ...connection, password: later.password });
    try {
      return await again.readPower({ timeoutMs: askTimeoutMs });
    } finally {
      await again.close();
    }
  } finally {
    await bmc.close();
  }
}

/** Whether it is what a BMC answers or fails to, in distinction to a fault of ours. */
export function isOfBmc(error: unknown): error is BmcError {
  return error instanceof BmcError;
}

const write = statement<
  { name: string; before: string | null },
  {
    serverId: number;
    at: string;
    power: ServerPower | null;
    problem: string | null;
    isSilent: boolean;
    uuid: string | null;
    otherUuid: string | null;
    now: Date;
  }
>(
  'fleet.hearBmc',
  `update server_bmcs b set power = coalesce(:power, b.power), problem = :problem, is_silent = :isSilent, asked_at = :now,
     heard_at = case when :problem::text is null then :now else b.heard_at end,
     problem_since = case when :problem::text is null then null else coalesce(b.problem_since, :now) end,
     uuid = coalesce(nullif(b.uuid, ''), :uuid::text, b.uuid), other_uuid = case
       when :otherUuid::text is not null then :otherUuid::text when :uuid::text is not null then null else b.other_uuid end,
     identified_at = case when :uuid::text is not null or :otherUuid::text is not null then :now else b.identified_at end
   from (select server_id, problem from server_bmcs where server_id = :serverId for no key update) o, servers s
   where b.server_id = o.server_id and s.id = b.server_id and ${placeNow} = :at
   returning s.name, o.problem as before`,
);

/** Writes down what was heard of a server's BMC, unless it is another one by now. */
export async function hear(tx: TxContext, serverId: number, at: string, found: Found): Promise<void> {
  const {
    power,
    problem,
    isSilent,
    uuid = null,
    otherUuid = null,
  } = 'problem' in found
    ? { ...found, power: null, uuid: null }
    : { ...found, problem: null, isSilent: false, otherUuid: null };
  const said = { serverId, at, power, problem, isSilent, uuid, otherUuid };
  const written = await tx.db.maybe(write, { ...said, now: tx.clock.now() });
  if (power === 'off' && written !== null) await usesNone(tx, serverId);
  if (written === null || (written.before === null) === (problem === null)) return;
  const about = { subject: { type: 'server', id: serverId }, organizationId: null };
  if (problem === null) await record(tx, serverBmcBack, { ...about, data: { name: written.name } });
  else await record(tx, serverBmcLost, { ...about, data: { name: written.name, problem } });
}

/** A little early, so that turns of a minute do not make six of five. */
const dueAfterMs = askEveryMs - 10_000;

const next = statement<{ at: Date | null }, { now: Date }>(
  'fleet.nextBmc',
  `select coalesce(asked_at + interval '${dueAfterMs} milliseconds', :now::timestamptz) as at
   from server_bmcs order by asked_at nulls first, server_id limit 1`,
);
const due = statement<{ server_id: number }, { before: Date }>(
  'fleet.dueBmcs',
  `select server_id from server_bmcs where power_action is null and (asked_at is null or asked_at <= :before)
   order by asked_at nulls first, server_id limit 1000`,
);

/** Asks the BMC of every server for a sign of life every five minutes. */
export const askingBmcsPeriodicJob: PeriodicJob = {
  name: 'fleet.askBmcs',
  intervalMs: 60_000,
  due: next,
  work: async (tx) => {
    const before = new Date(tx.clock.now().getTime() - dueAfterMs);
    for (const { server_id: serverId } of await tx.db.many(due, { before }))
      if (!(await isJobUnfinishedAbout(tx, askingBmc, { serverId })))
        await enqueue(tx, askingBmc, { serverId }, { organizationId: null });
  },
};
