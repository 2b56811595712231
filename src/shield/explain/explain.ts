import { judge, type Match, type Packet } from '../../drivers/edge/index.ts';
import type { Principal } from '../../platform/http/index.ts';
import { fail, type OrganizationContext, refuse } from '../../platform/index.ts';
import { peekPolicies } from '../enforce/addressRows.ts';
import { readPolicies } from '../enforce/apply.ts';
import type { EdgeOf } from '../enforce/turn.ts';
import { requireOneAddress, requireOwnAddresses } from '../owned.ts';
import { addressOf, readPrefix, sizeOf } from '../prefix.ts';
import type { Asked } from './asked.ts';
import { type TraceTerms, traceNext } from './trace.ts';

/** What of a rule a packet does not meet, in the words of the API. */
const wordsOf = {
  sources: 'source',
  destination: 'destination',
  protocols: 'protocol',
  sourcePorts: 'source_port',
  destinationPorts: 'destination_port',
  flags: 'flags',
  dscp: 'dscp',
  ecn: 'ecn',
  ttl: 'ttl',
  lengths: 'length',
  fragment: 'fragments',
} as const satisfies Record<keyof Match, string>;

/**
 * Which rule decides about a packet to one of the caller's addresses, and why those before it do not. `live`: what is decided on the
 * next ones like it as well, as they come by.
 */
export async function explainPacket(
  ctx: OrganizationContext,
  { live, packets, seconds, ...asked }: Asked & TraceTerms & { live?: boolean | null | undefined },
  edgeOf: EdgeOf,
  { isTest }: Pick<Principal, 'isTest'>,
) {
  // It would hold a transaction, which is to be taken back, for as long as packets are waited for.
  if (live && isTest)
    throw fail('permission_denied', {
      message: 'A key for trying out has no packets traced; ask without live',
    });
  const prefix = requireOneAddress(asked.destination, 'destination');
  const owned = await requireOwnAddresses(ctx, prefix, 'destination');
  const packet = packetOf(asked, addressOf(prefix));
  if (live !== true && (packets != null || seconds != null))
    throw refuse(packets == null ? 'seconds' : 'packets', 'is for live: true');
  const rows = await peekPolicies(ctx, owned);
  const [policy] = (await readPolicies(ctx, rows)).policies;
  if (policy === undefined) throw new Error('an address without a policy');
  const { action, rule } = judge(policy, packet);
  const last = rule === null ? policy.rules.length : policy.rules.indexOf(rule) + 1;
  return {
    action,
    rule_id: rule?.id ?? null,
    // What comes above the rate is dropped, which no single packet shows.
    limited: (rule?.limit ?? null) !== null,
    in_force: rows.every(({ in_force, generation }) => generation === 0 || in_force === generation),
    way: policy.rules.slice(0, last).map(({ id, action: wanted, match }) => {
      const unmet = unmetBy(match, packet);
      return { rule_id: id, action: wanted, matches: unmet.length === 0, unmet };
    }),
    live: live === true ? await traceNext(ctx, { asked, packet }, { packets, seconds }, edgeOf) : null,
  };
}

function unmetBy(match: Match, packet: Packet): string[] {
  return (Object.keys(match) as (keyof Match)[])
    .filter((part) => {
      const alone = { id: 1, action: 'permit' as const, match: { [part]: match[part] }, limit: null };
      return judge({ rules: [alone], unmatched: 'deny' }, packet).rule === null;
    })
    .map((part) => wordsOf[part]);
}

const icmp = 1;
const icmp6 = 58;

function packetOf(asked: Asked, destination: string): Packet {
  const source = readPrefix(asked.source.trim());
  if (typeof source === 'string' || sizeOf(source) > 1n)
    throw refuse('source', typeof source === 'string' ? source : 'must be one address, not a network');
  const isIpv6 = destination.includes(':');
  if ((source.family === 6) !== isIpv6)
    throw refuse('source', 'must be of the same family as destination: both IPv4, or both IPv6');
  const protocol = asked.protocol === icmp && isIpv6 ? icmp6 : asked.protocol;
  const hasPorts = protocol === 6 || protocol === 17;
  for (const field of ['source_port', 'destination_port'] as const) {
    if (asked[field] != null && !hasPorts)
      throw refuse(field, 'is for TCP and UDP (protocol 6 and 17) alone');
  }
  if (asked.flags != null && protocol !== 6) throw refuse('flags', 'are those of TCP (protocol 6)');
  return {
    ...{ source: addressOf(source), destination, protocol },
    ports: hasPorts
      ? { source: asked.source_port ?? 40_000, destination: asked.destination_port ?? 0 }
      : null,
    flags: protocol === 6 ? (asked.flags ?? ['syn']) : null,
    dscp: asked.dscp ?? 0,
    ecn: asked.ecn ?? 0,
    ttl: asked.ttl ?? 64,
    length: asked.length ?? 60,
    fragment: asked.fragment ?? false,
  };
}
