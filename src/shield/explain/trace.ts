import {
  type Edge,
  EdgeError,
  flagBits,
  type Match,
  type Packet,
  type TcpFlag,
  type Traced,
} from '../../drivers/edge/index.ts';
import { createTurns } from '../../platform/http/index.ts';
import { fail, type OrganizationContext, statement } from '../../platform/index.ts';
import type { EdgeOf } from '../enforce/turn.ts';
import { byNode } from '../owned.ts';
import { prefixFrom } from '../prefix.ts';
import type { Asked } from './asked.ts';
import { traceElsewhere } from './elsewhere.ts';

/** Somebody waits for it, so it is short. */
export const mostTraced = { packets: 20, seconds: 10 } as const;

export interface TraceTerms {
  packets?: number | null | undefined;
  seconds?: number | null | undefined;
}

// A kernel traces one kind of packets at a time; an edge that hangs keeps nobody for longer.
const patienceMs = 10_000;
const graceMs = 5_000;
const turnsOf = (what: string) =>
  createTurns(1, patienceMs, () =>
    fail('unavailable', { message: `${what}; try again in some seconds`, retryAfterS: 10 }),
  );
// Of an organization one waits in the node's line, however many it asks for: the others wait for that one.
const ownTurns = turnsOf('Other packets of yours are traced');
const turns = turnsOf('Other packets are traced at the node of this address');

/**
 * What the edge decides on the next packets like the one that is asked about, as they come by: of what is left out, packets may
 * have any. `not_supported` where the edge traces none, `unavailable` where it is not in reach.
 */
export async function traceNext(
  ctx: OrganizationContext,
  { asked, packet }: { asked: Asked; packet: Packet },
  terms: TraceTerms,
  edgeOf: EdgeOf,
) {
  const { nodeId, edge } = await edgeBefore(ctx, packet.destination, edgeOf);
  const packets = terms.packets ?? mostTraced.packets;
  const seconds = terms.seconds ?? mostTraced.seconds;
  const kind = { destination: prefixFrom(packet.destination).text, match: kindOf(asked, packet) };
  const leave = await takeTurn(ctx.organizationId, nodeId);
  const waiting = new AbortController();
  const until = { packets, seconds };
  const tracing = (
    edge === null ? traceElsewhere(ctx, nodeId, kind, until, waiting.signal) : edge.trace(kind, until)
  ).finally(leave);
  const traced = await withinTime(tracing, seconds * 1_000 + graceMs).finally(() => waiting.abort());
  return { seconds, packets: traced.map(viewTraced) };
}

async function takeTurn(organizationId: number, nodeId: number): Promise<() => void> {
  const leaveOwn = await ownTurns.take(`${organizationId} ${nodeId}`);
  try {
    const leave = await turns.take(String(nodeId));
    return () => {
      leave();
      leaveOwn();
    };
  } catch (error) {
    leaveOwn();
    throw error;
  }
}

const nothingFilters = 'Nothing filters packets to this address at present, so none can be traced';
const cannotTrace = 'The edge of this address cannot trace packets; ask without live';

const heardOf = statement<{ id: number }, { nodeId: number }>(
  'shield.nodeHeardOf',
  'select id from nodes where id = :nodeId and reachable',
);

/** `edge` null: another process has it, which is heard of. */
async function edgeBefore(ctx: OrganizationContext, address: string, edgeOf: EdgeOf) {
  const [nodeId] = (await byNode(ctx, [address])).keys();
  const outOfReach = 'The node of this address is not in reach of the server that answers here';
  if (nodeId === undefined) throw fail('unavailable', { message: outOfReach });
  let edge: Edge;
  try {
    edge = edgeOf(nodeId);
  } catch (error) {
    if (!(error instanceof EdgeError)) throw error;
    if (error.code === 'nothing_filters') throw notTraced(nothingFilters, error);
    if (await ctx.db.maybe(heardOf, { nodeId })) return { nodeId, edge: null };
    throw fail('unavailable', { message: outOfReach, cause: error });
  }
  if (edge.capabilities.includes('trace')) return { nodeId, edge };
  throw notTraced(cannotTrace);
}

function notTraced(message: string, cause?: unknown) {
  return fail('not_supported', { message, details: [{ field: 'live', message }], cause });
}

/** The packet itself says all that was not left out. */
function kindOf(
  asked: Asked,
  { source, protocol, ports, flags, dscp, ecn, ttl, length, fragment }: Packet,
): Match {
  const only = (value: number) => [[value, value]] as const;
  const match: Match = { sources: [prefixFrom(source).text] };
  if (protocol !== null) match.protocols = only(protocol);
  if (ports !== null && asked.source_port != null) match.sourcePorts = only(ports.source);
  if (ports !== null && asked.destination_port != null) match.destinationPorts = only(ports.destination);
  if (flags !== null && asked.flags != null) {
    const names = Object.keys(flagBits) as TcpFlag[];
    match.flags = Object.fromEntries(names.map((name) => [name, flags.includes(name)]));
  }
  if (asked.dscp != null) match.dscp = only(dscp);
  if (asked.ecn != null) match.ecn = only(ecn);
  if (asked.ttl != null) match.ttl = only(ttl);
  if (asked.length != null) match.lengths = only(length);
  if (asked.fragment != null) match.fragment = fragment;
  return match;
}

async function withinTime(tracing: Promise<Traced[]>, ms: number): Promise<Traced[]> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const message = 'The edge of this address did not answer in time; try again shortly';
    timer = setTimeout(() => reject(fail('unavailable', { message })), ms);
  });
  try {
    return await Promise.race([tracing, late]);
  } catch (error) {
    if (!(error instanceof EdgeError)) throw error;
    if (error.code === 'nothing_filters') throw notTraced(nothingFilters, error);
    if (error.code === 'not_supported') throw notTraced(cannotTrace, error);
    throw fail('unavailable', {
      message: 'The packets could not be traced; try again shortly',
      cause: error,
    });
  } finally {
    clearTimeout(timer);
  }
}

export const deciders = ['rule', 'unmatched', 'mitigation', 'nothing'] as const;

function viewTraced({ packet, action, by }: Traced) {
  const { source, protocol, ports, flags, dscp, ecn, ttl, length, fragment } = packet;
  const isOfPolicy = by?.of === 'policy';
  const decider: (typeof deciders)[number] =
    by === null ? 'nothing' : !isOfPolicy ? 'mitigation' : by.rule === null ? 'unmatched' : 'rule';
  return {
    ...{ source, protocol, source_port: ports?.source ?? null, destination_port: ports?.destination ?? null },
    ...{ flags: flags === null ? null : [...flags], dscp, ecn, ttl, length, fragment },
    ...{ action, by: decider, rule_id: isOfPolicy ? by.rule : null },
  };
}
