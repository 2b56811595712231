import type { ForMany, Queryable, Statement, Transaction } from './statement.ts';

type AnyStatement = Statement<unknown, object>;

/** What one of those who go in step has asked for. */
interface Call {
  /** Who asks, counted from 0. */
  of: number;
  params: Record<string, unknown>;
  answer: PromiseWithResolvers<Answer>;
}

interface Answer {
  rows: unknown[];
  /** How many rows were found or written. */
  count: number;
}

/** Calls of one statement that go out at the same time. */
interface Group {
  statement: AnyStatement;
  /** Whether it is waited for as `run`, whose answer is a number. */
  isRun: boolean;
  calls: Call[];
}

/**
 * Does the same work for many, side by side within one transaction. Whatever of them send the same statement at the same
 * point of their way send it once: with all of their values, where the statement says how (`forMany`), and otherwise each its own, in
 * one go. So the functions that serve one serve many, at a fraction of the cost of one after another.
 *
 * Those who go in step do not see what the others write until it is written: nobody may read what another of them changes.
 * They fail together; have them do so within an `attempt`, and go on with fewer.
 */
export async function inStep<Item, Result>(
  tx: Transaction,
  items: readonly Item[],
  work: (one: Transaction, item: Item) => Promise<Result>,
): Promise<Result[]> {
  const steps = steppingOn(tx);
  const done = await Promise.allSettled(
    items.map(async (item, of) => {
      try {
        return await work(steps.for(of), item);
      } catch (error) {
        // The others need go no further.
        steps.end(error);
        throw error;
      }
    }),
  );
  const results: Result[] = [];
  for (const each of done) {
    if (each.status === 'rejected') throw steps.failure() ?? each.reason;
    results.push(each.value);
  }
  return results;
}

function steppingOn(tx: Transaction) {
  let waiting: Group[] = [];
  let isScheduled = false;
  let failure: { error: unknown } | null = null;
  /** The last group that each has a call in: what it asks for later never goes out earlier. */
  let last = new Map<number, number>();

  const ask = (of: number, statement: AnyStatement, params: object | undefined, isRun: boolean) => {
    if (failure !== null) return Promise.reject(failure.error);
    const call: Call = {
      of,
      params: (params ?? {}) as Record<string, unknown>,
      answer: Promise.withResolvers(),
    };
    const at = place(waiting, { statement, isRun, calls: [call] }, last.get(of) ?? 0);
    last.set(of, at);
    schedule();
    return call.answer.promise;
  };

  const schedule = () => {
    if (isScheduled) return;
    isScheduled = true;
    // Once nobody can go on without an answer.
    setImmediate(() => void send());
  };

  const send = async () => {
    const groups = waiting;
    waiting = [];
    last = new Map();
    const answers = await Promise.allSettled(groups.map((group) => answersOf(tx, group)));
    isScheduled = false;
    // Whoever waited for something else meanwhile asks with the next.
    if (waiting.length > 0) schedule();
    for (const [index, { calls }] of groups.entries()) {
      const answer = answers[index];
      for (const [nth, call] of calls.entries()) {
        if (answer?.status === 'fulfilled') call.answer.resolve(answer.value[nth] as Answer);
        else call.answer.reject(answer?.reason);
      }
    }
  };

  return {
    for: (of: number): Transaction => oneOf(tx, (...asked) => ask(of, ...asked)),
    end: (error: unknown) => {
      failure ??= { error };
    },
    failure: () => failure?.error,
  };
}

/** Puts a call to those of the same statement, at that place or after it. Nobody stands twice in what writes. */
function place(groups: Group[], asked: Group, from: number): number {
  const [{ of } = { of: -1 }] = asked.calls;
  const at = groups.findIndex(
    (group, index) =>
      index >= from &&
      group.statement === asked.statement &&
      group.isRun === asked.isRun &&
      (group.statement.many?.reads === true || group.calls.every((call) => call.of !== of)),
  );
  if (at < 0) return groups.push(asked) - 1;
  groups[at]?.calls.push(...asked.calls);
  return at;
}

async function answersOf(tx: Transaction, { statement, isRun, calls }: Group): Promise<Answer[]> {
  const { many } = statement;
  if (many === undefined) return Promise.all(calls.map((call) => single(tx, statement, call.params, isRun)));
  const shared = many.reads ? alike(statement, calls) : calls.map((_, index) => index);
  const different = calls.filter((_, index) => shared[index] === index);
  const found = new Map<number, Answer>();
  const at = (index: number) => calls.indexOf(different[index] as Call);
  if (many.statement === null || different.length === 1) {
    const answers = await Promise.all(different.map((call) => single(tx, statement, call.params, isRun)));
    for (const [index, answer] of answers.entries()) found.set(at(index), answer);
  } else {
    const answers = await together(tx, { ...many, statement: many.statement }, different);
    for (const [index, answer] of answers.entries()) found.set(at(index), answer);
  }
  return shared.map((index) => found.get(index) as Answer);
}

/** For each call the first one with the same values. */
function alike({ names }: AnyStatement, calls: readonly Call[]): number[] {
  const first = new Map<string, number>();
  return calls.map(({ params }, index) => {
    const key = JSON.stringify(names.map((name) => params[name]));
    const found = first.get(key);
    if (found === undefined) first.set(key, index);
    return found ?? index;
  });
}

async function single(
  tx: Transaction,
  statement: AnyStatement,
  params: Record<string, unknown>,
  isRun: boolean,
): Promise<Answer> {
  if (isRun) return { rows: [], count: await tx.run(asAsked<never>(statement), params) };
  const rows = await tx.many(asAsked(statement), params);
  return { rows, count: rows.length };
}

async function together(
  tx: Transaction,
  { statement, tellsWhich, json }: ForMany & { statement: AnyStatement },
  calls: readonly Call[],
): Promise<Answer[]> {
  const params: Record<string, unknown> = {};
  for (const name of statement.names) {
    const asValue = json.has(name) ? asJson : (value: unknown) => value;
    params[name] = calls.map((call) => asValue(call.params[name]));
  }
  if (!tellsWhich) {
    const count = await tx.run(asAsked<never>(statement), params);
    if (count !== calls.length)
      throw new Error(`${statement.name} wrote ${count} rows for ${calls.length}: which ones cannot be told`);
    return calls.map(() => ({ rows: [], count: 1 }));
  }
  const answers = calls.map((): Answer => ({ rows: [], count: 0 }));
  for (const { nth_, ...row } of await tx.many(asAsked<{ nth_: number }>(statement), params)) {
    const answer = answers[nth_ - 1];
    if (answer === undefined) throw new Error(`${statement.name} answered for a call that nobody made`);
    answer.rows.push(row);
    answer.count += 1;
  }
  return answers;
}

/** Whoever asks in step was held to the statement's own types. */
function asAsked<Row>(asked: AnyStatement): Statement<Row, Record<string, unknown>> {
  return asked as Statement<Row, Record<string, unknown>>;
}

/** As a list of JSON takes it: a list in it is no list of the list. */
function asJson(value: unknown): unknown {
  return value === null || typeof value === 'string' ? value : JSON.stringify(value);
}

type Ask = (statement: AnyStatement, params: object | undefined, isRun: boolean) => Promise<Answer>;

/** The transaction as one of those who go in step has it. */
function oneOf(tx: Transaction, ask: Ask): Transaction {
  const queries: Omit<Queryable, 'openReading'> = {
    many: async <Row>(statement: Statement<Row, object>, ...[params]: object[]) =>
      (await ask(statement, params, false)).rows as Row[],
    maybe: async <Row>(statement: Statement<Row, object>, ...[params]: object[]) =>
      ((await ask(statement, params, false)).rows[0] as Row | undefined) ?? null,
    one: async <Row>(statement: Statement<Row, object>, ...[params]: object[]) => {
      const [row] = (await ask(statement, params, false)).rows as Row[];
      if (row === undefined) throw new Error(`${statement.name} found no row`);
      return row;
    },
    run: async (statement, ...[params]) => (await ask(statement, params, true)).count,
  };
  return {
    ...tx,
    ...queries,
    // What one takes back would be taken back of all.
    attempt: () => Promise.reject(new Error('nobody makes an attempt of its own in step with others')),
  };
}
