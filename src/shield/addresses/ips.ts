import { isIPv6 } from 'node:net';
import type { ReverseDns } from '../../drivers/dns/index.ts';
import { record } from '../../events/index.ts';
import { setReverseName } from '../../fleet/index.ts';
import { pagedList } from '../../platform/http/index.ts';
import {
  fail,
  type OrganizationContext,
  statement,
  type TxContext,
  transaction,
} from '../../platform/index.ts';
import { readRecent } from '../analytics/recent.ts';
import { lockPolicies, nextGeneration, wantApplied } from '../enforce/wanted.ts';
import { addressChanged } from '../events.ts';
import { holdOwnAddresses, isOwned, requireOneAddress, requireOwnAddresses } from '../owned.ts';
import { addressOf, single } from '../prefix.ts';
import { asList, filterOf, type PageFromZero } from '../rules/list.ts';
import { isProtected, isUnderAttack, isWide } from './protectedNow.ts';

interface IpRow {
  address: string;
  service_id: number;
  hostname: string | null;
  dns_name: string | null;
  unmatched: 'permit' | 'deny' | null;
  is_protected: boolean | null;
  under_attack: boolean;
}

const selectIps = `select host(a.address) as address, a.service_id, s.domain as hostname, a.dns_name, t.unmatched,
      ${isProtected('t')} as is_protected, ${isUnderAttack('a.address', 'a.service_id')} as under_attack
    from addresses a join services s on s.id = a.service_id
    left join shield_addresses t on t.address = a.address and t.service_id = a.service_id`;

const ips = pagedList<IpRow>({
  name: 'shield.ips',
  from: 'addresses a join services s on s.id = a.service_id',
  select: selectIps,
  within: `a.organization_id = :organizationId and ${isOwned}`,
  filters: {
    filter: `position(lower(:filter::text) in lower(concat_ws(' ', a.address::text, a.dns_name))) > 0`,
  },
  key: { by: 'a.address', type: 'inet', of: (row) => row.address },
  sorts: { address: null },
  order: 'address',
});

/** The addresses that an organization's machines have, as networks. */
export async function listIps(ctx: OrganizationContext, query: PageFromZero) {
  const { organizationId } = ctx;
  const { rows, at } = await ips(ctx, asList(query), { organizationId, filter: filterOf(query) });
  return { ips: await viewIps(ctx, rows), count: at.total, pages: Math.ceil(at.total / at.limit) };
}

const ipOf = statement<IpRow, { organizationId: number; address: string }>(
  'shield.ip',
  `${selectIps} where a.address = :address::inet and a.organization_id = :organizationId and ${isOwned}`,
);

/** One address of the caller's. `invalid_request`, `forbidden`. */
export async function requireIp(ctx: OrganizationContext, text: string) {
  const prefix = requireOneAddress(text, 'ip');
  await requireOwnAddresses(ctx, prefix, 'ip');
  const { organizationId } = ctx;
  const row = await ctx.db.maybe(ipOf, { organizationId, address: addressOf(prefix) });
  const [ip] = await viewIps(ctx, row === null ? [] : [row]);
  if (ip === undefined) throw fail('forbidden');
  return ip;
}

async function viewIps(ctx: OrganizationContext, rows: readonly IpRow[]) {
  const addresses = rows.map(({ address }) => address);
  const [rules, recent] = [await countRules(ctx, addresses), await readRecent(ctx, addresses)];
  return rows.map(({ address, service_id, hostname, dns_name, unmatched, is_protected, under_attack }) => {
    const { text, family } = single(address);
    return {
      ...{ address: text, dns_name, family: { value: family }, service_id, hostname },
      unmatched: unmatched ?? ('permit' as const),
      shield: { enabled: is_protected ?? false, under_attack },
      rules: rules.get(address) ?? 0,
      recent: recent(address),
    };
  });
}

// By one address and by wider networks apart, each by its index.
const activeRules = statement<
  { address: string; rules: number },
  { organizationId: number; addresses: string[]; now: Date }
>(
  'shield.countActiveRules',
  `select host(w.address) as address, (
     (select count(*) from shield_rules r where r.organization_id = :organizationId and r.destination = w.address::cidr
        and not r.disabled and (r.expires_at is null or r.expires_at > :now))
     + (select count(*) from shield_rules r where r.organization_id = :organizationId and ${isWide}
        and r.destination >>= w.address and not w.address = any(r.given_back)
        and not r.disabled and (r.expires_at is null or r.expires_at > :now)))::int as rules
   from unnest(:addresses::inet[]) as w(address)`,
);

async function countRules(
  ctx: OrganizationContext,
  addresses: readonly string[],
): Promise<Map<string, number>> {
  if (addresses.length === 0) return new Map();
  const { organizationId, clock } = ctx;
  const rows = await ctx.db.many(activeRules, {
    organizationId,
    addresses: [...addresses],
    now: clock.now(),
  });
  return new Map(rows.map(({ address, rules }) => [address, rules]));
}

const statusOf = statement<{ status: string }, { serviceId: number }>(
  'shield.statusOfService',
  'select status from services where id = :serviceId',
);
const setUnmatched = statement<never, { address: string; unmatched: string }>(
  'shield.setUnmatched',
  'update shield_addresses set unmatched = :unmatched where address = :address::inet',
);

export interface IpChange {
  address: string;
  dns_name?: string | null | undefined;
  unmatched?: 'permit' | 'deny' | null | undefined;
}

/** Holds the address that a change names; what it is like is checked by the change. */
export async function lockIp(tx: OrganizationContext & TxContext, { address }: IpChange): Promise<void> {
  await holdOwnAddresses(tx, requireOneAddress(address, 'address'), 'address');
}

/**
 * Gives one of the caller's addresses a name in reverse DNS or takes it away, and says what becomes of packets that no rule
 * matches. `forbidden`, `invalid_domain`, `not_supported` for names of IPv6 where the name server keeps none,
 * `action_not_allowed` for names while the service is suspended.
 */
export async function changeIp(
  ctx: OrganizationContext,
  { address: sent, dns_name, unmatched }: IpChange,
  dns: Pick<ReverseDns, 'capabilities'>,
): Promise<void> {
  const prefix = requireOneAddress(sent, 'address');
  await transaction(ctx, 'shield.changeIp', async (tx) => {
    const owned = await holdOwnAddresses(tx, prefix, 'address');
    const [own] = owned;
    if (own === undefined) throw fail('forbidden');
    const address = addressOf(prefix);
    if (dns_name !== undefined) await nameIt(tx, own.service_id, address, dns_name, dns);
    if (unmatched == null) return;
    const [row] = await lockPolicies(tx, owned);
    if (row === undefined || row.unmatched === unmatched) return;
    await tx.db.run(setUnmatched, { address, unmatched });
    await nextGeneration(tx, [row]);
    await record(tx, addressChanged, {
      subject: { type: 'service', id: own.service_id },
      data: { address, fields: ['unmatched'] },
    });
    await wantApplied(tx, [address]);
  });
}

async function nameIt(
  tx: OrganizationContext & TxContext,
  serviceId: number,
  address: string,
  sent: string | null,
  dns: Pick<ReverseDns, 'capabilities'>,
): Promise<void> {
  const name = sent === '' ? null : sent;
  const { status } = await tx.db.one(statusOf, { serviceId });
  if (status !== 'active')
    throw fail('action_not_allowed', { message: `The service of this address is ${status}` });
  if (isIPv6(address) && name !== null && !dns.capabilities.includes('ipv6')) {
    const message = 'The name server keeps no names of IPv6 addresses';
    throw fail('not_supported', { message, details: [{ field: 'address', message }] });
  }
  await setReverseName(tx, serviceId, address, name);
}
