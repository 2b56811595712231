import { record } from '../../events/index.ts';
import {
  type Context,
  type OrganizationContext,
  requireOwn,
  statement,
  transaction,
} from '../../platform/index.ts';
import { groupDeleted } from '../events.ts';
import { single, wider } from '../prefix.ts';
import { deleteThese } from '../rules/change.ts';
import { type RuleRow, ruleColumns } from '../rules/rows.ts';
import { viewRules } from '../rules/view.ts';

interface GroupRow {
  id: number;
  organization_id: number;
  preset: string;
  destination: string;
  note: string | null;
  ips: string[] | null;
  ports: number[] | null;
  list_dated: string | null;
  created_at: Date;
  updated_at: Date;
}

const columns = `id, organization_id, preset, destination::text as destination, note, ips::text[] as ips, ports,
  list_dated::text as list_dated, created_at, updated_at`;
export const groupById = statement<GroupRow, { id: number }>(
  'shield.group',
  `select ${columns} from shield_groups where id = :id`,
);
export const rulesOfGroup = statement<RuleRow, { id: number }>(
  'shield.rulesOfGroup',
  `select ${ruleColumns} from shield_groups g
   join shield_rules r on r.group_id = g.id and r.organization_id = g.organization_id
   where g.id = :id order by r.rank, r.age`,
);
const groupsFor = statement<GroupRow, { organizationId: number; networks: string[] }>(
  'shield.groupsFor',
  `select ${columns} from shield_groups
   where organization_id = :organizationId and destination = any(:networks::cidr[]) order by created_at, id`,
);
const lockById = statement<{ id: number }, { id: number; organizationId: number }>(
  'shield.lockGroup',
  'select id from shield_groups where id = :id and organization_id = :organizationId for update',
);
const remove = statement<never, { id: number }>(
  'shield.deleteGroup',
  'delete from shield_groups where id = :id',
);

export async function lockGroup(ctx: Context & { organizationId: number }, id: number): Promise<void> {
  await ctx.db.maybe(lockById, { id, organizationId: ctx.organizationId });
}

/** What a preset made, as it stands. `not_found`, `forbidden`. */
export async function readGroup(ctx: OrganizationContext, id: number) {
  const group = view(await requireOwn(ctx, groupById, { id }));
  const rows = await ctx.db.many(rulesOfGroup, { id });
  const rules = await viewRules(ctx, ctx.organizationId, rows);
  return { group, rules };
}

/** What presets made for an address, also for wider networks. */
export async function listGroupsFor(ctx: OrganizationContext, address: string) {
  const networks = wider(single(address));
  const rows = await ctx.db.many(groupsFor, { organizationId: ctx.organizationId, networks });
  return rows.map(view);
}

function view({ organization_id: _, list_dated: dated, ips, ...group }: GroupRow) {
  return { ...group, ips: ips ?? [], dated };
}

/** Takes away all that a preset made. */
export async function deleteGroup(ctx: OrganizationContext, id: number): Promise<void> {
  await transaction(ctx, 'shield.deleteGroup', async (tx) => {
    await lockGroup(tx, id);
    const { preset, destination } = await requireOwn(tx, groupById, { id });
    await deleteThese(tx, await tx.db.many(rulesOfGroup, { id }));
    await tx.db.run(remove, { id });
    await record(tx, groupDeleted, {
      subject: { type: 'shield_group', id },
      data: { group_id: id, preset, destination },
    });
  });
}
