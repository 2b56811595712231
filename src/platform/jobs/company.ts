import { type Context, inStep, type TxContext, transaction } from '../context.ts';
import { isOutage } from './failure.ts';

/** So many go in step in one transaction: whoever waits for what one of them has locked waits for all of them. */
const atMost = 50;
/** Whoever asks first waits so long for others at most. */
const gatherMs = 50;
/** Connections that a company takes at most, so that others find one. */
const transactionsAtOnce = 2;

type Work = (tx: TxContext) => Promise<unknown>;

interface Waiting {
  ctx: Context;
  organizationId: number;
  work: Work;
  answer: PromiseWithResolvers<unknown>;
}

/** Transactions of one name that wait for others of it. */
interface Gathered {
  waiting: Waiting[];
  timer: NodeJS.Timeout;
  /** Nobody is waited for any more. */
  isDue: boolean;
}

/** Jobs of one saga that run side by side in this worker. */
export interface Company {
  /** Runs a job as one of them. */
  join(run: () => Promise<void>): Promise<void>;
  /**
   * Does `work` in one transaction with the work that others of the company have for a transaction of this name, all of them in
   * step. Each organization is there once. When it fails for one of them, each does its work in a transaction of its own.
   */
  transaction<T>(
    ctx: Context,
    name: string,
    organizationId: number,
    work: (tx: TxContext) => Promise<T>,
  ): Promise<T>;
}

/** Opens the company of a saga that goes in step; see `Saga.inStep`. */
export function openCompany(): Company {
  const gathered = new Map<string, Gathered>();
  let members = 0;
  /** Members that wait for a transaction, or are in one. */
  let settled = 0;
  let underWay = 0;

  /** Begins what is due, as far as there is room; what has to wait goes on gathering. */
  const begin = (): void => {
    for (const [name, { waiting, timer, isDue }] of gathered) {
      if (underWay >= transactionsAtOnce) return;
      if (!isDue) continue;
      clearTimeout(timer);
      gathered.delete(name);
      underWay += 1;
      void commitAll(name, waiting).finally(() => {
        underWay -= 1;
        begin();
      });
    }
  };

  const send = (name: string): void => {
    const group = gathered.get(name);
    if (group !== undefined) group.isDue = true;
    begin();
  };

  // A wait is for those who may still come.
  const sendIfAllWait = (): void => {
    if (settled < members) return;
    for (const group of gathered.values()) group.isDue = true;
    begin();
  };

  return {
    async join(run) {
      members += 1;
      try {
        await run();
      } finally {
        members -= 1;
        sendIfAllWait();
      }
    },

    async transaction<T>(
      ctx: Context,
      name: string,
      organizationId: number,
      work: (tx: TxContext) => Promise<T>,
    ) {
      const answer = Promise.withResolvers<unknown>();
      let group = gathered.get(name);
      if (group === undefined) {
        group = { waiting: [], timer: setTimeout(() => send(name), gatherMs), isDue: false };
        gathered.set(name, group);
      }
      group.waiting.push({ ctx, organizationId, work, answer });
      settled += 1;
      if (group.waiting.length >= atMost) send(name);
      else setImmediate(sendIfAllWait); // with what else this turn asks for
      try {
        return (await answer.promise) as T;
      } finally {
        settled -= 1;
      }
    },
  };
}

async function commitAll(name: string, waiting: readonly Waiting[]): Promise<void> {
  for (const part of partsOf(waiting)) await commit(name, part);
}

/** Groups in which each organization is there once, so that none of them changes what another one reads or changes. */
function partsOf(waiting: readonly Waiting[]): Waiting[][] {
  const parts: Waiting[][] = [];
  for (const each of waiting) {
    const { organizationId } = each;
    const hasRoom = (part: Waiting[]) =>
      part.length < atMost && part.every((other) => other.organizationId !== organizationId);
    const part = parts.find(hasRoom);
    if (part === undefined) parts.push([each]);
    else part.push(each);
  }
  return parts;
}

async function commit(name: string, part: readonly Waiting[]): Promise<void> {
  const [first, ...others] = part;
  if (first === undefined) return;
  if (others.length === 0) return commitAlone(name, first);
  try {
    const results = await transaction(first.ctx, name, (tx) =>
      inStep(tx, part, (one, { work }) => work(one)),
    );
    for (const [index, { answer }] of part.entries()) answer.resolve(results[index]);
  } catch (error) {
    // It may have been committed all the same: what is written of a job says so when it is claimed again.
    if (isOutage(error)) {
      for (const { answer } of part) answer.reject(error);
      return;
    }
    first.ctx.log.debug({ err: error, name, jobs: part.length }, 'jobs in step go on alone');
    // One after another: what one of them waits for must not take all connections.
    for (const each of part) await commitAlone(name, each);
  }
}

async function commitAlone(name: string, { ctx, work, answer }: Waiting): Promise<void> {
  await transaction(ctx, name, work).then(answer.resolve, answer.reject);
}
