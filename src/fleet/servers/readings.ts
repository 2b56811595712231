import type { BmcEvent, SensorReading } from '../../drivers/bmc/index.ts';
import { record } from '../../events/index.ts';
import {
  type Context,
  enqueue,
  isJobUnfinishedAbout,
  type PeriodicJob,
  saga,
  statement,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { noteLine } from '../consoles/noteLine.ts';
import { serverBmcRead } from '../events.ts';
import { bmcConnection, isOfBmc, placeNow, placeOf } from './life.ts';
import { about, requireServer } from './staff.ts';
import { requireAction } from './states.ts';

interface Payload {
  serverId: number;
  /** Whoever asked wants to know when it is done. */
  byStaff?: true;
}

/** An entry as a step keeps it: plain JSON. */
interface Noted extends Omit<BmcEvent, 'at'> {
  at: string | null;
}

interface State {
  at: string;
  found: { sensors: SensorReading[]; events: Noted[]; showsLine?: boolean } | { problem: string };
}

/** Reading takes seconds of a BMC, and half a minute of some. */
const readEveryMs = 900_000;
const eachTimeoutMs = 45_000;
/** Of sensors beyond their limits: staff reads a line. */
const mostNamed = 5;

export interface Readings {
  /** Null: it was never read. */
  read_at: Date | null;
  asked_at: Date | null;
  /** Why it could not be read when it was asked last. */
  problem: string | null;
  sensors: SensorReading[];
  events: (Omit<BmcEvent, 'at'> & { at: Date | null })[];
}

type ReadingsRow = Omit<Readings, 'events'> & { events: Noted[] };
const readingsOf = statement<ReadingsRow, { serverId: number }>(
  'fleet.serverReadings',
  'select read_at, asked_at, problem, sensors, events from server_readings where server_id = :serverId',
);

/** What a server's BMC measured and noted when it was read last; nothing where it never was. `not_found`. */
export async function readReadings(ctx: Context, id: number): Promise<{ readings: Readings }> {
  return transaction(ctx, 'fleet.readReadings', async (tx) => {
    await requireServer(tx, id);
    return { readings: await readingsNow(tx, id) };
  });
}

/** The same of a server that is known to be there. */
export async function readingsNow(ctx: Context, serverId: number): Promise<Readings> {
  const row = await ctx.db.maybe(readingsOf, { serverId });
  if (row === null) return { read_at: null, asked_at: null, problem: null, sensors: [], events: [] };
  const events = row.events.map((it) => ({ ...it, at: it.at === null ? null : new Date(it.at) }));
  return { ...row, events };
}

/** Has a server's BMC read once more; `server.bmc_read` says when that is done. `not_found`; `conflict` where it has none. */
export async function askForReadings(ctx: Context, id: number): Promise<{ readings: Readings }> {
  return transaction(ctx, 'fleet.askForReadings', async (tx) => {
    requireAction('read', await requireServer(tx, id));
    if (!(await isJobUnfinishedAbout(tx, readingBmc, { serverId: id, byStaff: true })))
      await enqueue(tx, readingBmc, { serverId: id, byStaff: true }, { organizationId: null });
    return { readings: await readingsNow(tx, id) };
  });
}

/** Reads what a server's BMC measures and what it has noted. Nothing is changed. */
export const readingBmc = saga<Payload, State>({
  name: 'fleet.readBmc',
  queue: 'racks',
  steps: [
    {
      name: 'read',
      do: async ({ ctx, drivers, payload: { serverId } }) => {
        const connection = await bmcConnection(ctx, serverId);
        if (connection === null) return {}; // forgotten meanwhile
        const at = placeOf(connection);
        try {
          const bmc = drivers.bmc(connection);
          try {
            const sensors = await bmc.readSensors({ timeoutMs: eachTimeoutMs });
            const events = await bmc.readEvents({ timeoutMs: eachTimeoutMs });
            const showsLine = await bmc.showsSerial({ timeoutMs: eachTimeoutMs });
            return { at, found: { sensors, events: events.map(plain), showsLine } };
          } finally {
            await bmc.close();
          }
        } catch (error) {
          // One that cannot be read is what was found, and no failure of the question.
          if (!isOfBmc(error)) throw error;
          return { at, found: { problem: error.message } };
        }
      },
    },
  ],
  succeeded: async (tx, { serverId, byStaff }, { at, found }) => {
    if (at === undefined || found === undefined) return;
    const name = await write(tx, serverId, at, found);
    if (name !== null && byStaff) await record(tx, serverBmcRead, { ...about(serverId), data: { name } });
  },
});

function plain({ at, ...event }: BmcEvent): Noted {
  return { ...event, at: at?.toISOString() ?? null };
}

// What another BMC said that stood there before says nothing of this one.
const writeReadings = statement<
  { name: string },
  { serverId: number; at: string; now: Date; sensors: string; events: string; critical: string | null }
>(
  'fleet.writeServerReadings',
  `with written as (
     insert into server_readings (server_id, asked_at, read_at, sensors, events, critical, critical_since)
     select b.server_id, :now::timestamptz, :now::timestamptz, :sensors::jsonb, :events::jsonb, :critical::text,
       case when :critical::text is null then null else :now::timestamptz end
     from server_bmcs b where b.server_id = :serverId and ${placeNow} = :at
     on conflict (server_id) do update set asked_at = excluded.asked_at, read_at = excluded.read_at, problem = null,
       sensors = excluded.sensors, events = excluded.events, critical = excluded.critical,
       critical_since = case when excluded.critical is null then null
         else coalesce(server_readings.critical_since, excluded.critical_since) end
     returning server_id)
   select s.name from servers s join written w on w.server_id = s.id`,
);
const writeUnread = statement<{ name: string }, { serverId: number; at: string; now: Date; problem: string }>(
  'fleet.writeServerUnread',
  `with written as (
     insert into server_readings (server_id, asked_at, problem, sensors, events)
     select b.server_id, :now::timestamptz, :problem, '[]', '[]' from server_bmcs b where b.server_id = :serverId and ${placeNow} = :at
     on conflict (server_id) do update set asked_at = excluded.asked_at, problem = excluded.problem
     returning server_id)
   select s.name from servers s join written w on w.server_id = s.id`,
);

async function write(
  tx: TxContext,
  serverId: number,
  at: string,
  found: State['found'],
): Promise<string | null> {
  const now = tx.clock.now();
  if ('problem' in found) {
    const written = await tx.db.maybe(writeUnread, { serverId, at, now, problem: found.problem });
    return written?.name ?? null;
  }
  const [sensors, events] = [JSON.stringify(found.sensors), JSON.stringify(found.events)];
  const critical = criticalIn(found.sensors);
  if (found.showsLine !== undefined) await noteLine(tx, serverId, at, found.showsLine);
  const written = await tx.db.maybe(writeReadings, { serverId, at, now, sensors, events, critical });
  return written?.name ?? null;
}

function criticalIn(sensors: readonly SensorReading[]): string | null {
  const beyond = sensors.filter(({ state }) => state === 'critical');
  if (beyond.length === 0) return null;
  const named = beyond
    .slice(0, mostNamed)
    .map(({ name, value, unit }) => `${name} at ${value ?? 'an unknown value'} ${unit}`);
  const more = beyond.length - named.length;
  return [...named, ...(more > 0 ? [`${more} more`] : [])].join(', ');
}

const next = statement<{ at: Date | null }, { now: Date }>(
  'fleet.nextReading',
  `select case when exists (select from server_bmcs) then :now::timestamptz end as at`,
);
const due = statement<{ server_id: number }, { before: Date }>(
  'fleet.dueReadings',
  `select b.server_id from server_bmcs b left join server_readings r on r.server_id = b.server_id
   where b.heard_at is not null and b.problem is null and b.power_action is null and (r.asked_at is null or r.asked_at <= :before)
   order by r.asked_at nulls first, b.server_id limit 200`,
);

/** Reads the BMC of every server that answers, every quarter of an hour. */
export const readingBmcsPeriodicJob: PeriodicJob = {
  name: 'fleet.readBmcs',
  intervalMs: 60_000,
  due: next,
  work: async (tx) => {
    const before = new Date(tx.clock.now().getTime() - readEveryMs + 10_000);
    for (const { server_id: serverId } of await tx.db.many(due, { before }))
      if (!(await isJobUnfinishedAbout(tx, readingBmc, { serverId })))
        await enqueue(tx, readingBmc, { serverId }, { organizationId: null });
  },
};
