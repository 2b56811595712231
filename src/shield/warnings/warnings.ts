import { judgeOf, type Match, type Packet, type Policy } from '../../drivers/edge/index.ts';
import type { OrganizationContext } from '../../platform/index.ts';
import { findPolicies } from '../enforce/addressRows.ts';
import { readPolicies } from '../enforce/apply.ts';
import { addressAt, addressOf, prefixFrom, single } from '../prefix.ts';
import { covers, type Reach, reachOf } from './covers.ts';

/** What may surprise about rules that were taken all the same. */
export interface Warning {
  code: 'never_matches' | 'drops_answers' | 'shuts_out_caller';
  message: string;
  address: string;
  rule_id: number | null;
  /** The rule that takes all of its packets. */
  shadowed_by: number | null;
}

/** Of wide destinations so many addresses are looked at: their rules are mostly the same. */
const mostAddresses = 8;

/** What may surprise about the policies of these addresses as they stand now; of rules, only of these. */
export async function warningsOf(
  ctx: OrganizationContext,
  addresses: readonly string[],
  rules: readonly number[],
): Promise<Warning[]> {
  const rows = await findPolicies(ctx, addresses.slice(0, mostAddresses));
  const { policies } = await readPolicies(ctx, rows);
  return policies.flatMap((policy) => surprises(policy, ctx.actor.ip, rules));
}

/** The same of a policy that need not be anybody's yet. `rules` null: all of them. */
export function surprises(
  policy: Policy,
  callerIp: string | null,
  rules: readonly number[] | null,
): Warning[] {
  return [
    ...shadowed(policy, rules),
    ...answersDropped(policy),
    ...(shutsOut(policy, callerIp) ? [lockOut(policy)] : []),
  ];
}

function shadowed(policy: Policy, wanted: readonly number[] | null): Warning[] {
  const reaches = policy.rules.map(({ match }) => reachOf(match));
  return policy.rules.flatMap((rule, nth): Warning[] => {
    const own = reaches[nth] as Reach;
    const by = policy.rules.find((_, place) => place < nth && covers(reaches[place] as Reach, own));
    // Whoever makes the one that takes everything is told, as is whoever makes the one that gets nothing.
    if (by === undefined || !(wanted === null || wanted.includes(rule.id) || wanted.includes(by.id)))
      return [];
    const message = `Rule ${rule.id} can never match: rule ${by.id} comes before it and takes all of its packets`;
    return [
      {
        code: 'never_matches',
        message,
        address: nameOf(policy),
        rule_id: rule.id,
        shadowed_by: by.id,
      },
    ];
  });
}

const questions = { DNS: 53, NTP: 123 } as const;
/** From there on systems take the ports that they ask from. */
const askingPort = 40_000;

function answersDropped(policy: Policy): Warning[] {
  const judge = judgeOf(policy);
  const sources = sourcesOf(policy);
  return Object.entries(questions).flatMap(([name, port]): Warning[] => {
    const isLetIn = sources.some((source) => {
      const packet = {
        ...packetTo(policy, source),
        protocol: 17,
        ports: { source: port, destination: askingPort },
      };
      return judge(packet).action === 'permit';
    });
    if (isLetIn) return [];
    const message = `Answers to the machine's own questions by ${name} are dropped: UDP from port ${port} to ports from 1024 on`;
    return [{ code: 'drops_answers', message, address: nameOf(policy), rule_id: null, shadowed_by: null }];
  });
}

/** Whether somebody at this address can open no connection to SSH any more. */
export function shutsOut(policy: Policy, callerIp: string | null): boolean {
  if (callerIp === null) return false;
  const caller = callerIp.replace(/^::ffff:(?=\d+\.)/i, '');
  if (caller.includes(':') !== policy.destination.includes(':')) return false;
  const packet: Packet = {
    ...packetTo(policy, caller),
    ...{ protocol: 6, ports: { source: askingPort, destination: 22 }, flags: ['syn'] },
  };
  return judgeOf(policy)(packet).action === 'deny';
}

function lockOut(policy: Policy): Warning {
  const message = 'The address that you come from cannot reach SSH (TCP to port 22) any more';
  return {
    code: 'shuts_out_caller',
    message,
    address: nameOf(policy),
    rule_id: null,
    shadowed_by: null,
  };
}

/** One address of each network that a rule names, and one that none does. */
function sourcesOf({ destination, rules }: Policy): string[] {
  const named = rules.flatMap(({ match }: { match: Match }) => match.sources ?? []);
  const networks = [...new Set(named)].map(prefixFrom);
  const { family } = single(addressOf(prefixFrom(destination)));
  const elsewhere = family === 4 ? 0xc6336407n : (0x20010db8n << 96n) | 7n;
  return [addressAt(family, elsewhere), ...networks.map(({ first }) => addressAt(family, first))];
}

function packetTo({ destination }: Policy, source: string): Packet {
  return {
    ...{ source, destination: addressOf(prefixFrom(destination)), protocol: null, ports: null, flags: null },
    ...{ dscp: 0, ecn: 0, ttl: 60, length: 120, fragment: false },
  };
}

function nameOf({ destination }: Policy): string {
  return destination;
}
