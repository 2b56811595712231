import { checkOnce, checkVersion } from './check.ts';
import { EdgeError, type Version } from './contract.ts';
import { type Network, overlaps, prefixText } from './prefix.ts';

/** One text of a policy or a measure in an engine. */
export interface Writing {
  name: string;
  network: Network;
  generation: number;
}

/** What an engine holds, by canonical destination. */
export interface Book {
  policies: Map<string, Writing>;
  trials: Map<string, Writing>;
  mitigations: Map<string, Writing>;
}

/** A call's item with its canonical destination, and what it finds there. */
export interface Wanted<Item> {
  item: Item;
  destination: string;
  network: Network;
  generation: number;
}

/** Checks and names all items of a call before anything is touched. */
export function wanted<Item extends Version>(
  items: readonly Item[],
  check: (item: Item) => Network = checkVersion,
): Wanted<Item>[] {
  const found = items.map((item) => {
    const network = check(item);
    return { item, network, destination: prefixText(network), generation: item.generation };
  });
  checkOnce(found.map(({ destination }) => destination));
  return found;
}

/** Those that are not older than what is held at their destination. */
export function notOlder<Item>(
  items: readonly Wanted<Item>[],
  ...held: ReadonlyMap<string, Writing>[]
): Wanted<Item>[] {
  return items.filter(({ destination, generation }) =>
    held.every((writings) => (writings.get(destination)?.generation ?? -1) <= generation),
  );
}

/** What is held of these destinations, in these generations or older ones. */
export function notNewer(
  items: readonly Wanted<Version>[],
  held: ReadonlyMap<string, Writing>,
): (Writing & { destination: string })[] {
  return items.flatMap(({ destination, generation }) => {
    const writing = held.get(destination);
    return writing !== undefined && writing.generation <= generation ? [{ ...writing, destination }] : [];
  });
}

/** Fails with `overlaps` when a destination that is new holds addresses of another one, also of the same call. */
export function checkOverlaps(
  items: readonly Wanted<unknown>[],
  ...held: ReadonlyMap<string, Writing>[]
): void {
  const isHeld = (destination: string) => held.some((writings) => writings.has(destination));
  const fresh = items.filter(({ destination }) => !isHeld(destination));
  if (fresh.length === 0) return;
  const there = [
    ...held.flatMap((writings) =>
      [...writings].map(([destination, { network }]) => ({ destination, network })),
    ),
    ...items,
  ];
  for (const { destination, network } of fresh) {
    const other = there.find((each) => each.destination !== destination && overlaps(each.network, network));
    if (other === undefined) continue;
    throw new EdgeError('overlaps', `${destination} holds addresses of ${other.destination}`, {
      permanent: true,
    });
  }
}

/** All of these have to be tried out in just this generation. Those that are confirmed already are done. */
export function toConfirm(items: readonly Wanted<Version>[], book: Book): Wanted<Version>[] {
  const isDone = ({ destination, generation }: Wanted<Version>) =>
    book.policies.get(destination)?.generation === generation;
  const open = items.filter((each) => !isDone(each));
  const over = open.find(
    ({ destination, generation }) => book.trials.get(destination)?.generation !== generation,
  );
  if (over !== undefined) throw trialOver(over.destination, over.generation);
  return open;
}

export function trialOver(destination: string, generation: number): EdgeError {
  return new EdgeError('trial_over', `generation ${generation} of ${destination} is not tried out any more`, {
    permanent: true,
  });
}
