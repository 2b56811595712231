import { pagedList } from '../../platform/http/index.ts';
import { type OrganizationContext, requireOwn, statement } from '../../platform/index.ts';
import { findMitigations } from '../mitigation/view.ts';
import { type AttackRow, attackColumns } from './rows.ts';
import { topsOf, viewAttack } from './view.ts';

const attacks = pagedList<AttackRow>({
  name: 'shield.attacks',
  from: 'shield_attacks t',
  select: `select ${attackColumns} from shield_attacks t`,
  within: 't.organization_id = :organizationId',
  filters: { filter: `position(lower(:filter::text) in lower(concat_ws(' ', t.address::text, t.kind))) > 0` },
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
  { organizationId: number; since: Date; filter: string | null; atMost: number }
>(
  'shield.recentAttacks',
  `select ${attackColumns} from shield_attacks t
   where t.organization_id = :organizationId and (t.closed_at is null or t.closed_at > :since)
     and (:filter::text is null or position(lower(:filter::text) in lower(concat_ws(' ', t.address::text, t.kind))) > 0)
   order by t.started_at desc, t.id desc limit :atMost`,
);
const byId = statement<AttackRow, { id: number }>(
  'shield.attackById',
  `select ${attackColumns} from shield_attacks t where t.id = :id`,
);

export interface AttackQuery {
  chunk: number;
  limit: number;
  filter?: string | undefined;
}

/**
 * Attacks, the newest first, `limit` a chunk. The first chunk has besides all that go on, and all that ended within ten minutes, however
 * long ago they began: who asks for it once a minute misses none.
 */
export async function listAttacks(ctx: OrganizationContext, { chunk, limit, filter: sent }: AttackQuery) {
  const { organizationId } = ctx;
  const filter = sent === undefined || sent.trim() === '' ? undefined : sent.trim();
  const { rows } = await attacks(ctx, { page: chunk + 1, limit }, { organizationId, filter });
  const now = ctx.clock.now();
  if (chunk > 0) return { attacks: await viewAttacks(ctx, rows, now) };
  const since = new Date(now.getTime() - shownMs);
  const kept = await ctx.db.many(recent, { organizationId, since, filter: filter ?? null, atMost });
  const known = new Set(rows.map(({ id }) => id));
  const all = [...rows, ...kept.filter(({ id }) => !known.has(id))];
  return { attacks: await viewAttacks(ctx, all, now) };
}

async function viewAttacks(ctx: OrganizationContext, rows: readonly AttackRow[], now: Date) {
  const mitigationsOf = await findMitigations(ctx, rows);
  return rows.map((row) => viewAttack(row, mitigationsOf(row.id), now));
}

/** `not_found`, `forbidden`. */
export async function readAttack(ctx: OrganizationContext, id: number) {
  const row = await requireOwn(ctx, byId, { id });
  const mitigationsOf = await findMitigations(ctx, [row]);
  return { attack: viewAttack(row, mitigationsOf(id), ctx.clock.now()), info: topsOf(row) };
}
