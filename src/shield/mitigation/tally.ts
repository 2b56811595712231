import type { RuleCount } from '../../drivers/edge/index.ts';
import { type Amount, nothing, nothingSeen, type Seen, sum, without } from '../watch/seen.ts';
import type { Defence, Mitigation, Tally } from './defence.ts';
import { type PartOf, ruleFor } from './rules.ts';

/** What the filter of one address has counted between two readings. */
export interface Counted {
  defence: Defence;
  /** Since the reading before; null: there was none. */
  seconds: number | null;
  /** What went past all that is done, in how many seconds; null without a filter, and at the first reading. */
  past: { seen: Seen; seconds: number } | null;
  /** What came from senders whose traffic is no attack, and whether there are any. */
  spared: Seen;
  spares: boolean;
}

/** Adds up what has been counted since the reading before; `counts` are those of the measures of its address. */
export function countedOf(defence: Defence, counts: readonly RuleCount[], at: Date): Counted {
  const seconds = defence.readAt === null ? null : (at.getTime() - defence.readAt.getTime()) / 1_000;
  const past = new Map<PartOf, Amount>();
  const spared = new Map<PartOf, Amount>();
  const dropped = new Map<string, Amount>();
  const tally: Record<string, Tally[string]> = {};
  const add = <Key>(to: Map<Key, Amount>, key: Key, amount: Amount) =>
    to.set(key, sum(to.get(key) ?? nothing, amount));
  for (const count of counts) {
    const key = `${count.writing} ${count.rule}`;
    const now = [count.packets, count.bytes, count.droppedPackets, count.droppedBytes] as const;
    const before = defence.tally[key] ?? [0, 0, 0, 0];
    tally[key] = now;
    const all = { packets: now[0] - before[0], bytes: now[1] - before[1] };
    const above = { packets: now[2] - before[2], bytes: now[3] - before[3] };
    if (count.rule === null) {
      // Of a filter: those that the edge answered in the place of the machine.
      add(dropped, 'syn synproxy', all);
      continue;
    }
    const rule = ruleFor(count.rule);
    if (rule.is === 'spared') add(spared, rule.kind, all);
    else if (rule.is === 'exempt') continue;
    else if (rule.is === 'drop') add(dropped, `${rule.kind} ${rule.measure}`, all);
    else {
      if (rule.part !== null) add(past, rule.part, without(all, above));
      if (rule.is === 'limit') add(dropped, `${rule.kind} ${rule.measure}`, above);
    }
  }
  const withDrops = (each: Mitigation): Mitigation => {
    const more = dropped.get(`${each.kind} ${each.measure}`);
    return more === undefined || more.packets === 0 ? each : { ...each, dropped: sum(each.dropped, more) };
  };
  const spent = [...new Set(counts.filter(({ isOver }) => isOver).map(({ writing }) => writing))];
  // One that was released may have been begun anew: what is counted since is the new one's.
  const stands = new Set(defence.standing.map(({ kind, measure }) => `${kind} ${measure}`));
  return {
    defence: {
      ...defence,
      ...{ tally, spent, readAt: at },
      standing: defence.standing.map(withDrops),
      leaving: defence.leaving.map((each) =>
        stands.has(`${each.kind} ${each.measure}`) ? each : withDrops(each),
      ),
    },
    seconds,
    past: defence.filter === null || seconds === null ? null : { seen: seenOf(past), seconds },
    spared: seenOf(spared),
    spares: spared.size > 0,
  };
}

/** What is counted by parts, as the edge would have counted it by address. */
function seenOf(parts: ReadonlyMap<PartOf, Amount>): Seen {
  const of = (part: PartOf) => parts.get(part) ?? nothing;
  return {
    ...nothingSeen,
    ...{ fragments: of('fragments'), syn: of('syn'), icmp: of('icmp'), other: of('other') },
    tcp: sum(of('syn'), of('ack')),
    udp: [of('udp'), of('reflection'), of('fragments')].reduce(sum),
    reflection: new Map([[0, of('reflection')]]),
  };
}

/** What came to an address, without what came from those who are spared. */
export function withoutSpared(seen: Seen, spared: Seen): Seen {
  const reflected = [...spared.reflection.values()].reduce(sum, nothing);
  const all = [...seen.reflection.values()].reduce(sum, nothing);
  // By which of its ports they sent is not counted: each has its share.
  const share = all.packets === 0 ? 0 : Math.max(0, 1 - reflected.packets / all.packets);
  return {
    transfers: seen.transfers,
    ...{ tcp: without(seen.tcp, spared.tcp), udp: without(seen.udp, spared.udp) },
    ...{ icmp: without(seen.icmp, spared.icmp), other: without(seen.other, spared.other) },
    ...{ syn: without(seen.syn, spared.syn), fragments: without(seen.fragments, spared.fragments) },
    reflection: new Map(
      [...seen.reflection].map(([port, { packets, bytes }]) => [
        port,
        { packets: Math.round(packets * share), bytes: Math.round(bytes * share) },
      ]),
    ),
  };
}
