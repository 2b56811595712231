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
import { keepBmcPassword, laterPassword } from './password.ts';

export { placeNow, placeOf } from './bmc.ts';

interface Payload {
  serverId: number;
}

interface State {
  /** Whom it was asked at: what another one said says nothing. */
  at: string;
  /** `isSilent`: nobody answered at all. */
  found: { power: ServerPower } | { problem: string; isSilent: boolean };
}

/** Each is asked this often, so that a login that stops working is noticed within the hour, and a silent one much sooner. */
const askEveryMs = 300_000;
const askTimeoutMs = 8_000;

const bmcOf = statement<Omit<Reached, 'user'> & { username: string; password: Buffer }, { serverId: number }>(
  'fleet.bmcOfServer',
  `select kind, host(address) as address, port, username, certificate, password from server_bmcs where server_id = :serverId`,
);

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
  return { kind, address, user, password, certificate, ...(port !== null && { port }) };
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
          return { at, found: { power: await askPower({ ctx, drivers }, serverId, connection) } };
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
    now: Date;
  }
>(
  'fleet.hearBmc',
  `update server_bmcs b set power = coalesce(:power, b.power), problem = :problem, is_silent = :isSilent, asked_at = :now,
     heard_at = case when :problem::text is null then :now else b.heard_at end,
     problem_since = case when :problem::text is null then null else coalesce(b.problem_since, :now) end
   from (select server_id, problem from server_bmcs where server_id = :serverId for no key update) o, servers s
   where b.server_id = o.server_id and s.id = b.server_id and ${placeNow} = :at
   returning s.name, o.problem as before`,
);

/** Writes down what was heard of a server's BMC, unless it is another one by now. */
export async function hear(
  tx: TxContext,
  serverId: number,
  at: string,
  found: State['found'],
): Promise<void> {
  const { power, problem, isSilent } =
    'problem' in found ? { ...found, power: null } : { ...found, problem: null, isSilent: false };
  const written = await tx.db.maybe(write, { serverId, at, power, problem, isSilent, now: tx.clock.now() });
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
