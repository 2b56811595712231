import { hash } from 'node:crypto';
import type { Seen, Watch } from '../../events/index.ts';
import { type Context, requireOwn, statement } from '../../platform/index.ts';
import { single, wider } from '../prefix.ts';

interface Watched {
  id: number;
  organization_id: number;
  addresses: string[];
  /** What is wanted, in force and tried out at each of them. */
  policies: string[];
  /** Attacks that go on there, as they were last written down, and the last minute of their traffic. */
  attacks: string[];
  minute: string | null;
}

interface Counted {
  id: number;
  packets: number;
  dropped: number;
}

const serviceById = statement<{ id: number; organization_id: number }, { id: number }>(
  'shield.serviceToWatch',
  'select id, organization_id from services where id = :id',
);
const watchedOf = statement<Watched, { ids: number[]; since: Date }>(
  'shield.watchedServices',
  `select s.id, s.organization_id, array(
     select concat_ws(' ', host(t.address), t.generation, t.in_force, t.in_force_since, t.error, t.unmatched,
       t.trial_id, p.in_force_since, p.error)
     from shield_addresses t left join shield_applies p on p.id = t.trial_id
     where t.service_id = s.id order by t.address) as policies,
     array(select x.id || ' ' || x.updated_at from shield_attacks x
       where x.service_id = s.id and x.ended_at is null order by x.id) as attacks,
     (select max(m.time)::text from addresses a join shield_traffic_minutes m on m.address = a.address
       where a.service_id = s.id and m.time > :since) as minute,
     array(select host(a.address) from addresses a where a.service_id = s.id order by a.address) as addresses
   from services s where s.id = any(:ids::bigint[])`,
);
const countedOf = statement<Counted, { services: number[]; organizations: number[]; networks: string[] }>(
  'shield.countedForServices',
  `select w.service_id as id, sum(c.packets)::bigint as packets, sum(c.dropped_packets)::bigint as dropped
   from unnest(:services::bigint[], :organizations::bigint[], :networks::cidr[]) as w(service_id, organization_id, network)
   join shield_rules r on r.organization_id = w.organization_id and r.destination = w.network
   join shield_counts c on c.rule_id = r.id group by w.service_id`,
);

/** A minute is written down when it is over; an older one is nothing new. */
const minutesMs = 5 * 60_000;

/**
 * What the edge does at a machine's addresses and has counted there, for who has a page about it open: when it is otherwise than before they
 * read anew what they show.
 */
export const shieldWatch: Watch = {
  kind: 'shield',
  event: 'shield.seen',
  permission: 'shield.read',
  everyMs: 1_000,
  require: (ctx, id) => requireOwn(ctx, serviceById, { id }),
  since: async (ctx, watched) => {
    const since = new Date(ctx.clock.now().getTime() - minutesMs);
    const services = await ctx.db.many(watchedOf, { ids: watched.map(({ id }) => id), since });
    const counted = await countAll(ctx, services);
    return services.map(({ id, organization_id: organizationId, policies, attacks, minute }): Seen => {
      const { packets = 0, dropped = 0 } = counted.get(id) ?? {};
      const all = [policies, attacks, minute, packets, dropped];
      const look = hash('sha256', JSON.stringify(all), 'base64url');
      return { id, organizationId, time: ctx.clock.now(), look };
    });
  },
};

/** What the rules of the addresses of these services have counted, by the networks that they are for. */
async function countAll(ctx: Context, services: readonly Watched[]): Promise<Map<number, Counted>> {
  const asked = services.flatMap(({ id, organization_id, addresses }) => {
    const networks = new Set(addresses.flatMap((address) => wider(single(address))));
    return [...networks].map((network) => ({ id, organization_id, network }));
  });
  if (asked.length === 0) return new Map();
  const rows = await ctx.db.many(countedOf, {
    services: asked.map(({ id }) => id),
    organizations: asked.map(({ organization_id }) => organization_id),
    networks: asked.map(({ network }) => network),
  });
  return new Map(rows.map((row) => [row.id, row]));
}
