import { type ListRequest, listData, pagedList } from '../../platform/http/index.ts';
import { type Context, requireRow, statement, transaction } from '../../platform/index.ts';
import { topsOf } from '../attacks/list.ts';
import { type AttackRow, attackColumns } from '../attacks/rows.ts';
import type { WrittenTops } from '../attacks/tops.ts';
import { viewAttack } from '../attacks/view.ts';
import { askForRelease, mitigationById } from '../mitigation/release.ts';
import { findMitigations, type viewMitigation } from '../mitigation/view.ts';
import { requireOneAddress } from '../owned.ts';
import { addressOf } from '../prefix.ts';

interface Row extends AttackRow {
  organization_name: string;
}

const select = `select ${attackColumns}, o.name as organization_name
  from shield_attacks t join organizations o on o.id = t.organization_id`;
const attacks = pagedList<Row>({
  name: 'shield.allAttacks',
  from: 'shield_attacks t join organizations o on o.id = t.organization_id',
  select,
  filters: {
    of: 't.organization_id = :of',
    at: 't.address = :at::inet',
    kind: 't.kind = :kind',
    going: '(t.ended_at is null) = :going',
  },
  key: { by: 't.id', type: 'bigint', of: (row) => row.id },
  sorts: {
    started_at: { by: 't.started_at', type: 'timestamptz', of: (row) => row.started_at.toISOString() },
  },
  order: '-started_at',
});
const attackById = statement<Row & { tops: WrittenTops }, { id: number }>(
  'shield.attackAsStaff',
  `select ${attackColumns}, t.tops, o.name as organization_name
   from shield_attacks t join organizations o on o.id = t.organization_id where t.id = :id`,
);

export interface AttackFilter {
  organization_id?: number | undefined;
  address?: string | undefined;
  kind?: string | undefined;
  going?: boolean | undefined;
}

/** The attacks on addresses of all organizations, the newest first. */
export async function listAttacksAsStaff(ctx: Context, query: ListRequest & AttackFilter) {
  const { organization_id: of, address: text, kind, going } = query;
  const address = text === undefined ? undefined : addressOf(requireOneAddress(text, 'address'));
  const { rows, at } = await attacks(ctx, query, { of, at: address, kind, going });
  const mitigationsOf = await findMitigations(ctx, rows);
  return listData(
    'attacks',
    rows.map((row) => view(row, mitigationsOf(row.id), ctx.clock.now())),
    at,
  );
}

/** `not_found`. */
export async function readAttackAsStaff(ctx: Context, id: number) {
  const row = await requireRow(ctx, attackById, { id });
  const mitigationsOf = await findMitigations(ctx, [row]);
  const { info, notices } = topsOf(row);
  return { data: { attack: view(row, mitigationsOf(id), ctx.clock.now()), info }, notices };
}

function view(row: Row, mitigations: ReturnType<typeof viewMitigation>[], now: Date) {
  const organization = { id: row.organization_id, name: row.organization_name };
  return { ...viewAttack(row, mitigations, now), organization };
}

/** Wants a mitigation released, whosever the address is, which its activity then shows. `not_found`. */
export function releaseMitigationAsStaff(ctx: Context, id: number) {
  return transaction(ctx, 'shield.releaseMitigationAsStaff', async (tx) =>
    askForRelease(tx, await requireRow(tx, mitigationById, { id }), 'staff'),
  );
}
