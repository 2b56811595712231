import type { OrganizationContext } from '../../platform/index.ts';
import { readSettings } from '../../settings/index.ts';
import type { TriedRule } from '../enforce/trials.ts';
import type { OwnedAddress } from '../owned.ts';
import { refuseTooMany } from '../rules/limits.ts';
import { byAddress } from '../rules/rows.ts';
import { shield } from '../settings.ts';

/** Refuses more rules for an address than it may have, before they are anybody's: `too_many`. */
export async function checkTriedLimits(
  ctx: OrganizationContext,
  owned: readonly OwnedAddress[],
  rules: readonly TriedRule[],
): Promise<void> {
  const { active_rules: most } = await readSettings(ctx, shield);
  const about = byAddress(rules.map((rule) => ({ ...rule, given_back: [] })));
  for (const { address } of owned) {
    const there = about(address);
    refuseTooMany(address, most, {
      all: there.length,
      active: there.filter((rule) => !rule.disabled),
    });
  }
}
