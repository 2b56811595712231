import { fail, type OrganizationContext, type TxContext } from '../../platform/index.ts';
import { readSettings } from '../../settings/index.ts';
import type { OwnedAddress } from '../owned.ts';
import { shield } from '../settings.ts';
import { isAbout, isActive, listRulesFor } from './rows.ts';

/** Those that are switched off are kept as well, up to so many times as many. */
const timesWithOthers = 5;

/** Refuses a change after which an address has more rules than it may: `too_many`. For after the change was written. */
export async function checkLimits(
  tx: OrganizationContext & TxContext,
  owned: readonly OwnedAddress[],
): Promise<void> {
  const { active_rules: most } = await readSettings(tx, shield);
  const now = tx.clock.now();
  const rules = await listRulesFor(
    tx,
    tx.organizationId,
    owned.map(({ address }) => address),
  );
  for (const { address } of owned) {
    const there = rules.filter((rule) => isAbout(rule, address));
    const active = there.filter((rule) => isActive(rule, now)).length;
    refuseTooMany(address, most, { all: there.length, active });
  }
}

/** `too_many`. */
export function refuseTooMany(
  address: string,
  most: number,
  { all, active }: { all: number; active: number },
) {
  if (active > most)
    throw fail('too_many', { message: `${address} would have more than ${most} active rules` });
  if (all > most * timesWithOthers)
    throw fail('too_many', { message: `${address} would have more than ${most * timesWithOthers} rules` });
}
