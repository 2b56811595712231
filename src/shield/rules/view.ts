import { type Context, statement } from '../../platform/index.ts';
import { nodeBefore } from '../edges/places.ts';
import { type AddressRow, addressColumns } from '../enforce/addressRows.ts';
import { within31Bits } from '../ids.ts';
import { addressOf, prefixFrom, sizeOf } from '../prefix.ts';
import { adviceOn, adviceOnRouters } from './advice.ts';
import { isAbout, isActive, type RuleRow } from './rows.ts';

interface Counted {
  rule_id: number;
  packets: number;
  bytes: number;
  dropped_packets: number;
  dropped_bytes: number;
}

const countsOf = statement<Counted, { ids: number[] }>(
  'shield.countsOfRules',
  `select rule_id, sum(packets)::bigint as packets, sum(bytes)::bigint as bytes,
     sum(dropped_packets)::bigint as dropped_packets, sum(dropped_bytes)::bigint as dropped_bytes
   from shield_counts where rule_id = any(:ids::int[]) group by rule_id`,
);
/** With why routers in front have no rules of the address, though they are to have those that fit, and whether nobody is heard of who looks after it. */
interface State extends AddressRow {
  routers_error: string | null;
  is_silent: boolean;
}

const stateColumns = `${addressColumns}, (select coalesce(n.error, e.error, case when e.peers_down_since is not null then 'peer_down' end)
  from shield_announced_rules n join shield_edges e on e.id = n.edge_id
  where e.kind = 'routers' and n.address = t.address and coalesce(n.error, e.error, e.peers_down_since::text) is not null
  limit 1) as routers_error,
  exists (select 1 from placements p join nodes n on n.id = ${nodeBefore('p')}
    where p.service_id = t.service_id and not n.reachable) as is_silent`;
const statesOf = statement<State, { organizationId: number; addresses: string[]; wide: string[] }>(
  'shield.statesOfRules',
  `select ${stateColumns} from shield_addresses t where t.address = any(:addresses::inet[])
     and t.organization_id = :organizationId
   union all
   select ${stateColumns} from shield_addresses t
   where cardinality(:wide::cidr[]) > 0 and t.organization_id = :organizationId and t.address <<= any(:wide::cidr[])
     and not t.address = any(:addresses::inet[])`,
);

/** Rules as their organization sees them. */
export async function viewRules(ctx: Context, organizationId: number, rows: readonly RuleRow[]) {
  if (rows.length === 0) return [];
  const counts = await ctx.db.many(countsOf, { ids: rows.map(({ id }) => id) });
  const byRule = new Map(counts.map((count) => [count.rule_id, count]));
  const destinations = [...new Set(rows.map(({ destination }) => destination))].map(prefixFrom);
  const states = await ctx.db.many(statesOf, {
    organizationId,
    addresses: destinations.filter((each) => sizeOf(each) === 1n).map(addressOf),
    wide: destinations.filter((each) => sizeOf(each) > 1n).map(({ text }) => text),
  });
  const now = ctx.clock.now();
  return rows.map((row) => view(row, byRule.get(row.id), states, now));
}

function view(row: RuleRow, counted: Counted | undefined, states: readonly State[], now: Date) {
  const { id, destination, source, action, protocol, note, matches } = row;
  const counters = {
    packets: counted?.packets ?? 0,
    bytes: counted?.bytes ?? 0,
    dropped_packets: counted?.dropped_packets ?? 0,
    dropped_bytes: counted?.dropped_bytes ?? 0,
  };
  return {
    ...{ id, destination, source, action, protocol, order: row.rank, note, matches },
    disabled: !isActive(row, now),
    src_port_type: row.source_port?.match_type ?? null,
    dst_port_type: row.destination_port?.match_type ?? null,
    source_port: row.source_port,
    destination_port: row.destination_port,
    matched_packets: within31Bits(counters.packets),
    counters,
    group_id: row.group_id ?? 0,
    rate_limiter_id: row.limiter_id ?? 0,
    rate: row.rate,
    expires_at: row.expires_at,
    enforced: enforcedOf(row, states, now),
    created_at: row.created_at,
    last_rule_update: row.updated_at,
    updated_at: row.updated_at,
  };
}

/** What the edge does about a rule: all of its addresses together. */
function enforcedOf(row: RuleRow, states: readonly State[], now: Date) {
  const own = states.filter(({ address }) => isAbout(row, address));
  const isSettled =
    row.enforced_generation === row.generation &&
    own.every(({ in_force }) => in_force !== null && in_force >= row.generation);
  // While a rule that was switched off is not taken away yet, it filters on.
  const active = isActive(row, now) ? isSettled && row.enforced_active : row.enforced_active;
  const isDone = isSettled && row.enforced_active === isActive(row, now);
  // Of what is in force already, an error is about the edge that is to have it next.
  const failed = own.find(
    ({ error, in_force, generation }) => error !== null && (!isDone || in_force === generation),
  );
  const isSilent = !isDone && own.some(({ is_silent }) => is_silent);
  const missing = own.find(({ routers_error }) => routers_error !== null);
  const here = failed?.error != null ? adviceOn(failed.error) : isSilent ? adviceOn('edge_silent') : null;
  const inFront = active && missing !== undefined ? adviceOnRouters(missing.routers_error ?? '') : null;
  return {
    active,
    generation: row.enforced_generation,
    since: row.enforced_since,
    error: here ?? inFront,
  };
}
