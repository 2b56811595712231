import { type ListRequest, pagedList } from '../../platform/http/index.ts';
import { fail, type OrganizationContext, requireOwn } from '../../platform/index.ts';
import { type RuleRow, ruleColumns } from './rows.ts';
import { ruleById } from './store.ts';
import { viewRules } from './view.ts';

const rules = pagedList<RuleRow>({
  name: 'shield.rules',
  from: 'shield_rules r',
  select: `select ${ruleColumns} from shield_rules r`,
  within: 'r.organization_id = :organizationId',
  filters: {
    filter: `position(lower(:filter::text) in lower(concat_ws(' ', r.destination::text, r.source::text, r.action, r.note))) > 0`,
    group: 'r.group_id = :group',
  },
  key: { by: 'r.age', type: 'bigint', of: (row) => row.age },
  sorts: { order: { by: 'r.rank', type: 'bigint', of: (row) => row.rank } },
  order: 'order',
});

/** A list as Shield's public clients ask for one: pages count from zero. */
export interface PageFromZero {
  page: number;
  limit: number;
  filter?: string | undefined;
}

/** The same as our lists know it. */
export function asList({ page, limit }: PageFromZero): ListRequest {
  return { page: page + 1, limit };
}

/** What stands in `filter`; an empty one filters nothing. */
export function filterOf({ filter }: PageFromZero): string | undefined {
  return filter === undefined || filter.trim() === '' ? undefined : filter.trim();
}

/** Rules in the order in which they are looked at, those of all addresses together. */
export async function listRules(ctx: OrganizationContext, query: PageFromZero) {
  const { organizationId } = ctx;
  const { rows, at } = await rules(ctx, asList(query), { organizationId, filter: filterOf(query) });
  return {
    limit: query.limit,
    total: at.total,
    page: query.page,
    pages: Math.ceil(at.total / at.limit),
    rules: await viewRules(ctx, organizationId, rows),
  };
}

/** `not_found`, `forbidden`. */
export async function showRule(ctx: OrganizationContext, id: number) {
  const row = await requireOwn(ctx, ruleById, { id });
  const [rule] = await viewRules(ctx, ctx.organizationId, [row]);
  if (rule === undefined) throw fail('not_found');
  return { rule };
}
