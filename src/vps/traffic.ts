import { type Context, statement } from '../platform/index.ts';

const writeEveryMs = 5 * 60_000;

const countTraffic = statement<never, { at: Date; serviceIds: number[]; bytes: number[] }>(
  'vps.countTraffic',
  `insert into vps_traffic as t (service_id, organization_id, month, bytes)
   select m.service_id, m.organization_id, date_trunc('month', :at::timestamptz, 'UTC')::date, s.bytes
   from unnest(:serviceIds::bigint[], :bytes::bigint[]) as s(service_id, bytes)
     join machines m on m.service_id = s.service_id
   order by m.service_id
   on conflict (service_id, month) do update set bytes = t.bytes + excluded.bytes`,
);

/** What machines sent and received since it was written down last. */
export interface TrafficCount {
  /** Adds what came within the last seconds, and writes down what is due. */
  add(counted: readonly { serviceId: number; bytes: number }[]): Promise<void>;
  /** Writes down the rest. */
  finish(): Promise<void>;
}

/**
 * Adds up the traffic of machines and writes it down every five minutes, into the month in which it was counted: written with each sample,
 * it would be half of all that is written. What a process that dies had not written yet is in nobody's traffic.
 */
export function countingTraffic(ctx: Context): TrafficCount {
  const bytesOf = new Map<number, number>();
  let since = ctx.clock.now();
  const finish = async () => {
    const counted = [...bytesOf].filter(([, bytes]) => bytes > 0);
    if (counted.length > 0)
      await ctx.db.run(countTraffic, {
        at: since,
        serviceIds: counted.map(([serviceId]) => serviceId),
        bytes: counted.map(([, bytes]) => bytes),
      });
    bytesOf.clear();
  };
  return {
    add: async (counted) => {
      const now = ctx.clock.now();
      if (Math.abs(now.getTime() - since.getTime()) >= writeEveryMs || monthOf(now) !== monthOf(since)) {
        await finish();
        since = now;
      }
      for (const { serviceId, bytes } of counted)
        bytesOf.set(serviceId, (bytesOf.get(serviceId) ?? 0) + bytes);
    },
    finish,
  };
}

function monthOf(time: Date): string {
  return time.toISOString().slice(0, 7);
}
