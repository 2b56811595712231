import { fail, type OrganizationContext } from '../../platform/index.ts';
import { readSettings } from '../../settings/index.ts';
import type { OwnedAddress } from '../owned.ts';
import { isAbout } from '../rules/rows.ts';
import { shield } from '../settings.ts';

/** Refuses more rules for an address than it may have, before they are anybody's: `too_many`. */
export async function checkTriedLimits(
  ctx: OrganizationContext,
  owned: readonly OwnedAddress[],
  rules: readonly { words: { destination: string } }[],
): Promise<void> {
  const { active_rules: most } = await readSettings(ctx, shield);
  for (const { address } of owned) {
    const there = rules.filter(({ words }) =>
      isAbout({ destination: words.destination, given_back: [] }, address),
    );
    if (there.length > most)
      throw fail('too_many', { message: `${address} would have more than ${most} active rules` });
  }
}
