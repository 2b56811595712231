/** Something that can happen. `Data` is what its entry in the journal tells, and what those who react to it get. */
export interface Event<Data extends object> {
  /** Stable: customers' clients and webhooks know it. */
  readonly name: string;
  /** What has happened, in a few words. */
  readonly meaning: string;
  /** Only for the type; never there. */
  readonly data?: Data;
}

/** Of an event whose name and subject say all. */
export type NoData = Record<never, never>;

const known = new Map<string, Event<object>>();

/**
 * Declares an event, once, in the `events.ts` of the room that makes it happen. `Data` is JSON, with the names that
 * the wire has, and never holds a secret.
 */
export function event<Data extends object = NoData>(name: string, meaning: string): Event<Data> {
  if (known.has(name)) throw new Error(`two events are called ${name}`);
  const made = { name, meaning };
  known.set(name, made);
  return made;
}

/** Every event of the product; a test compares them with their documentation. */
export function allEvents(): Event<object>[] {
  return [...known.values()];
}
