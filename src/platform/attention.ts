import type { Context } from './context.ts';
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

/** What a query for concerns may ask for. */
export interface ConcernParams {
  limit: number;
  now: Date;
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
  find: Statement<Concern, ConcernParams> | Statement<Concern, Pick<ConcernParams, 'limit'>>;
}

/** Those of one kind, at most `limit`. */
export function findConcerns(ctx: Context, { find }: ConcernSource, limit: number): Promise<Concern[]> {
  // A statement takes what it names of what it is given.
  return ctx.db.many(find as Statement<Concern, ConcernParams>, { limit, now: ctx.clock.now() });
}

/** Pages of the dashboard on which staff mends what is lacking. */
export const mendingPages = [
  '/staff/settings',
  '/staff/tax-rates',
  '/staff/products',
  '/staff/images',
  '/staff/nodes',
] as const;

/** Something that a company lacks before it can sell. */
export interface Lack {
  /** Stable: `company.address`. */
  code: string;
  /** What is lacking and what to do, for staff. */
  message: string;
  /** The page of the dashboard on which it is mended, and the operation that does; null: on the host, as the message says. */
  mendedAt: { page: (typeof mendingPages)[number]; operation: string } | null;
}

/** What of a room's own may be lacking. Nobody ticks it off: it is found each time, and gone once it is mended. */
export interface LackSource {
  /** All that it may find. */
  codes: readonly string[];
  find(ctx: Context): Promise<Lack[]>;
}

/** A node or a pool that has little left to give away, or soon will. */
export interface Low {
  kind: 'node' | 'pool';
  id: number;
  name: string;
  what: 'memory' | 'disk' | 'addresses';
  /** Per cent of what it may give away. */
  taken_percent: number;
  /** Of memory in MiB, of disk in GiB, of addresses as many. */
  free: number;
  /** If it goes on as in the last weeks; null where nothing says that it ever is. */
  full_in_days: number | null;
}

/** Something that can be out of order while the process itself serves; whoever runs the product sees it in `/readyz`. */
export interface HealthCheck {
  name: string;
  /** Null while it is in order; otherwise what is wrong and what to do. */
  look(ctx: Context): Promise<string | null>;
}
