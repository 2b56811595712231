import type { Measure } from '../../drivers/edge/index.ts';
import { type Context, enqueue, statement, type TxContext } from '../../platform/index.ts';
import { announce } from '../edges/announce.ts';
import { nodesBehind } from '../edges/places.ts';
import {
  type Announcement,
  type Defence,
  type Defences,
  type Figures,
  type Filter,
  type Mitigation,
  newDefence,
  type Reason,
  type Tally,
} from './defence.ts';
import type { Announced } from './forRouters.ts';
import type { MeasureName } from './measures.ts';

export interface MitigationRow {
  id: number;
  attack_id: number;
  organization_id: number;
  service_id: number;
  address: string;
  kind: Mitigation['kind'];
  measure: MeasureName;
  ports: number[];
  why: Figures;
  edge_id: number | null;
  until: Date | null;
  started_at: Date;
  in_force_since: Date | null;
  packets: number;
  bytes: number;
  error: string | null;
  released_at: Date | null;
  because: Reason | null;
}

export const mitigationColumns = `m.id, m.attack_id, m.organization_id, m.service_id, host(m.address) as address, m.kind,
  m.measure, m.ports, m.why, m.edge_id, m.until, m.started_at, m.in_force_since, m.packets, m.bytes, m.error, m.released_at, m.because`;

const keepMitigation = statement<never, Omit<MitigationRow, 'why'> & { why: string; now: Date }>(
  'shield.keepMitigation',
  `insert into shield_mitigations as m (id, attack_id, organization_id, service_id, address, kind, measure, ports, why,
     edge_id, until, started_at, in_force_since, packets, bytes, error, error_since, released_at, because)
   values (:id, :attack_id, :organization_id, :service_id, :address::inet, :kind, :measure, :ports::int[], :why::jsonb,
     :edge_id, :until, :started_at, :in_force_since, :packets, :bytes, :error, case when :error::text is null then null else :now::timestamptz end,
     :released_at, :because)
   on conflict (id) do update set ports = excluded.ports, until = excluded.until, in_force_since = excluded.in_force_since,
     packets = excluded.packets, bytes = excluded.bytes, error = excluded.error,
     error_since = case when excluded.error is null then null else coalesce(m.error_since, :now::timestamptz) end,
     released_at = excluded.released_at, because = excluded.because`,
);
const keepFilter = statement<
  never,
  {
    address: string;
    organizationId: number;
    serviceId: number;
    nodeId: number;
    generation: number;
    filter: string | null;
    held: number | null;
    tally: string;
    now: Date;
  }
>(
  'shield.keepFilter',
  `insert into shield_filters (address, organization_id, service_id, node_id, generation, filter, held, tally, updated_at)
   values (:address::inet, :organizationId, :serviceId, :nodeId, :generation, :filter::json, :held, :tally::jsonb, :now)
   on conflict (address) do update set organization_id = excluded.organization_id, service_id = excluded.service_id,
     node_id = excluded.node_id, generation = excluded.generation, filter = excluded.filter, held = excluded.held,
     tally = excluded.tally, updated_at = excluded.updated_at`,
);
const dropFilter = statement<never, { address: string; nodeId: number }>(
  'shield.dropFilter',
  `delete from shield_filters f where f.address = :address::inet and (f.node_id = :nodeId
     or exists (select 1 from addresses a join placements p on p.service_id = a.service_id
       where a.address = f.address and a.service_id = f.service_id and p.node_id in ${nodesBehind}))`,
);

/** Writes down what was done since, as far as `written` does not have it; what is to be told of it is the caller's. */
export async function keepMitigations(
  tx: TxContext,
  of: Defence,
  changed: readonly Mitigation[],
): Promise<void> {
  const now = tx.clock.now();
  for (const each of changed) {
    await tx.db.run(keepMitigation, {
      ...{
        id: each.id,
        attack_id: each.attackId,
        organization_id: of.organizationId,
        service_id: of.serviceId,
      },
      ...{ address: of.address, kind: each.kind, measure: each.measure, ports: [...each.ports] },
      ...{ edge_id: each.edgeId, until: each.until },
      ...{ why: JSON.stringify(each.why), started_at: each.startedAt, in_force_since: each.inForceSince },
      ...{ packets: each.dropped.packets, bytes: each.dropped.bytes, error: each.error },
      ...{ released_at: each.releasedAt, because: each.because, now },
    });
  }
}

export async function keepFilterOf(tx: TxContext, nodeId: number, of: Defence): Promise<void> {
  const { address, organizationId, serviceId, generation, filter, held, tally } = of;
  if (isEmpty(of)) {
    await tx.db.run(dropFilter, { address, nodeId });
    return;
  }
  await tx.db.run(keepFilter, {
    ...{ address, organizationId, serviceId, nodeId, generation, held },
    ...{ filter: filter === null ? null : JSON.stringify(filter), tally: JSON.stringify(tally) },
    now: tx.clock.now(),
  });
}

/** Whether nothing is left of it but what was written down. */
export function isEmpty({ filter, held, tally, standing }: Defence): boolean {
  return filter === null && held === null && standing.length === 0 && Object.keys(tally).length === 0;
}

interface FilterRow {
  address: string;
  organization_id: number;
  service_id: number;
  node_id: number;
  generation: number;
  filter: Filter | null;
  held: number | null;
  tally: Tally;
}

const filtersAtNode = statement<FilterRow, { nodeId: number }>(
  'shield.filtersAtNode',
  `select host(f.address) as address, f.organization_id, f.service_id, f.node_id, f.generation, f.filter, f.held, f.tally
   from shield_filters f where f.node_id = :nodeId
     or exists (select 1 from addresses a join placements p on p.service_id = a.service_id
       where a.address = f.address and a.service_id = f.service_id and p.node_id in ${nodesBehind})
   order by f.address`,
);
// Of an attack that goes on also what was released: by hand, it is not begun again.
const mitigationsAtNode = statement<MitigationRow, { nodeId: number }>(
  'shield.mitigationsAtNode',
  `select ${mitigationColumns} from shield_mitigations m
   where (m.released_at is null or m.attack_id in (select id from shield_attacks where ended_at is null))
     and (exists (select 1 from shield_filters f where f.address = m.address and f.node_id = :nodeId)
       or exists (select 1 from addresses a join placements p on p.service_id = a.service_id
         where a.address = m.address and a.service_id = m.service_id and p.node_id in ${nodesBehind}))
   order by m.started_at, m.id`,
);

interface AnnouncementRow {
  edge_id: number;
  address: string;
  generation: number;
  measure: Measure | null;
  held: number | null;
  held_since: Date | null;
  error: string | null;
}

const announcementsOf = statement<AnnouncementRow, { addresses: string[] }>(
  'shield.announcementsOf',
  `select edge_id, host(address) as address, generation, measure, held, held_since, error from shield_announcements
   where address = any(:addresses::inet[]) order by edge_id`,
);

/** What stands before the addresses of a node, as it was last written down; of those that came from another node, what is to stand here too. */
export async function findDefences(ctx: Context, nodeId: number): Promise<Map<string, Defence>> {
  const filters = new Map((await ctx.db.many(filtersAtNode, { nodeId })).map((row) => [row.address, row]));
  const mitigations = Map.groupBy(await ctx.db.many(mitigationsAtNode, { nodeId }), ({ address }) => address);
  const addresses = new Set([...filters.keys(), ...mitigations.keys()]);
  const announced = Map.groupBy(
    await ctx.db.many(announcementsOf, { addresses: [...addresses] }),
    ({ address }) => address,
  );
  return new Map(
    [...addresses].map((address) => {
      const defence = defenceOf(filters.get(address), mitigations.get(address) ?? [], nodeId);
      const theirs = announced.get(address) ?? [];
      return [address, { ...defence, announced: theirs.map(announcementFrom) }];
    }),
  );
}

function announcementFrom({ edge_id: edgeId, generation, measure }: AnnouncementRow): Announcement {
  return { edgeId, generation, measure };
}

/** By edge and address, how it stands with what routers are told. */
export async function findAnnounced(
  ctx: Context,
  addresses: readonly string[],
): Promise<Map<string, Announced>> {
  const rows =
    addresses.length === 0 ? [] : await ctx.db.many(announcementsOf, { addresses: [...addresses] });
  return new Map(
    rows.map(({ edge_id, address, held, held_since: heldSince, error }) => [
      placeOf(edge_id, address),
      { held, heldSince, error },
    ]),
  );
}

export function placeOf(edgeId: number, address: string): string {
  return `${edgeId} ${address}`;
}

const keepAnnouncement = statement<
  { node_id: number },
  {
    edgeId: number;
    address: string;
    organizationId: number;
    serviceId: number;
    generation: number;
    measure: string | null;
    now: Date;
  }
>(
  'shield.keepAnnouncement',
  `with kept as (
     insert into shield_announcements as n (edge_id, address, organization_id, service_id, generation, measure, updated_at)
     values (:edgeId, :address::inet, :organizationId, :serviceId, :generation, :measure::json, :now)
     on conflict (edge_id, address) do update set organization_id = excluded.organization_id,
       service_id = excluded.service_id, generation = excluded.generation, measure = excluded.measure,
       updated_at = excluded.updated_at
     where excluded.generation > n.generation returning edge_id)
   select e.node_id from kept join shield_edges e on e.id = kept.edge_id`,
);

/** Writes down what routers are to be told, and has whoever speaks to them do so. */
export async function keepAnnouncements(
  tx: TxContext,
  { address, organizationId, serviceId }: Defence,
  some: readonly Announcement[],
): Promise<void> {
  for (const { edgeId, generation, measure } of some) {
    const [kept] = await tx.db.many(keepAnnouncement, {
      ...{ edgeId, address, organizationId, serviceId, generation, now: tx.clock.now() },
      measure: measure === null ? null : JSON.stringify(measure),
    });
    if (kept !== undefined)
      await enqueue(tx, announce, { edgeId, nodeId: kept.node_id }, { nodeId: kept.node_id });
  }
}

function defenceOf(
  row: FilterRow | undefined,
  mitigations: readonly MitigationRow[],
  nodeId: number,
): Defence {
  const standing = mitigations.filter(({ released_at }) => released_at === null).map(mitigationOf);
  const refused = mitigations
    .filter(({ because }) => because === 'released_by_owner' || because === 'released_by_staff')
    .map(({ attack_id: attackId, kind, measure, edge_id: edgeId }) => ({ attackId, kind, measure, edgeId }));
  const looks = mitigations.filter(({ because }) => because === 'to_look').length;
  const { address, organization_id, service_id } = row ?? mitigations[0] ?? nobody;
  const defence = newDefence({ address, organizationId: organization_id, serviceId: service_id });
  if (row === undefined) return { ...defence, standing, refused, looks };
  const { generation, filter, held, tally } = row;
  // An edge that has none of it yet has counted nothing.
  const there = row.node_id === nodeId ? { held, tally } : {};
  return { ...defence, ...{ generation, filter, standing, refused, looks }, ...there };
}

const nobody = { address: '', organization_id: 0, service_id: 0 };

function mitigationOf(row: MitigationRow): Mitigation {
  return {
    ...{
      id: row.id,
      attackId: row.attack_id,
      kind: row.kind,
      measure: row.measure,
      ports: row.ports,
      why: row.why,
    },
    ...{ edgeId: row.edge_id, until: row.until },
    ...{ startedAt: row.started_at, inForceSince: row.in_force_since, error: row.error },
    dropped: { packets: row.packets, bytes: row.bytes },
    ...{ releasedAt: row.released_at, because: row.because },
  };
}

const askedFor = statement<{ id: number; asked_by: 'owner' | 'staff' }, { ids: number[] }>(
  'shield.askedReleases',
  'select id, asked_by from shield_mitigations where id = any(:ids::bigint[]) and asked_at is not null',
);

/** Which of these somebody wants released. */
export async function findAsked(ctx: Context, defences: Defences): Promise<Map<number, Reason>> {
  const ids = [...defences.values()].flatMap(({ standing }) => standing.map(({ id }) => id));
  if (ids.length === 0) return new Map();
  const rows = await ctx.db.many(askedFor, { ids });
  return new Map(rows.map(({ id, asked_by }) => [id, `released_by_${asked_by}` as const]));
}

const permittedSources = statement<
  { address: string; sources: string[] },
  { addresses: string[]; now: Date }
>(
  'shield.permittedSources',
  `select host(t.address) as address, array_agg(distinct r.source::text) as sources
   from shield_addresses t join shield_rules r on r.organization_id = t.organization_id
   where t.address = any(:addresses::inet[]) and r.destination >>= t.address and not t.address = any(r.given_back)
     and r.action = 'permit' and r.source is not null and masklen(r.source) > 0 and family(r.source) = family(t.address)
     and not r.disabled and (r.expires_at is null or r.expires_at > :now)
   group by t.address`,
);

/** By address, the sources that rules of its owner permit by name: what is done against attacks is not for them. */
export async function findExempt(ctx: Context, addresses: readonly string[]): Promise<Map<string, string[]>> {
  if (addresses.length === 0) return new Map();
  const rows = await ctx.db.many(permittedSources, { addresses: [...addresses], now: ctx.clock.now() });
  return new Map(rows.map(({ address, sources }) => [address, sources]));
}
