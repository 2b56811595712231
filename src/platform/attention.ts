import type { Statement } from './database/index.ts';

/** One thing that waits for a person of the provider's. */
export interface Concern {
  /** Of what it is about: a job, a service, a node. */
  id: number;
  organization_id: number | null;
  /** When it came to be so, as far as is known. */
  since: Date;
  /** What is wrong, for staff's eyes alone. */
  message: string;
}

/** Things of one kind that may wait for a person. A room offers its own; the root gathers them. */
export interface ConcernSource {
  /** Stable: `job.failed`. */
  kind: string;
  /** What `id` is the id of. */
  subject: string;
  /** Names the kind, in words: "Jobs that failed". */
  title: string;
  /** All of them, the newest first. */
  find: Statement<Concern, { limit: number }>;
}
