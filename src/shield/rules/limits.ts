import { fail, type OrganizationContext, type TxContext } from '../../platform/index.ts';
import { readSettings } from '../../settings/index.ts';
import type { OwnedAddress } from '../owned.ts';
import { shield } from '../settings.ts';
import { largestPort, type RuleWords, rangesOf } from './match.ts';
import { byAddress, isActive, listRulesFor } from './rows.ts';

/** Those that are switched off are kept as well, up to so many times as many. */
const timesWithOthers = 5;
/**
 * Ports and ranges of ports that active rules name, so many for each rule that there may be. A rule may name 64 and all but 64: two
 * hundred of those are 26,000 entries of the packet filter, and all that it is asked for afterwards takes longer, whoever asks.
 */
const portsForEach = 20;

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
  const about = byAddress(rules);
  for (const { address } of owned) {
    const there = about(address);
    const active = there.filter((rule) => isActive(rule, now));
    refuseTooMany(address, most, { all: there.length, active });
  }
}

/** `too_many`. */
export function refuseTooMany(
  address: string,
  most: number,
  { all, active: rules }: { all: number; active: readonly WithPorts[] },
) {
  const active = rules.length;
  const ports = rules.reduce((sum, rule) => sum + portsOf(rule), 0);
  if (ports > most * portsForEach)
    throw fail('too_many', {
      message: `The active rules of ${address} would name more than ${most * portsForEach} ports; ranges count as one`,
    });
  if (active > most)
    throw fail('too_many', { message: `${address} would have more than ${most} active rules` });
  if (all > most * timesWithOthers)
    throw fail('too_many', { message: `${address} would have more than ${most * timesWithOthers} rules` });
}

type WithPorts = Pick<RuleWords, 'source_port' | 'destination_port'>;

function portsOf({ source_port, destination_port }: WithPorts): number {
  return [source_port, destination_port].reduce(
    (sum, port) => sum + (port === null ? 0 : rangesOf(port, largestPort).length),
    0,
  );
}
