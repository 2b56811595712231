import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { serially } from '../../serially.ts';
import { EdgeError, type Packet, type PacketKind, type TraceBounds, type Traced } from '../contract.ts';
import { packetOf } from '../headers.ts';
import { parsePrefix, prefixText, shortText } from '../prefix.ts';
import { type TableFamily, table, tracePrefix } from './base.ts';
import { conditions, unmatchedMark } from './compile.ts';
import type { Kernel } from './kernel.ts';
import { everywhere } from './lines.ts';
import { logMessages, logOf, packetAttributes } from './log.ts';
import { readName, writingOf } from './names.ts';
import { type Attributes, listen, type Message, textOf } from './netlink.ts';
import type { State } from './state.ts';
import type { Steps } from './steps.ts';

// linux/netfilter/nf_tables.h
const traceMessage = 0x0a11;
const told = {
  table: 1,
  chain: 2,
  rule: 3,
  verdict: 5,
  id: 6,
  network: 8,
  transport: 9,
  family: 15,
  policy: 16,
};
const verdicts = { drop: 0, accept: 1 };
const bridgeFamily = 7;
/** NFNLGRP_NFTRACE, as a bit. */
const traces = 1 << 8;

/** A packet on its way: what it is, and which rule had the last word. */
interface Trail {
  packet: Packet;
  last: { of: TableFamily; chain: string; handle: bigint; action: Traced['action'] } | null;
}

export type Tracing = (kind: PacketKind, until: TraceBounds) => Promise<Traced[]>;

/**
 * The kernel traces the packets of a kind that come next: a chain before all others marks so many of them, and logs their heads,
 * which a trace shows too little of. One trace at a time; its chain does nothing more once so many are marked.
 */
export function tracingOf(
  kernel: Kernel,
  inside: (argv: readonly string[]) => readonly string[],
  group: number,
  { inTurn }: Pick<Steps, 'inTurn'>,
): Tracing {
  const inSeries = serially();
  return (kind, until) =>
    inSeries('trace', async () => {
      const name = `${tracePrefix}${randomBytes(4).toString('hex')}`;
      const { hear, trails, done } = trailsOf(name, until.packets);
      const listener = listen(inside, { groups: traces, asked: [logOf(group, 1)] }, hear);
      const load = (lines: (at: string) => string[]) =>
        inTurn((now) => kernel.load(everywhere(now, (of, at) => (judges(now, of, kind) ? lines(at) : []))));
      try {
        await listener.ready;
        await load((at) => marking(at, name, group, kind, until.packets));
        const ended = new AbortController();
        await Promise.race([done, sleep(until.seconds * 1_000, undefined, { signal: ended.signal })]);
        ended.abort();
      } finally {
        // Where that fails, the chain goes when our tables are read anew.
        await load((at) => [`flush chain ${at} ${name}`, `delete chain ${at} ${name}`]).catch(orRefused);
        await listener.close();
      }
      const found: Traced[] = [];
      for (const trail of trails().slice(0, until.packets)) found.push(await named(kernel, trail));
      return found;
    });
}

function orRefused(error: unknown): void {
  if (!(error instanceof EdgeError)) throw error;
}

function judges({ layout }: State, of: TableFamily, { destination }: PacketKind): boolean {
  return layout.get(of)?.includes(parsePrefix(destination).family) ?? false;
}

function marking(at: string, name: string, group: number, kind: PacketKind, packets: number): string[] {
  const network = parsePrefix(kind.destination);
  const hook = at.startsWith('bridge') ? 'forward' : 'prerouting';
  const match = [
    `${network.family === 4 ? 'ip' : 'ip6'} daddr ${shortText(network)}`,
    ...conditions(kind.match, network),
  ];
  return [
    `add chain ${at} ${name} { type filter hook ${hook} priority -451; policy accept; }`,
    `add rule ${at} ${name} ${match.join(' ')} limit rate 1/day burst ${packets} packets ` +
      `log prefix "${name}" group ${group} snaplen 128 meta nftrace set 1`,
  ];
}

/** Puts together what the kernel tells of each packet. */
function trailsOf(name: string, packets: number) {
  const logged: Buffer[] = [];
  const underWay = new Map<number, Trail>();
  const over: Trail[] = [];
  let isDone = () => {};
  const done = new Promise<void>((resolve) => {
    isDone = resolve;
  });
  const begin = (attributes: Attributes) => {
    // Of a later part in IPv6 the kernel takes the first header for the transport's.
    const network = attributes.get(told.network) ?? attributes.get(told.transport);
    const at = logged.findIndex(
      (head) => network !== undefined && head.subarray(0, network.length).equals(network),
    );
    const [head] = at < 0 ? [] : logged.splice(at, 1);
    const packet = head && packetOf(head);
    if (packet) underWay.set(numberOf(attributes.get(told.id)), { packet, last: null });
  };
  const hear = ({ type, attributes }: Message) => {
    if (type === logMessages.packet && textOf(attributes.get(packetAttributes.prefix)) === name) {
      logged.push(Buffer.from(attributes.get(packetAttributes.payload) ?? []));
    }
    if (type !== traceMessage || textOf(attributes.get(told.table)) !== table) return;
    const chain = textOf(attributes.get(told.chain));
    const id = numberOf(attributes.get(told.id));
    if (chain === name) {
      if (!underWay.has(id)) begin(attributes);
      return;
    }
    const trail = underWay.get(id);
    // A rule says what it did; a chain that ends without, what then becomes of the packet.
    const verdict = verdictOf(attributes.get(told.verdict)) ?? numberOf(attributes.get(told.policy));
    if (trail === undefined || (verdict !== verdicts.drop && verdict !== verdicts.accept)) return;
    const of = numberOf(attributes.get(told.family)) === bridgeFamily ? 'bridge' : 'inet';
    const handle = attributes.get(told.rule)?.readBigUInt64BE(0) ?? 0n;
    trail.last = { of, chain, handle, action: verdict === verdicts.drop ? 'deny' : 'permit' };
    underWay.delete(id);
    over.push(trail);
    if (over.length >= packets) isDone();
  };
  return { hear, done, trails: () => over };
}

function numberOf(value: Buffer | undefined): number {
  return value === undefined || value.length < 4 ? -1 : value.readUInt32BE(0);
}

/** The code alone: what begins with it, struct nlattr of NFTA_VERDICT_CODE. */
function verdictOf(value: Buffer | undefined): number | null {
  return value === undefined || value.length < 8 ? null : value.readInt32BE(4);
}

async function named(kernel: Kernel, { packet, last }: Trail): Promise<Traced> {
  const writing = last === null ? null : readName(writingOf(last.chain));
  if (last === null || writing === null) return { packet, by: null, action: last?.action ?? 'permit' };
  const { of, network, generation } = writing;
  const by = { of, destination: prefixText(network), generation, rule: await ruleOf(kernel, last, packet) };
  return { packet, by, action: last.action };
}

async function ruleOf(
  kernel: Kernel,
  { of, chain, handle }: NonNullable<Trail['last']>,
  packet: Packet,
): Promise<number | null> {
  const limited = /_l(\d+)$/.exec(chain);
  if (limited !== null) return Number(limited[1]);
  const listings = await kernel.list([{ of, kind: 'chain', name: chain }]);
  const rule = listings
    .get(of)
    ?.chains.get(chain)
    ?.find((each) => each.handle === Number(handle));
  const mark = rule?.map
    ? await kernel.comment(of, rule.map.name, keyOf(rule.map.keys, packet))
    : rule?.comment;
  return mark == null || mark === unmatchedMark ? null : Number(mark);
}

/** By what a map of neighbouring rules is looked up: the last is left out where it is not about ports. */
function keyOf(keys: number, { protocol, source, ports }: Packet): string {
  return [protocol ?? 0, shortText(parsePrefix(source)), ports?.destination ?? 0].slice(0, keys).join(' . ');
}
