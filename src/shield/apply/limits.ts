import type { OrganizationContext } from '../../platform/index.ts';
import { readSettings } from '../../settings/index.ts';
import type { OwnedAddress } from '../owned.ts';
import { refuseTooMany } from '../rules/limits.ts';
import { isAbout } from '../rules/rows.ts';
import { shield } from '../settings.ts';

/** Refuses more rules for an address than it may have, before they are anybody's: `too_many`. */
export async function checkTriedLimits(
  ctx: OrganizationContext,
  owned: readonly OwnedAddress[],
  rules: readonly { destination: string; disabled: boolean }[],
): Promise<void> {
  const { active_rules: most } = await readSettings(ctx, shield);
  for (const { address } of owned) {
    const there = rules.filter(({ destination }) => isAbout({ destination, given_back: [] }, address));
    refuseTooMany(address, most, {
      all: there.length,
      active: there.filter((rule) => !rule.disabled).length,
    });
  }
}
