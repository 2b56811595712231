import { type PeriodicJob, statement, type TxContext } from '../../platform/index.ts';
import { isOwned } from '../owned.ts';

const learnAfterMs = 24 * 3_600_000;
const learnFromMs = 28 * 24 * 3_600_000;
/** Addresses in one transaction. */
const batch = 200;

// Hours in which the address was another's, or attacked, tell nothing of what is usual.
const learn = statement<never, { now: Date; learnedBefore: Date; since: Date; batch: number }>(
  'shield.learnUsual',
  `insert into shield_usual (address, organization_id, service_id, hours, since, pps, mbps, learned_at)
   select due.address, due.organization_id, due.service_id, count(h.time), coalesce(min(h.time), :now::timestamptz),
     coalesce(percentile_cont(0.99) within group (order by h.packets / 3600.0), 0),
     coalesce(percentile_cont(0.99) within group (order by h.bytes * 8 / 3600.0 / 1e6), 0), :now::timestamptz
   from (select a.address, a.organization_id, a.service_id from addresses a join services s on s.id = a.service_id
       left join shield_usual u on u.address = a.address and u.service_id = a.service_id
       where ${isOwned} and (u.learned_at is null or u.learned_at < :learnedBefore)
       order by u.learned_at nulls first, a.address limit :batch) due
     left join shield_traffic_hours h on h.address = due.address and h.organization_id = due.organization_id
       and h.time >= :since and h.time < date_trunc('hour', :now::timestamptz)
       and not exists (select 1 from shield_attacks x where x.address = h.address
         and x.started_at < h.time + interval '1 hour' and coalesce(x.ended_at, :now::timestamptz) >= h.time)
   group by due.address, due.organization_id, due.service_id order by due.address
   on conflict (address) do update set organization_id = excluded.organization_id, service_id = excluded.service_id,
     hours = excluded.hours, since = excluded.since, pps = excluded.pps, mbps = excluded.mbps,
     learned_at = excluded.learned_at`,
);
const forget = statement<never>(
  'shield.forgetUsual',
  `delete from shield_usual u where not exists (select 1 from addresses a join services s on s.id = a.service_id
     where a.address = u.address and a.service_id = u.service_id and ${isOwned})`,
);

/** Learns once a day what usually comes to each address. */
async function learnSome(tx: TxContext): Promise<'more' | undefined> {
  const now = tx.clock.now();
  await tx.db.run(forget);
  const learned = await tx.db.run(learn, {
    ...{ now, batch },
    learnedBefore: new Date(now.getTime() - learnAfterMs),
    since: new Date(now.getTime() - learnFromMs),
  });
  return learned === batch ? 'more' : undefined;
}

export const learningUsual: PeriodicJob = {
  name: 'shield.learnUsual',
  intervalMs: 10 * 60_000,
  work: learnSome,
};
