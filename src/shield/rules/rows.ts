import { type Context, statement } from '../../platform/index.ts';
import { holds, type Prefix, prefixFrom, single, sizeOf, wider } from '../prefix.ts';
import type { OtherMatch, PortMatch, Protocol, Rate } from './match.ts';

/** A rule as it stands in the database. */
export interface RuleRow {
  id: number;
  age: number;
  organization_id: number;
  destination: string;
  given_back: string[];
  source: string | null;
  action: 'permit' | 'deny';
  protocol: Protocol;
  rank: number;
  note: string | null;
  source_port: PortMatch | null;
  destination_port: PortMatch | null;
  matches: OtherMatch[];
  limiter_id: number | null;
  rate: Rate | null;
  group_id: number | null;
  disabled: boolean;
  expires_at: Date | null;
  generation: number;
  created_at: Date;
  updated_at: Date;
  enforced_generation: number | null;
  enforced_active: boolean;
  enforced_since: Date | null;
}

export const ruleColumns = `r.id, r.age, r.organization_id, r.destination::text as destination,
  array(select host(g) from unnest(r.given_back) g) as given_back, r.source::text as source, r.action, r.protocol, r.rank,
  r.note, r.source_port, r.destination_port, r.matches, r.limiter_id, r.rate, r.group_id, r.disabled, r.expires_at, r.generation,
  r.created_at, r.updated_at, r.enforced_generation, r.enforced_active, r.enforced_since`;

// By the networks that hold the addresses, each by the index.
const ofNetworks = statement<RuleRow, { organizationId: number; networks: string[] }>(
  'shield.rulesFor',
  `select ${ruleColumns} from shield_rules r
   where r.organization_id = :organizationId and r.destination = any(:networks::cidr[]) order by r.rank, r.age`,
);

/** What a rule for any of these addresses may name as its destination. */
export function networksOf(addresses: readonly string[]): string[] {
  return [...new Set(addresses.flatMap((address) => wider(single(address))))];
}

/** The rules of an organization that have to do with any of these addresses, in their order, with those that are off. */
export async function listRulesFor(
  ctx: Context,
  organizationId: number,
  addresses: readonly string[],
): Promise<RuleRow[]> {
  if (addresses.length === 0) return [];
  return ctx.db.many(ofNetworks, { organizationId, networks: networksOf(addresses) });
}

/** Whether a rule has to do with an address. */
export function isAbout(rule: Pick<RuleRow, 'destination' | 'given_back'>, address: string): boolean {
  if (rule.given_back.includes(address)) return false;
  const [destination, asked] = [prefixFrom(rule.destination), single(address)];
  return (
    destination.family === asked.family && destination.first <= asked.first && asked.first <= destination.last
  );
}

/** The same for many addresses: which of these rules, in their order, have to do with an address. */
export function byAddress<Rule extends Pick<RuleRow, 'destination' | 'given_back'>>(
  rules: readonly Rule[],
): (address: string) => Rule[] {
  const ofOne = new Map<string, { rule: Rule; nth: number }[]>();
  const wide: { rule: Rule; nth: number; network: Prefix }[] = [];
  for (const [nth, rule] of rules.entries()) {
    const network = prefixFrom(rule.destination);
    if (sizeOf(network) > 1n) wide.push({ rule, nth, network });
    else ofOne.set(network.text, [...(ofOne.get(network.text) ?? []), { rule, nth }]);
  }
  return (address) => {
    const asked = single(address);
    const around = wide.filter(
      ({ rule, network }) => holds(network, asked) && !rule.given_back.includes(address),
    );
    return [...(ofOne.get(asked.text) ?? []), ...around]
      .toSorted((one, other) => one.nth - other.nth)
      .map(({ rule }) => rule);
  };
}

/** Whether it is to filter anything at this moment. */
export function isActive(rule: Pick<RuleRow, 'disabled' | 'expires_at'>, now: Date): boolean {
  return !rule.disabled && (rule.expires_at === null || rule.expires_at > now);
}
