import {
  type AnySaga,
  databaseJob,
  type Happened,
  type Reaction,
  type Reactions,
  type Saga,
  type SagaFor,
  type TxContext,
} from '../platform/index.ts';
import type { Event } from './event.ts';

/** A reaction that brings its job along. */
export interface OwnReaction extends Reaction {
  readonly saga: AnySaga;
}

interface Options<Data extends object> {
  attempts?: number;
  /** Many of it go in step; see `Saga.inStep`. */
  inStep?: boolean;
  /** Decided where it happens: nothing is enqueued when it says no. */
  when?: (data: Data) => boolean;
  failed?: Saga<Happened<Data>>['failed'];
}

/**
 * Has `work` done, as a job called `name`, each time the event happens: in one transaction, after the one that
 * records the event and enqueues the job. What reaches further than the database is a saga that {@link starts}.
 */
export function on<Data extends object>(
  event: Event<Data>,
  name: string,
  work: (tx: TxContext, happened: Happened<Data>) => Promise<void>,
  { when, ...options }: Options<Data> = {},
): OwnReaction {
  const payload = (happened: Happened<Data>) => (when?.(happened.data) === false ? null : happened);
  const saga = databaseJob(name, work, options);
  return { event: event.name, job: saga, payload, saga };
}

/** Has a saga that is declared elsewhere begin each time the event happens, with the payload made of it. */
export function starts<Data extends object, Payload extends object>(
  event: Event<Data>,
  saga: SagaFor<Payload>,
  payload: (happened: Happened<Data>) => NoInfer<Payload> | null,
): Reaction {
  return { event: event.name, job: saga, payload };
}

/** What every context carries, of all rooms' reactions. Throws when one job would answer an event twice. */
export function gatherReactions(all: readonly Reaction[]): Reactions {
  const gathered = new Map<string, Reaction[]>();
  for (const reaction of all) {
    const others = gathered.get(reaction.event) ?? [];
    if (others.some((other) => other.job.name === reaction.job.name))
      throw new Error(`two reactions to ${reaction.event} are called ${reaction.job.name}`);
    gathered.set(reaction.event, [...others, reaction]);
  }
  return gathered;
}

/** The jobs that reactions bring along, for the worker. */
export function reactionJobs(all: readonly (Reaction | OwnReaction)[]): AnySaga[] {
  return all.flatMap((reaction) => ('saga' in reaction ? [reaction.saga] : []));
}
