import type { Schema } from '../../../client/index.ts';
import { useText } from '../text/index.ts';
import type { Words } from './draft.ts';

/** Protocols have no other names in any language. */
export const protocolNames = { 1: 'ICMP', 4: 'IP in IP', 6: 'TCP', 17: 'UDP', 47: 'GRE', 50: 'ESP' } as const;
export type Protocol = keyof typeof protocolNames;

/** ICMP of IPv6 has a number of its own in packets. */
const nameOf = (protocol: number) => (protocol === 58 ? 'ICMPv6' : protocolNames[protocol as Protocol]);

/** Fields of a packet that are numbers, with the largest of each. */
export const numbers = { length: 65_575, ttl: 255, dscp: 63, ecn: 3, proto: 255 } as const;

const isNumber = (what: string): what is keyof typeof numbers => what in numbers;

export const hasPorts = (protocol: number) => protocol === 6 || protocol === 17;

type Port = Schema<'ShieldPort'>;
type Match = Schema<'ShieldMatch'>;
type Traced = Schema<'ShieldTracedPacket'>;
type Said = Pick<Words, 'action' | 'protocol' | 'source' | 'source_port' | 'destination_port' | 'matches'>;

export interface SayRule {
  /** What becomes of the packets: `Drop`. */
  action: (action: Words['action']) => string;
  /** Which packets: `TCP to port 22 from 198.51.100.0/24, SYN set`. */
  packets: (rule: Said) => string;
  /** One packet that came by: `TCP to port 22 from 198.51.100.9, port 40000, SYN`. */
  packet: (packet: Traced) => string;
  /** The whole rule in a line, for who hears it. */
  whole: (rule: Said & { note: string | null }) => string;
}

/** Says rules in the language of whoever looks. */
export function useSayRule(): SayRule {
  const { t } = useText();
  const ports = ({ match_type: how, match_value: values = [], range }: Port): string => {
    const list = values.join(', ');
    if (how === 'range') return t('shield.portsFrom', { start: range?.start ?? 0, end: range?.end ?? 0 });
    if (how === 'eq') return t(values.length > 1 ? 'shield.portsAre' : 'shield.portIs', { list });
    return t(`shield.ports_${how}`, { list });
  };
  const match = ({ match: of, match_type: how, match_value: value, range }: Match): string => {
    if (of === 'fragments') return t(value === true ? 'shield.isPart' : 'shield.isWhole');
    const name = of.toUpperCase();
    if (!isNumber(of)) return t(value === true ? 'shield.flagSet' : 'shield.flagUnset', { flag: name });
    const field = of === 'proto' ? t('shield.protocol') : of === 'length' ? t('shield.ofLength') : name;
    if (how === 'range') return `${field} ${range?.start}–${range?.end}`;
    return `${field} ${{ eq: '=', neq: '≠', gt: '>', lt: '<' }[how]} ${String(value)}`;
  };
  const packets = ({ protocol, source, source_port, destination_port, matches }: Said): string => {
    const to = destination_port === null ? '' : t('shield.to', { ports: ports(destination_port) });
    const from = source === null ? t('shield.fromAnywhere') : t('shield.from', { source });
    const by = source_port === null ? '' : t('shield.byPort', { ports: ports(source_port) });
    const first = [protocolNames[protocol as Protocol], to, from, by].filter(Boolean).join(' ');
    return [first, ...matches.map(match)].join(', ');
  };
  const packet = ({ protocol, source, source_port: from, destination_port: to, ...of }: Traced): string => {
    const name = protocol === null ? t('shield.unknownProtocol') : (nameOf(protocol) ?? String(protocol));
    const first = [
      name,
      to !== null && t('shield.to', { ports: t('shield.portIs', { list: to }) }),
      t('shield.from', { source }),
      from !== null && t('shield.byPort', { ports: t('shield.portIs', { list: from }) }),
    ];
    return [
      first.filter(Boolean).join(' '),
      ...(of.flags ?? []).map((flag) => flag.toUpperCase()),
      ...(of.fragment ? [t('shield.isPart')] : []),
      t('shield.bytesLong', { count: of.length }),
    ].join(', ');
  };
  const action = (of: Words['action']) => t(`shield.action_${of}`);
  return {
    action,
    packets,
    packet,
    whole: ({ note, ...rule }) => note ?? `${action(rule.action)} ${packets(rule)}`,
  };
}

/** What an attack is called; the services that reflect keep their names. */
export function useSayAttack(): (attack: {
  kind: Schema<'ShieldAttack'>['kind'];
  description: string;
}) => string {
  const { t } = useText();
  return ({ kind, description }) => {
    const [, service] = /^(.+) reflection$/.exec(description) ?? [];
    if (kind === 'reflection' && service !== undefined) return t('shield.reflectionOf', { service });
    return t(`shield.kind_${kind}`);
  };
}

/** `203.0.113.10` of `203.0.113.10/32`; what is wider stays as it is. */
export function plainOf(network: string): string {
  return network.replace(/^([\d.]+)\/32$|^([\da-f:.]+)\/128$/i, '$1$2');
}
