import type { Context, TxContext } from '../context.ts';
import type { DriverName, Drivers } from '../drivers.ts';

/** What a step works with. */
export interface Run<Payload, State> {
  readonly ctx: Context;
  /** The outside world: `run.drivers.mail.send(…)`. */
  readonly drivers: Drivers;
  readonly jobId: number;
  /** Chosen by whoever enqueued the job; the same at every try. */
  readonly payload: Payload;
  /** What the steps before this one returned, merged. */
  readonly state: Partial<State>;
  /** Aborted when this process loses its claim on the job. */
  readonly signal: AbortSignal;
  /** It was held after a restore: what it finds may be somebody's by now, and is not its own to take away. */
  readonly isHeld: boolean;
  /** From the next step on the job is done by this node's worker, whoever that is. */
  readonly moveTo: (nodeId: number) => void;
}

/** What a step works with that touches only the database: no driver, and every write in one transaction. */
export interface TxRun<Payload, State> extends Omit<Run<Payload, State>, 'drivers'> {
  readonly ctx: TxContext;
  /** Whether the engine behind a driver says that it can do something: `can('mail', 'delivery')`. */
  readonly can: (driver: DriverName, capability: string) => boolean;
}

interface StepBase<Payload, State> {
  name: string;
  undo?: (run: Run<Payload, State>) => Promise<void>;
  /** Tries before the step counts as failed for good; default 5, with growing pauses. */
  attempts?: number;
}

/**
 * One step of a saga. `do` may run more than once, also after a crash in its middle, and must end in the
 * same state each time. `undo` takes away whatever `do` may have left, also when that is nothing or half.
 */
export interface OutsideStep<Payload, State, Result = Partial<State>> extends StepBase<Payload, State> {
  transactional?: false;
  do: (run: Run<Payload, State>) => Promise<Result> | Promise<void>;
  /** What is written down in the transaction that records the step. */
  recorded?: (tx: TxContext, payload: Payload, result: Result) => Promise<void>;
}

/**
 * A step that touches only the database. It happens exactly once: in the transaction that records it, together
 * with those of its kind beside it, and with the end of the job when nothing comes after them.
 */
export interface TransactionalStep<Payload, State, Result = Partial<State>> extends StepBase<Payload, State> {
  transactional: true;
  do: (run: TxRun<Payload, State>) => Promise<Result> | Promise<void>;
}

export type Step<Payload, State, Result = Partial<State>> =
  | OutsideStep<Payload, State, Result>
  | TransactionalStep<Payload, State, Result>;

/** What an end says of a job that is wanted no more. */
export type Verdict = 'unwanted' | undefined;

/** Why a job failed. `code` is stable, `message` is for people and holds no secret. */
export interface Failure {
  step: string;
  code: string;
  message: string;
}

/**
 * Jobs of one queue wait for each other, never for those of another. `quick` is money and what was paid, done in
 * seconds, and waits for nobody outside but the payment provider; `charges` takes money from saved methods, thousands of them
 * in a night, most of which wait for an answer; `links` are mails with a link that somebody asked for, `mails` all others, a
 * night's hundred thousand; `names` asks name servers and registers of VAT ids; `machine` waits for guests, minutes; `racks` asks
 * controllers of servers and switches, which may be silent, a minute; `bulk` moves whole disks, which may take hours; `answers` are mails to an address that we gave to somebody; `incoming` is what strangers send us, as much as they like.
 */
export type Queue =
  | 'quick'
  | 'charges'
  | 'links'
  | 'mails'
  | 'names'
  | 'machine'
  | 'racks'
  | 'bulk'
  | 'answers'
  | 'incoming';

/** A job: a list of steps, and what is recorded at its end in the transaction that ends it. */
export interface Saga<Payload, State = object, Result = Partial<State>> {
  name: string;
  /** Default `quick`. */
  queue?: Queue;
  steps: readonly Step<Payload, State, Result>[];
  /**
   * Those of other organizations that run beside it write down what they did in one transaction with it, in step. So its
   * transactional steps lock in the same order whatever they find, and none reads or changes what is another organization's.
   */
  inStep?: boolean;
  /**
   * Codes of failures that end by themselves, because somebody outside was away. Where all tries of a step were not
   * enough, the job fails, and is tried again from its start every hour; see `heal.ts`.
   */
  outages?: readonly string[];
  /** Told before each step, with how many of the steps are done. For progress that people see. */
  progress?: (run: Run<Payload, State>, done: number, of: number) => Promise<void>;
  succeeded?: (ctx: TxContext, payload: Payload, state: Partial<State>) => Promise<void>;
  /**
   * After everything was undone. A job that answers `unwanted` ends as done and calls for nobody: what it was for is
   * wanted no more, so there is nothing to see to.
   */
  failed?: (ctx: TxContext, payload: Payload, failure: Failure) => Promise<void> | Promise<Verdict>;
  /**
   * When an undo or an end fails again and again, and the job is left to staff as it stands: let go of what others
   * wait for. Retried, the job goes on where it stood, so `succeeded` or `failed` may still come.
   */
  stuck?: (ctx: TxContext, payload: Payload, failure: Failure) => Promise<void>;
}

/** Any saga, whatever its payload and state: those meet again only inside its own steps. */
export type AnySaga = Saga<never, never, object>;

/** Any saga that is enqueued with such a payload. */
export type SagaFor<Payload> = Saga<Payload, never, object>;

/** Declares a saga with several steps. */
export function saga<Payload, State = object>(definition: Saga<Payload, State>): Saga<Payload, State> {
  return definition;
}

/** Declares a job of a single step. */
export function job<Payload>(
  name: string,
  work: (run: Run<Payload, object>) => Promise<void>,
  options: {
    attempts?: number;
    queue?: Queue;
    outages?: readonly string[];
    failed?: Saga<Payload>['failed'];
  } = {},
): Saga<Payload> {
  const { attempts, ...rest } = options;
  return { name, ...rest, steps: [{ name: 'run', do: work, attempts }] };
}

/** Declares a job that touches only the database, and happens in one transaction with its end. */
export function databaseJob<Payload>(
  name: string,
  work: (ctx: TxContext, payload: Payload) => Promise<void>,
  options: { attempts?: number; inStep?: boolean; queue?: Queue; failed?: Saga<Payload>['failed'] } = {},
): Saga<Payload> {
  const { attempts, ...rest } = options;
  const inTransaction = ({ ctx, payload }: TxRun<Payload, object>) => work(ctx, payload);
  return { name, ...rest, steps: [{ name: 'run', transactional: true, do: inTransaction, attempts }] };
}

/** The sagas by name; throws when two have one name, of which only one would ever run. */
export function byName(sagas: readonly AnySaga[]): ReadonlyMap<string, AnySaga> {
  const found = new Map<string, AnySaga>();
  for (const each of sagas) {
    if (found.has(each.name))
      throw new Error(`two jobs are called ${each.name}; each needs a name of its own`);
    found.set(each.name, each);
  }
  return found;
}
