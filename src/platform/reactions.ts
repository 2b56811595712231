import type { NamedJob } from './jobs/named.ts';

/** Something that happened, as the jobs that react to it get it. */
export interface Happened<Data extends object = object> {
  /** Of its entry in the journal. */
  journalId: number;
  /** What it happened to: `invoice` 12345. */
  subject: { type: string; id: number };
  /** Null for the provider's own affairs. */
  organizationId: number | null;
  data: Data;
}

/** A job that an event asks for. `payload` is null where this one time nothing is to be done. */
export interface Reaction {
  readonly event: string;
  readonly job: NamedJob<object>;
  payload(happened: Happened): object | null;
}

/** All of them by the event's name, gathered at the root and carried by every context. */
export type Reactions = ReadonlyMap<string, readonly Reaction[]>;
