import type { Action, Measure, Policy, Rule } from '../contract.ts';
import { type Network, parsePrefix } from '../prefix.ts';
import { type Flow, haveCommon, notSaid, type Route, routesOf } from './flow.ts';
import { encodeFlow, flowOrder } from './nlri.ts';

/** A flow as routers are told of it. */
export interface Told extends Route {
  bytes: Buffer;
  /** What it stands for, in messages. */
  says: string;
}

/**
 * A policy as flows in the order in which routers look at them. They go by a law of their own and not by ours, so it fails
 * with `not_supported` where that makes a difference to any packet.
 */
export function toldOfPolicy({ rules, unmatched }: Policy, network: Network): Told[] {
  const rest: Told[] =
    unmatched === 'deny' ? [told(everything(network), 'deny', 'what no rule matches')] : [];
  return inTheirOrder([...rules.flatMap((rule) => toldOfRule(rule, network)), ...rest]);
}

/** Why routers are not told of a rule; null is what no rule matches. */
export interface LeftOut {
  rule: number | null;
  why: string;
}

/**
 * Of a policy what routers can be told, so that they drop nothing that all of it would let through; whoever stands behind them has the
 * rest. A deny that they cannot be told is left out, and of all that comes after such a permit everything is.
 */
export function fittingOf(
  policy: Policy,
  network: Network,
): { policy: Policy; left: LeftOut[]; routes: number } {
  const rules: Rule[] = [];
  const left: LeftOut[] = [];
  const kept: Told[] = [];
  const takes = (make: () => Told[]): string | null => {
    try {
      const more = make();
      const stopped = kept.find((first) => more.some((then) => changesPlaces(first, then)));
      if (stopped !== undefined) return `routers would look at it before ${stopped.says}`;
      kept.push(...more);
      return null;
    } catch (error) {
      return (error as Error).message;
    }
  };
  let barrier: string | null = null;
  for (const rule of policy.rules) {
    const why = barrier ?? takes(() => toldOfRule(rule, network));
    if (why === null) rules.push(rule);
    else left.push({ rule: rule.id, why });
    if (why !== null && rule.action === 'permit') barrier ??= `it comes after rule ${rule.id}`;
  }
  const why =
    policy.unmatched === 'permit'
      ? null
      : (barrier ?? takes(() => [told(everything(network), 'deny', 'what no rule matches')]));
  if (why !== null) left.push({ rule: null, why });
  const fitting: Policy = { ...policy, rules, unmatched: why === null ? policy.unmatched : 'permit' };
  return { policy: fitting, left, routes: toldOfPolicy(fitting, network).length };
}

/** A measure's rules; what is exempt goes before them. */
export function toldOfFilter(measure: Extract<Measure, { kind: 'filter' }>, network: Network): Told[] {
  const exempt = measure.exempt.map((source) =>
    told({ ...everything(network), source: parsePrefix(source) }, 'permit', `exempt ${source}`),
  );
  return inTheirOrder([...exempt, ...measure.rules.flatMap((rule) => toldOfRule(rule, network))]);
}

/**
 * Fails where a measure and a policy of the same addresses cannot both be said: routers have one table, in which a flow of the
 * measure would have to come first, and what it permits goes on to the policy.
 */
export function checkTogether(measure: readonly Told[], policy: readonly Told[]): void {
  for (const first of measure) {
    for (const then of policy) {
      if (first.action === then.action || !haveCommon(first.flow, then.flow)) continue;
      if (first.action === 'permit')
        throw notSaid(
          `${first.says} of the measure would take packets from ${then.says} of the policy`,
          false,
        );
      if (orderOf(then, first) < 0)
        throw notSaid(
          `routers look at ${then.says} of the policy before ${first.says} of the measure`,
          false,
        );
    }
  }
}

/** Of one family. */
export function orderOf(one: Pick<Told, 'bytes' | 'flow'>, other: Pick<Told, 'bytes'>): number {
  return flowOrder(one.bytes, other.bytes, one.flow.destination.family);
}

export function everything(destination: Network): Flow {
  return {
    ...{ destination, source: null, protocols: null, destinationPorts: null, sourcePorts: null },
    ...{ flags: null, lengths: null, dscp: null, fragment: null },
  };
}

function toldOfRule(rule: Rule, network: Network): Told[] {
  const says = `rule ${rule.id}`;
  try {
    return routesOf(rule, network).map(({ flow, action }) => told(flow, action, says));
  } catch (error) {
    const { message } = error as Error;
    throw message.startsWith(says) ? error : notSaid(`${says}: ${message}`);
  }
}

function told(flow: Flow, action: Action, says: string): Told {
  return { flow, action, says, bytes: encodeFlow(flow) };
}

/** Whether routers would have the second before the first, where that makes a difference. */
function changesPlaces(first: Told, then: Told): boolean {
  return first.action !== then.action && haveCommon(first.flow, then.flow) && orderOf(then, first) < 0;
}

function inTheirOrder(list: readonly Told[]): Told[] {
  const there = new Set<string>();
  const once = list.filter(({ bytes }) => {
    const hex = bytes.toString('hex');
    return !there.has(hex) && there.add(hex);
  });
  // What nothing behind it would deny passes anyway, and has no need of a place in a router's table.
  const needed = once.filter(
    (each, at) =>
      each.action === 'deny' ||
      once.slice(at + 1).some((later) => later.action === 'deny' && haveCommon(each.flow, later.flow)),
  );
  for (const [at, first] of needed.entries()) {
    for (const then of needed.slice(at + 1)) {
      if (changesPlaces(first, then))
        throw notSaid(`routers would look at ${then.says} before ${first.says}`);
    }
  }
  return needed.toSorted(orderOf);
}
