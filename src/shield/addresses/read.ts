import type { OrganizationContext } from '../../platform/index.ts';
import { findApply } from '../apply/trial.ts';
import { findAttackNow } from '../attacks/list.ts';
import { findPolicies } from '../enforce/addressRows.ts';
import { listGroupsFor } from '../groups/groups.ts';
import { addressOf, prefixFrom } from '../prefix.ts';
import { isAbout, listRulesFor } from '../rules/rows.ts';
import { viewRules } from '../rules/view.ts';
import { requireIp } from './ips.ts';

/**
 * One address of the caller's with all that is for it: rules, also those for wider networks, in the order in which they are looked
 * at, what presets made, what is tried out, and what attacks it. `invalid_request`, `forbidden`.
 */
export async function readIp(ctx: OrganizationContext, text: string) {
  const { organizationId } = ctx;
  const ip = await requireIp(ctx, text);
  const address = addressOf(prefixFrom(ip.address));
  const rules = (await listRulesFor(ctx, organizationId, [address])).filter((rule) => isAbout(rule, address));
  const [policy] = await findPolicies(ctx, [address]);
  return {
    ip,
    rules: await viewRules(ctx, organizationId, rules),
    groups: await listGroupsFor(ctx, address),
    trial: policy?.trial_id == null ? null : await findTrial(ctx, policy.trial_id),
    attack: await findAttackNow(ctx, address),
  };
}

/** What is tried out, as long as it is. */
async function findTrial(ctx: OrganizationContext, id: number) {
  const trial = await findApply(ctx, id);
  return trial?.state === 'trying' ? trial : null;
}
