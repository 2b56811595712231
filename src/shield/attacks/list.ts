import { pagedList } from '../../platform/http/index.ts';
import { type OrganizationContext, requireOwn, statement } from '../../platform/index.ts';
import { findMitigations } from '../mitigation/view.ts';
import { notices } from '../names/notices.ts';
import { requireOneAddress } from '../owned.ts';
import { addressOf } from '../prefix.ts';
import { type AttackRow, attackColumns, type WholeAttack } from './rows.ts';
import { viewAttackTops, type WrittenTops } from './tops.ts';
import { viewAttack } from './view.ts';

const attacks = pagedList<AttackRow>({
  name: 'shield.attacks',
  from: 'shield_attacks t',
  select: `select ${attackColumns} from shield_attacks t`,
  within: 't.organization_id = :organizationId',
  filters: {
    filter: `position(lower(:filter::text) in lower(concat_ws(' ', t.address::text, t.kind))) > 0`,
    address: 't.address = :address::inet',
  },
  key: { by: 't.id', type: 'bigint', of: (row) => row.id },
  sorts: {
    started_at: { by: 't.started_at', type: 'timestamptz', of: (row) => row.started_at.toISOString() },
  },
  order: '-started_at',
});

const shownMs = 10 * 60_000;
const atMost = 1_000;
const recent = statement<
  AttackRow,
  { organizationId: number; since: Date; filter: string | null; address: string | null; atMost: number }
>(
  'shield.recentAttacks',
  `select ${attackColumns} from shield_attacks t
   where t.organization_id = :organizationId and (t.closed_at is null or t.closed_at > :since)
     and (:filter::text is null or position(lower(:filter::text) in lower(concat_ws(' ', t.address::text, t.kind))) > 0)
     and (:address::inet is null or t.address = :address::inet)
   order by t.started_at desc, t.id desc limit :atMost`,
);
const goingOn = statement<AttackRow, { organizationId: number; address: string }>(
  'shield.attackNow',
  `select ${attackColumns} from shield_attacks t
   where t.address = :address::inet and t.organization_id = :organizationId and t.ended_at is null`,
);
const byId = statement<WholeAttack, { id: number }>(
  'shield.attackById',
  `select ${attackColumns}, t.tops from shield_attacks t where t.id = :id`,
);

export interface AttackQuery {
  chunk: number;
  limit: number;
  filter?: string | undefined;
  /** At this address alone. */
  ip?: string | undefined;
}

/**
 * Attacks, the newest first, `limit` a chunk. The first chunk has besides all that go on, and all that ended within ten minutes, however
 * long ago they began: who asks for it once a minute misses none.
 */
export async function listAttacks(ctx: OrganizationContext, { chunk, limit, filter: sent, ip }: AttackQuery) {
  const { organizationId } = ctx;
  const address = ip === undefined ? undefined : addressOf(requireOneAddress(ip, 'ip'));
  const filter = sent === undefined || sent.trim() === '' ? undefined : sent.trim();
  const { rows } = await attacks(ctx, { page: chunk + 1, limit }, { organizationId, filter, address });
  const now = ctx.clock.now();
  if (chunk > 0) return { attacks: await viewAttacks(ctx, rows, now) };
  const since = new Date(now.getTime() - shownMs);
  const kept = await ctx.db.many(recent, {
    ...{ organizationId, since, atMost },
    ...{ filter: filter ?? null, address: address ?? null },
  });
  const known = new Set(rows.map(({ id }) => id));
  const all = [...rows, ...kept.filter(({ id }) => !known.has(id))];
  return { attacks: await viewAttacks(ctx, all, now) };
}

async function viewAttacks(ctx: OrganizationContext, rows: readonly AttackRow[], now: Date) {
  const mitigationsOf = await findMitigations(ctx, rows);
  return rows.map((row) => viewAttack(row, mitigationsOf(row.id), now));
}

/** The attack on an address that goes on, if one does. */
export async function findAttackNow(ctx: OrganizationContext, address: string) {
  const row = await ctx.db.maybe(goingOn, { organizationId: ctx.organizationId, address });
  const [attack] = await viewAttacks(ctx, row === null ? [] : [row], ctx.clock.now());
  return attack ?? null;
}

/** `not_found`, `forbidden`. */
export async function readAttack(ctx: OrganizationContext, id: number) {
  const row = await requireOwn(ctx, byId, { id });
  const mitigationsOf = await findMitigations(ctx, [row]);
  const { info, notices } = topsOf(row);
  return { data: { attack: viewAttack(row, mitigationsOf(id), ctx.clock.now()), info }, notices };
}

/** What was most frequent in an attack, and whose data the names in it are. */
export function topsOf({ tops, ports }: AttackRow & { tops: WrittenTops }) {
  const info = viewAttackTops(tops, ports);
  const isNamed = info['src-asn'].length + info['src-country'].length > 0;
  return { info, notices: isNamed ? notices : [] };
}
