import type { Head } from '../../drivers/edge/index.ts';
import { prefixFrom } from '../prefix.ts';
import { kindOf } from './kindOf.ts';
import { downloadBytes, transferBytes } from './lengths.ts';
import { isFrom, type Looked } from './samples.ts';
import type { Seen, Share } from './seen.ts';

/** So many are few: all the hosts of a page, a speed test, the others of whom a file is fetched. */
const few = 64;
/** Fewer samples tell nothing of how many there are. */
const leastSamples = 64;
/** Systems ask from ports from here on, and services answer from those below. */
const askingFrom = 32_768;

/**
 * With what samples show of it: which share of what came is a transfer, large packets from few. Of TCP that is few senders: they wait for
 * what the guest answers. Of UDP it is few conversations, as who floods mostly sends to or from ever other ports; and it is certain only
 * where it comes from a service's port to one that somebody asks from.
 */
export function withTransfers(
  seen: ReadonlyMap<string, Seen>,
  samples: readonly Looked[],
  watched: ReadonlyMap<string, { whitelist: readonly string[] }>,
): Map<string, Seen> {
  const found = new Map(seen);
  for (const [address, theirs] of Map.groupBy(samples, (each) => each.address)) {
    const all = seen.get(address);
    if (all === undefined) continue;
    const spared = (watched.get(address)?.whitelist ?? []).map(prefixFrom);
    const counted = spared.length === 0 ? theirs : theirs.filter(({ head }) => !isFrom(spared, head));
    found.set(address, { ...all, transfers: transfersOf(counted) });
  }
  return found;
}

function transfersOf(samples: readonly Looked[]): NonNullable<Seen['transfers']> {
  const tcp = samples.filter(({ head }) => kindOf(head) === 'ack');
  const udp = samples.filter(({ head }) => kindOf(head) === 'udp');
  const sent = largeFromFew(tcp, transferBytes, ({ source }) => senderOf(source));
  const told = largeFromFew(udp, downloadBytes, ({ source, sourcePort, destinationPort }) => {
    return `${senderOf(source)} ${sourcePort} ${destinationPort}`;
  });
  const isAsked = ({ head }: Looked) => head.sourcePort < askingFrom && head.destinationPort >= askingFrom;
  return {
    tcp: sent && shareOf(sent, tcp),
    udp: told && {
      asked: shareOf(told.filter(isAsked), udp),
      unasked: shareOf(
        told.filter((each) => !isAsked(each)),
        udp,
      ),
    },
  };
}

/**
 * Large packets of those few that sent most. Of whom one packet alone was looked at may be one of very many, each of whom is looked at
 * once. Null where there are too few samples to tell.
 */
function largeFromFew(all: readonly Looked[], least: number, from: (head: Head) => string): Looked[] | null {
  if (all.length < leastSamples) return null;
  const large = all.filter(({ head }) => head.length >= least);
  return [...Map.groupBy(large, ({ head }) => from(head)).values()]
    .filter(({ length }) => length > 1)
    .toSorted((one, other) => packetsOf(other) - packetsOf(one))
    .slice(0, few)
    .flat();
}

function shareOf(part: readonly Looked[], all: readonly Looked[]): Share {
  const bytesOf = (of: readonly Looked[]) =>
    of.reduce((sum, { head, packets }) => sum + packets * head.length, 0);
  return { packets: packetsOf(part) / packetsOf(all), bytes: bytesOf(part) / bytesOf(all) };
}

function packetsOf(samples: readonly Looked[]): number {
  return samples.reduce((sum, { packets }) => sum + packets, 0);
}

/** Of IPv6 the network: whoever has one address has all of it. */
function senderOf(source: number | bigint): string {
  return String(typeof source === 'bigint' ? source >> 64n : source);
}
