import { type Counted, type SwitchPort, trafficBetween } from '../../drivers/switch/index.ts';
import { record } from '../../events/index.ts';
import {
  enqueue,
  isJobUnfinishedAbout,
  type PeriodicJob,
  saga,
  statement,
  type TxContext,
} from '../../platform/index.ts';
import { switchChecked } from '../events.ts';
import { type Carried, countTraffic } from '../traffic/count.ts';
import { connectionOf, switchById } from './rows.ts';

interface Payload {
  switchId: number;
}

/** A port as a step keeps it: plain JSON, with its counters as decimal text. */
interface PortSeen extends Omit<SwitchPort, 'counters'> {
  counters: { in: string; out: string } | null;
}

interface Seen {
  description: string;
  setsVlans: boolean;
  uptimeMs: number;
  ports: PortSeen[];
}

interface State {
  generation: number;
  /** When it was read, in milliseconds. */
  at: number;
  found: Seen | { problem: string };
}

/** Five minutes are what traffic is measured in. */
const readEveryMs = 300_000;

export const switchReading = saga<Payload, State>({
  name: 'fleet.readSwitch',
  queue: 'racks',
  steps: [
    {
      name: 'read',
      attempts: 2,
      do: async ({ ctx, drivers, payload }) => {
        const row = await ctx.db.maybe(switchById, { id: payload.switchId });
        if (row === null) return {}; // removed meanwhile
        const opened = drivers.switch(await connectionOf(ctx, row));
        try {
          const { description } = await opened.identify();
          const { uptimeMs, ports } = await opened.readPorts();
          const setsVlans = opened.capabilities.includes('vlans');
          const found = { description, setsVlans, uptimeMs, ports: ports.map(plain) };
          return { generation: row.generation, at: ctx.clock.now().getTime(), found };
        } catch (error) {
          // One that cannot be spoken to is what was found, and no failure of the look.
          if (!(error instanceof Error && 'waits' in error)) throw error;
          const found = { problem: error.message };
          return { generation: row.generation, at: ctx.clock.now().getTime(), found };
        } finally {
          await opened.close();
        }
      },
    },
  ],
  succeeded: async (tx, { switchId }, { generation, at, found }) => {
    if (found === undefined || generation === undefined || at === undefined) return;
    await keepReading(tx, switchId, generation, new Date(at), found);
  },
  failed: async (tx, { switchId }, failure) => {
    const row = await tx.db.maybe(switchById, { id: switchId });
    if (row === null) return;
    await keepReading(tx, switchId, row.generation, tx.clock.now(), { problem: failure.message });
  },
});

function plain({ counters, ...port }: SwitchPort): PortSeen {
  return { ...port, counters: counters && { in: String(counters.in), out: String(counters.out) } };
}

/** A little early, so that turns of a minute do not make six of five. */
const dueAfterMs = readEveryMs - 10_000;

const next = statement<{ at: Date | null }, { now: Date }>(
  'fleet.nextSwitch',
  `select min(case when check_state = 'failed' or checked_at is null then :now::timestamptz
     else checked_at + interval '${dueAfterMs} milliseconds' end) as at from switches`,
);
const due = statement<{ id: number }, { before: Date }>(
  'fleet.dueSwitches',
  `select id from switches where checked_at is null or checked_at <= :before or check_state = 'failed' order by id limit 500`,
);

/** Reads every switch every five minutes, and one that could not be read every minute. */
export const switchReadingPeriodicJob: PeriodicJob = {
  name: 'fleet.readSwitches',
  intervalMs: 60_000,
  due: next,
  work: async (tx) => {
    const before = new Date(tx.clock.now().getTime() - dueAfterMs);
    for (const { id: switchId } of await tx.db.many(due, { before }))
      if (!(await isJobUnfinishedAbout(tx, switchReading, { switchId })))
        await enqueue(tx, switchReading, { switchId }, { organizationId: null });
  },
};

// Two looks may be under way, and end in the other order: an older one would have what the newer one counted counted again. One that says to
// be of later than now was written before the clock was set back.
const writeCheck = statement<
  { name: string; is_news: boolean },
  {
    id: number;
    generation: number;
    problem: string | null;
    description: string | null;
    setsVlans: boolean | null;
    now: Date;
    clock: Date;
  }
>(
  'fleet.writeSwitchCheck',
  `update switches s set check_state = case when :problem::text is null then 'ok' else 'failed' end, checked_at = :now,
     problem = :problem, description = coalesce(:description, s.description), sets_vlans = coalesce(:setsVlans::boolean, s.sets_vlans),
     heard_at = case when :problem::text is null then :now else s.heard_at end
   from (select id, problem, checked_at from switches where id = :id for no key update) before
   where s.id = before.id and s.generation = :generation
     and (before.checked_at is null or before.checked_at <= :now or before.checked_at > :clock)
   returning s.name, before.checked_at is null or before.problem is distinct from :problem::text as is_news`,
);
const portsBefore = statement<
  {
    name: string;
    speed_mbps: number | null;
    in_bytes: string | null;
    out_bytes: string | null;
    uptime_ms: number;
    read_at: Date;
    service_before: number | null;
    service_now: number | null;
  },
  { switchId: number; now: Date }
>(
  'fleet.portsBefore',
  `select t.name, t.speed_mbps, t.in_bytes::text as in_bytes, t.out_bytes::text as out_bytes, t.uptime_ms, t.read_at,
     t.service_id as service_before, s.service_id as service_now
   from switch_ports t left join server_ports p on p.switch_id = t.switch_id and p.switch_port = t.name
     left join servers s on s.id = p.server_id and s.state = 'rented' and s.state_since <= :now
   where t.switch_id = :switchId`,
);
const writePorts = statement<never, { switchId: number; ports: string; uptimeMs: number; now: Date }>(
  'fleet.writeSwitchPorts',
  `insert into switch_ports (switch_id, name, position, label, is_up, speed_mbps, in_bytes, out_bytes, uptime_ms, read_at, in_mbps,
     out_mbps, service_id)
   select :switchId, p.name, p.position, p.label, p.is_up, p.speed_mbps, p.in_bytes, p.out_bytes, :uptimeMs, :now, p.in_mbps, p.out_mbps,
     p.service_id
   from jsonb_to_recordset(:ports::jsonb) p (name text, position integer, label text, is_up boolean, speed_mbps integer,
     in_bytes numeric, out_bytes numeric, in_mbps double precision, out_mbps double precision, service_id bigint)
   on conflict (switch_id, name) do update set position = excluded.position, label = excluded.label, is_up = excluded.is_up,
     speed_mbps = excluded.speed_mbps, in_bytes = excluded.in_bytes, out_bytes = excluded.out_bytes, uptime_ms = excluded.uptime_ms,
     read_at = excluded.read_at, in_mbps = excluded.in_mbps, out_mbps = excluded.out_mbps, gone_at = null,
     service_id = excluded.service_id`,
);
const noteGone = statement<never, { switchId: number; now: Date }>(
  'fleet.noteGonePorts',
  `update switch_ports set gone_at = :now, is_up = false, in_mbps = null, out_mbps = null
   where switch_id = :switchId and read_at < :now and gone_at is null`,
);

/** Keeps what a look at that moment found, unless a newer one has been kept. */
export async function keepReading(
  tx: TxContext,
  id: number,
  generation: number,
  now: Date,
  found: State['found'],
): Promise<void> {
  const [seen, problem] = 'problem' in found ? [null, found.problem] : [found, null];
  const written = await tx.db.maybe(writeCheck, {
    ...{ id, generation, problem, now, clock: tx.clock.now() },
    ...{ description: seen?.description ?? null, setsVlans: seen?.setsVlans ?? null },
  });
  // What was read before somebody changed it says nothing of how it is reached now, and an older look nothing of what it counts.
  if (written === null) return;
  if (seen !== null) await keepPorts(tx, id, seen, now);
  if (!written.is_news) return;
  const data = { name: written.name, problem };
  await record(tx, switchChecked, { subject: { type: 'switch', id }, organizationId: null, data });
}

async function keepPorts(
  tx: TxContext,
  switchId: number,
  { uptimeMs, ports }: Seen,
  now: Date,
): Promise<void> {
  const before = new Map((await tx.db.many(portsBefore, { switchId, now })).map((row) => [row.name, row]));
  const carried: Carried[] = [];
  const rows = ports.map((port, at) => {
    const known = before.get(port.name);
    const now_: Counted = { at: now, uptimeMs, speedMbps: port.speedMbps, counters: big(port.counters) };
    const earlier: Counted | null = known
      ? {
          ...{ at: known.read_at, uptimeMs: known.uptime_ms, speedMbps: known.speed_mbps },
          counters: big(
            known.in_bytes === null || known.out_bytes === null
              ? null
              : { in: known.in_bytes, out: known.out_bytes },
          ),
        }
      : null;
    const traffic = earlier && trafficBetween(earlier, now_);
    // What the switch takes in is what the server has sent. Whoever has the server has it for himself from the next reading on.
    if (traffic && known?.service_now != null && known.service_now === known.service_before)
      carried.push({
        ...{ serviceId: known.service_now, since: known.read_at },
        ...{ receivedBytes: traffic.out, sentBytes: traffic.in },
      });
    const mbps = (bytes: bigint) =>
      (Number(bytes) * 8) / 1_000 / (now.getTime() - (earlier?.at.getTime() ?? 0));
    return {
      ...{ name: port.name, position: at, label: port.label, is_up: port.isUp, speed_mbps: port.speedMbps },
      ...{ in_bytes: port.counters?.in ?? null, out_bytes: port.counters?.out ?? null },
      ...{ in_mbps: traffic && mbps(traffic.in), out_mbps: traffic && mbps(traffic.out) },
      service_id: known?.service_now ?? null,
    };
  });
  await tx.db.run(writePorts, { switchId, ports: JSON.stringify(rows), uptimeMs, now });
  await tx.db.run(noteGone, { switchId, now });
  await countTraffic(tx, carried, now);
}

function big(counters: { in: string; out: string } | null): { in: bigint; out: bigint } | null {
  return counters && { in: BigInt(counters.in), out: BigInt(counters.out) };
}
