import { type BgpEdge, fittingOf, type LeftOut, type Policy, parsePrefix } from '../../drivers/edge/index.ts';
import { type Context, statement } from '../../platform/index.ts';
import { type AddressRow, addressColumns } from '../enforce/addressRows.ts';
import { readPolicies, wordsOf } from '../enforce/apply.ts';
import { addressOf, prefixFrom } from '../prefix.ts';
import type { At, RoutersRow } from './rows.ts';

export interface RulesAsked {
  at: At;
  row: RoutersRow;
  edge: BgpEdge;
  /** Addresses whose attacks routers are told of: rules of theirs wait. */
  taken: ReadonlySet<string>;
}

interface Announced {
  address: string;
  generation: number;
  routes: number;
}

const wantedRules = statement<AddressRow, { edgeId: number; after: string; atMost: number }>(
  'shield.rulesForRouters',
  `select ${addressColumns} from shield_addresses t
   join addresses a on a.address = t.address and a.service_id = t.service_id and a.state = 'taken'
   where t.generation > 0 and t.address > :after::inet
     and exists (select 1 from shield_prefixes p where p.edge_id = :edgeId and p.network >>= t.address)
   order by t.address limit :atMost`,
);
const announcedRules = statement<Announced, { edgeId: number }>(
  'shield.announcedRules',
  `select host(address) as address, generation, routes from shield_announced_rules where edge_id = :edgeId`,
);
const keep = statement<
  never,
  {
    edgeId: number;
    address: string;
    organizationId: number;
    generation: number;
    routes: number;
    left: string;
    error: string | null;
    now: Date;
  }
>(
  'shield.keepAnnouncedRules',
  `insert into shield_announced_rules (edge_id, address, organization_id, generation, routes, left_out, error, updated_at)
   values (:edgeId, :address::inet, :organizationId, :generation, :routes, :left::jsonb, :error, :now)
   on conflict (edge_id, address) do update set organization_id = excluded.organization_id,
     generation = excluded.generation, routes = excluded.routes, left_out = excluded.left_out, error = excluded.error,
     updated_at = excluded.updated_at`,
);
const drop = statement<never, { edgeId: number; addresses: string[] }>(
  'shield.dropAnnouncedRules',
  'delete from shield_announced_rules where edge_id = :edgeId and address = any(:addresses::inet[])',
);

const batch = 500;
/** Before every address. */
const first = '0.0.0.0';

/**
 * Has routers told of those rules of customers that fit, as far as there is room for them; what filters before the machines has all of them in
 * any case. Where staff leaves no room for rules, none are told.
 */
export async function announceRules(ctx: Context, { at, row, edge, taken }: RulesAsked): Promise<void> {
  const { edgeId } = at;
  const known = new Map((await ctx.db.many(announcedRules, { edgeId })).map((each) => [each.address, each]));
  const held = (await edge.list()).filter(({ as }) => as === 'policy');
  if (row.rule_routes === 0 && known.size + held.length === 0) return;
  const there = new Map(held.map((each) => [addressOf(prefixFrom(each.destination)), each]));
  const rows = row.rule_routes === 0 ? [] : await wantedNow(ctx, edgeId);
  const wanted = new Map(
    rows.filter(({ address }) => !taken.has(address)).map((each) => [each.address, each]),
  );
  const gone = [...there].filter(([address]) => !wanted.has(address)).map(([, each]) => each);
  await edge.remove(gone);
  await ctx.db.run(drop, { edgeId, addresses: [...known.keys()].filter((address) => !wanted.has(address)) });
  const standing = (each: AddressRow): number | null => {
    const before = known.get(each.address);
    const stands = there.get(each.address)?.generation === each.generation;
    return before?.generation === each.generation && (stands || before.routes === 0) ? before.routes : null;
  };
  const policies = await policiesOf(
    ctx,
    [...wanted.values()].filter((each) => standing(each) === null),
  );
  let room = row.rule_routes;
  for (const each of wanted.values()) {
    const policy = policies.get(each.address);
    room -= standing(each) ?? (policy && (await announceOne(ctx, { edgeId, edge, room }, each, policy))) ?? 0;
  }
}

async function policiesOf(ctx: Context, rows: readonly AddressRow[]): Promise<Map<string, Policy>> {
  const all: Policy[] = [];
  for (let at = 0; at < rows.length; at += batch)
    all.push(...(await readPolicies(ctx, rows.slice(at, at + batch))).policies);
  return new Map(all.map((policy) => [addressOf(prefixFrom(policy.destination)), policy]));
}

async function wantedNow(ctx: Context, edgeId: number): Promise<AddressRow[]> {
  const all: AddressRow[] = [];
  for (let after = first; ; ) {
    const some = await ctx.db.many(wantedRules, { edgeId, after, atMost: batch });
    all.push(...some);
    const last = some.at(-1);
    if (some.length < batch || last === undefined) return all;
    after = last.address;
  }
}

/** How many routes it takes. */
async function announceOne(
  ctx: Context,
  { edgeId, edge, room }: { edgeId: number; edge: BgpEdge; room: number },
  row: AddressRow,
  policy: Policy,
): Promise<number> {
  const found = fittingOf(policy, parsePrefix(policy.destination));
  const fits = found.routes <= room;
  const error = fits ? await replace(edge, found.policy) : 'no room: other rules take all that is for rules';
  if (!fits || error !== null)
    await edge.remove([{ destination: policy.destination, generation: policy.generation }]);
  const routes = error === null ? found.routes : 0;
  await ctx.db.run(keep, {
    ...{ edgeId, address: row.address, organizationId: row.organization_id, generation: row.generation },
    ...{ routes, error, left: JSON.stringify(found.left satisfies LeftOut[]), now: ctx.clock.now() },
  });
  return routes;
}

async function replace(edge: BgpEdge, policy: Policy): Promise<string | null> {
  try {
    await edge.replace([policy]);
    return null;
  } catch (error) {
    return wordsOf(error);
  }
}
