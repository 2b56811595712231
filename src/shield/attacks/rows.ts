import { type Context, statement, type TxContext } from '../../platform/index.ts';
import { nodesBehind } from '../edges/places.ts';
import type { Attack } from '../watch/detect.ts';
import type { Amount } from '../watch/seen.ts';
import { type AttackTops, topsFrom, type WrittenTops, writtenOf } from './tops.ts';

/** What an edge had counted for an address, by kind of traffic, when an attack was written down. */
export type CountedThere = Readonly<Record<string, Amount>>;

export interface AttackRow {
  id: number;
  organization_id: number;
  service_id: number;
  address: string;
  kind: Attack['kind'];
  of: number | null;
  ratio: number;
  readings: number;
  started_at: Date;
  last_over_at: Date;
  ended_at: Date | null;
  peak_pps: number;
  peak_mbps: number;
  packets: number;
  bytes: number;
  ports: Readonly<Record<number, number>>;
  counted: CountedThere;
  created_at: Date;
  updated_at: Date;
  closed_at: Date | null;
}

export const attackColumns = `t.id, t.organization_id, t.service_id, host(t.address) as address, t.kind, t.of, t.ratio,
  t.readings, t.started_at, t.last_over_at, t.ended_at, t.peak_pps, t.peak_mbps, t.packets, t.bytes, t.ports, t.counted,
  t.created_at, t.updated_at, t.closed_at`;

/** With what its packets had most, which lists do not show. */
export interface WholeAttack extends AttackRow {
  tops: WrittenTops;
}

const openOnNode = statement<WholeAttack & { node_id: number }, { nodeId: number }>(
  'shield.openAttacks',
  `select ${attackColumns}, t.tops, t.node_id from shield_attacks t where t.ended_at is null and (t.node_id = :nodeId
     or exists (select 1 from addresses a join placements p on p.service_id = a.service_id
       where a.address = t.address and a.service_id = t.service_id and p.node_id in ${nodesBehind})) order by t.address`,
);
// One that somebody else has ended meanwhile stays so.
const write = statement<
  never,
  Omit<AttackRow, 'ports' | 'counted' | 'created_at' | 'updated_at'> & {
    nodeId: number;
    ports: string;
    counted: string;
    tops: string;
    now: Date;
  }
>(
  'shield.writeAttack',
  `insert into shield_attacks (id, organization_id, service_id, address, node_id, kind, of, ratio, readings, started_at,
     last_over_at, ended_at, peak_pps, peak_mbps, packets, bytes, ports, counted, tops, created_at, updated_at, closed_at)
   values (:id, :organization_id, :service_id, :address::inet, :nodeId, :kind, :of, :ratio, :readings, :started_at,
     :last_over_at, :ended_at, :peak_pps, :peak_mbps, :packets, :bytes, :ports::jsonb, :counted::jsonb, :tops::jsonb, :now, :now,
     :closed_at)
   on conflict (id) do update set kind = excluded.kind, of = excluded.of, ratio = excluded.ratio,
     readings = excluded.readings, last_over_at = excluded.last_over_at, ended_at = excluded.ended_at,
     peak_pps = excluded.peak_pps, peak_mbps = excluded.peak_mbps, packets = excluded.packets, bytes = excluded.bytes,
     ports = excluded.ports, counted = excluded.counted, tops = excluded.tops, updated_at = excluded.updated_at,
     closed_at = excluded.closed_at
   where shield_attacks.ended_at is null`,
);
// Of a machine that came from a node that is gone: nobody there will say that it is over.
const closeElsewhere = statement<never, { address: string; id: number; now: Date }>(
  'shield.closeElsewhere',
  `update shield_attacks set ended_at = last_over_at, closed_at = :now, updated_at = :now
   where address = :address::inet and ended_at is null and id <> :id`,
);
const startedBefore = statement<
  { is_known: boolean },
  { address: string; id: number; from: Date; until: Date }
>(
  'shield.attackBefore',
  `select exists (select 1 from shield_attacks where address = :address::inet and id <> :id
     and created_at > :from and created_at <= :until) as is_known`,
);

/**
 * The attacks that go on at the addresses of a node, as they were last written down. What another node's edge has counted of
 * one tells nothing here.
 */
export async function findOpenAttacks(ctx: Context, nodeId: number): Promise<WholeAttack[]> {
  const rows = await ctx.db.many(openOnNode, { nodeId });
  return rows.map(({ node_id, ...row }) => (node_id === nodeId ? row : { ...row, counted: {} }));
}

/** An attack as the watcher has it, with whose it is. */
export interface Followed {
  id: number;
  organizationId: number;
  serviceId: number;
  address: string;
  attack: Attack;
  /** Grows in place. */
  tops: AttackTops;
}

export async function writeAttack(
  tx: TxContext,
  nodeId: number,
  { id, organizationId, serviceId, address, attack, tops }: Followed,
  counted: CountedThere,
): Promise<void> {
  const now = tx.clock.now();
  const goesOn = attack.endedAt === null;
  await tx.db.run(closeElsewhere, { address, id, now });
  await tx.db.run(write, {
    ...{ id, organization_id: organizationId, service_id: serviceId, address, nodeId, now },
    ...{ kind: attack.kind, of: attack.of, ratio: attack.ratio, readings: attack.readings },
    ...{ started_at: attack.startedAt, last_over_at: attack.lastOverAt, ended_at: attack.endedAt },
    ...{ peak_pps: attack.peakPps, peak_mbps: attack.peakMbps, packets: attack.packets, bytes: attack.bytes },
    ...{ ports: JSON.stringify(attack.ports), counted: JSON.stringify(goesOn ? counted : {}) },
    tops: JSON.stringify(writtenOf(tops)),
    closed_at: goesOn ? null : now,
  });
}

export function followedOf(row: WholeAttack): Followed {
  const { id, organization_id: organizationId, service_id: serviceId, address } = row;
  const attack: Attack = {
    ...{ kind: row.kind, of: row.of, ratio: row.ratio, readings: row.readings },
    ...{ startedAt: row.started_at, lastOverAt: row.last_over_at, endedAt: row.ended_at },
    ...{ peakPps: row.peak_pps, peakMbps: row.peak_mbps, packets: row.packets, bytes: row.bytes },
    ports: row.ports,
  };
  return { id, organizationId, serviceId, address, attack, tops: topsFrom(row.tops) };
}

const calmMs = 3_600_000;

/** Whether none began at this address in the hour before: people are written to once, and not about each pause. */
export async function wasCalm(tx: TxContext, { id, address, attack }: Followed): Promise<boolean> {
  const until = attack.startedAt;
  const from = new Date(until.getTime() - calmMs);
  return !(await tx.db.one(startedBefore, { address, id, from, until })).is_known;
}
