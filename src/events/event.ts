import type { TSchema } from 'typebox';
import type { Permission } from '../platform/http/index.ts';

/** Something that can happen. `Data` is what its entry in the journal tells, and what those who react to it get. */
export interface Event<Data extends object> {
  /** Stable: customers' clients and webhooks know it. */
  readonly name: string;
  /** What has happened, in a few words. */
  readonly meaning: string;
  /** What customers are told of it; null for what stays within the house. */
  readonly told: Told | null;
  /** Only for the type; never there. */
  readonly data?: Data;
}

/** What leaves the house of an event, by streams and webhooks. */
export interface Told {
  /** Which permission somebody needs in the organization to be told. */
  readonly permission: Permission;
  /** The parts of the data that go out, with their schemas. No other part does. */
  readonly data: Readonly<Record<string, TSchema>>;
}

/** Of `Data`: other names are none of the event's. */
interface Telling<Data extends object> {
  permission: Permission;
  data: { readonly [Name in keyof Data]?: TSchema };
}

/** Of an event whose name and subject say all. */
export type NoData = Record<never, never>;

const known = new Map<string, Event<object>>();

/**
 * Declares an event, once, in the `events.ts` of the room that makes it happen. `Data` is JSON, with the names that
 * the wire has, and never holds a secret. With `told` it goes out to customers, under its name and for ever; leave
 * out what is for mails and staff alone, such as `user_id` and the words of a driver.
 */
export function event<Data extends object = NoData>(
  name: string,
  meaning: string,
  told: Telling<Data> | null = null,
): Event<Data> {
  if (known.has(name)) throw new Error(`two events are called ${name}`);
  const made = { name, meaning, told: told as Told | null };
  known.set(name, made);
  return made;
}

/** Every event of the product; a test compares them with their documentation. */
export function allEvents(): Event<object>[] {
  return [...known.values()];
}

/** The event of a name; undefined for what no room declares any more. */
export function eventOf(name: string): Event<object> | undefined {
  return known.get(name);
}

/** What has happened, as a sentence in English; of an event that no room declares any more, its name in words. */
export function sentenceOf(name: string): string {
  const meaning = known.get(name)?.meaning ?? name.replaceAll(/[._]/g, ' ');
  return meaning.charAt(0).toUpperCase() + meaning.slice(1);
}

/** What of an event's data leaves the house; of an event that stays within it nothing. */
export function toldOf(name: string, data: Record<string, unknown>): Record<string, unknown> {
  const parts = Object.keys(known.get(name)?.told?.data ?? {}).filter((part) => data[part] !== undefined);
  return Object.fromEntries(parts.map((part) => [part, data[part]]));
}

/** Whether who holds these permissions in the organization may be told what came with an event of this name. */
export function toldTo(name: string, permissions: ReadonlySet<string>): boolean {
  const told = known.get(name)?.told;
  return told != null && permissions.has(told.permission);
}

/** An event that customers are told of. */
export type ToldEvent = Event<object> & { readonly told: Told };

/** Every event that customers are told of, by name. */
export function toldEvents(): ToldEvent[] {
  return allEvents()
    .filter((each): each is ToldEvent => each.told !== null)
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));
}
