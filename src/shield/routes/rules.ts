import { type Declarations, Nothing } from '../../platform/http/index.ts';
import { changeRule, deleteRule, switchRuleTo } from '../rules/change.ts';
import { createRule } from '../rules/create.ts';
import { listRules, showRule } from '../rules/list.ts';
import { lockRule } from '../rules/store.ts';
import * as S from '../schema.ts';
import { manages, prefix, reads, warned } from './access.ts';

/** Rules, one by one. */
export function ruleRoutes(route: Declarations): void {
  route.get(
    '/rules',
    {
      ...reads,
      operation: 'listShieldRules',
      summary: 'List rules',
      description: 'All rules, in the order in which they are looked at.',
      query: S.PageQuery,
      data: S.RuleList,
      errors: ['page_too_deep'],
    },
    (ctx, req) => listRules(ctx, req.query),
  );
  route.post(
    '/rules',
    {
      ...manages,
      operation: 'createShieldRule',
      summary: 'Create rule',
      description:
        'Makes a rule, in force within about a second: see `enforced`. With `id` it replaces that rule. What no rule matches is ' +
        'permitted, unless the address says otherwise. At most 200 active rules an address, which name at most 4,000 ports; ranges count as ' +
        'one.',
      body: S.NewRule,
      data: S.RuleMade,
      beside: S.warned,
      errors: ['not_found', 'too_many'],
    },
    async (ctx, req) => warned(await createRule(ctx, req.body)),
  );
  route.get(
    '/rules/:id',
    {
      ...reads,
      operation: 'getShieldRule',
      summary: 'Get rule',
      description: 'One rule, what the edge does about it, and what it has counted.',
      params: S.SmallIdParams,
      data: S.RuleData,
      errors: ['not_found'],
      etag: { without: ['matched_packets', 'counters', 'enforced'] },
    },
    (ctx, req) => showRule(ctx, req.params.id),
  );
  route.patch(
    '/rules/:id',
    {
      ...manages,
      operation: 'updateShieldRule',
      summary: 'Change rule',
      description: 'Changes parts of a rule; null takes away what a rule need not have.',
      params: S.SmallIdParams,
      body: S.RuleChange,
      data: Nothing,
      beside: S.warned,
      errors: ['not_found', 'too_many'],
      lock: (tx, req) => lockRule(tx, req.params.id),
    },
    async (ctx, req) => warned({ data: {}, warnings: await changeRule(ctx, req.params.id, req.body) }),
  );
  route.delete(
    '/rules/:id',
    {
      ...manages,
      operation: 'deleteShieldRule',
      summary: 'Delete rule',
      description: 'Takes a rule away.',
      params: S.SmallIdParams,
      data: Nothing,
      errors: ['not_found'],
      lock: (tx, req) => lockRule(tx, req.params.id),
    },
    (ctx, req) => deleteRule(ctx, req.params.id),
  );
  for (const [word, state] of [
    ['enable', 'enabled'],
    ['disable', 'disabled'],
  ] as const) {
    const name = word === 'enable' ? 'Enable' : 'Disable';
    const options = {
      ...manages,
      summary: `${name} rule`,
      description:
        word === 'enable'
          ? 'Switches a rule on. PATCH and POST do the same.'
          : 'Switches a rule off, which keeps its counters. PATCH and POST do the same.',
      params: S.SmallIdParams,
      data: Nothing,
      beside: S.warned,
      errors: ['not_found', 'too_many'],
    } as const;
    route.patch(
      `/rules/:id/${word}`,
      {
        ...options,
        operation: `${word}ShieldRule`,
        shownAt: `${prefix}/rules/:id`,
        lock: (tx, req) => lockRule(tx, req.params.id),
      },
      async (ctx, req) => warned({ data: {}, warnings: await switchRuleTo(ctx, req.params.id, state) }),
    );
    route.post(`/rules/:id/${word}`, { ...options, operation: `${word}ShieldRuleByPost` }, async (ctx, req) =>
      warned({ data: {}, warnings: await switchRuleTo(ctx, req.params.id, state) }),
    );
  }
}
