import type { Config } from '../config.ts';
import type { Clock } from './clock.ts';
import { type Database, inStep as goInStep, type Queryable, type Transaction } from './database/index.ts';
import type { Logger } from './log.ts';
import type { Reactions } from './reactions.ts';
import type { Seal } from './seal.ts';

/** Who does something, for the journal and for permissions. `system` is a job or the clock. */
export interface Actor {
  type: 'user' | 'api_key' | 'staff' | 'system';
  /** The account behind it; null for the system. */
  userId: number | null;
  apiKeyId: number | null;
  ip: string | null;
  /** Whoever of staff acts as this account; the journal names them. */
  staffId?: number;
  /** The one organization in which they act so; null for none. Absent for everybody else. */
  onlyOrganizationId?: number | null;
  /** Where the request comes from, as a trusted proxy says: ISO 3166-1. */
  country?: string | null;
}

/**
 * What every function of the product gets first: the database, the time, the log, and who is asking.
 * `db` is the pool, or the transaction that is under way.
 */
export interface Context {
  readonly db: Queryable;
  readonly clock: Clock;
  readonly log: Logger;
  readonly config: Config;
  readonly seal: Seal;
  readonly reactions: Reactions;
  readonly actor: Actor;
  /** Organization whose resources are accessed; null where none is chosen. */
  readonly organizationId: number | null;
  readonly requestId: string | null;
}

/** A context inside a transaction: whatever is written through it happens wholly or not at all. */
export interface TxContext extends Context {
  readonly db: Transaction;
}

/** A context of somebody signed in. */
export interface AccountContext extends Context {
  readonly actor: Actor & { userId: number };
}

/** A context of a member acting in an organization. */
export interface OrganizationContext extends AccountContext {
  readonly organizationId: number;
  readonly permissions: ReadonlySet<string>;
}

/** A context of the provider's own people; nobody reaches it with a customer's key. */
export interface StaffContext extends AccountContext {
  readonly staffRole: string;
}

/** The same context once it is known who acts: a person who registers, whoever a link in a mail was sent to. */
export function actingAs<C extends Context>(ctx: C, userId: number): C & AccountContext {
  return { ...ctx, actor: { type: 'user', userId, apiKeyId: null, ip: ctx.actor.ip } };
}

export const systemActor: Actor = { type: 'system', userId: null, apiKeyId: null, ip: null };

/**
 * Runs `work` in one transaction. Inside another transaction it joins that one. `name` is the action's name
 * in traces and in crash tests (`cart.checkout`). Deadlocks and serialization failures are tried again, so
 * `work` must have no effect outside the database.
 */
export function transaction<C extends Context, T>(
  ctx: C,
  name: string,
  work: (ctx: C & TxContext) => Promise<T>,
): Promise<T> {
  if (isTransaction(ctx.db)) return work(ctx as C & TxContext);
  return (ctx.db as Database).transaction(name, (tx) => work({ ...ctx, db: tx }));
}

/**
 * Runs `work` within the transaction that is under way so that it can fail alone: when it throws, what it wrote is
 * taken back, its error comes out, and the transaction goes on.
 */
export function attempt<C extends TxContext, T>(ctx: C, work: (ctx: C) => Promise<T>): Promise<T> {
  return ctx.db.attempt((tx) => work({ ...ctx, db: tx }));
}

/**
 * Does `work` for many, in step with one another: what they send at the same point of it goes to the database once for all
 * (`database/inStep.ts`). They fail together, so it belongs into an `attempt`; none of them may read what another one changes.
 */
export function inStep<C extends TxContext, Item, Result>(
  ctx: C,
  items: readonly Item[],
  work: (ctx: C, item: Item) => Promise<Result>,
): Promise<Result[]> {
  return goInStep(ctx.db, items, (db, item) => work({ ...ctx, db }, item));
}

function isTransaction(db: Queryable): db is Transaction {
  return 'inTransaction' in db;
}
