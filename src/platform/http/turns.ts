import { fail } from '../errors.ts';

/** How a change that was let in says that it is over. */
export type Leave = () => void;

interface Line {
  inside: number;
  waiting: (() => void)[];
}

export interface Turns {
  /** Resolves once it is this key's turn; after too long a wait it throws what was agreed on. */
  take(key: string): Promise<Leave>;
}

/** Lets so many at once in for each key. Who comes next waits in line, but not for ever. */
export function createTurns(atOnce: number, waitMs: number, tooLong: () => Error): Turns {
  const lines = new Map<string, Line>();

  const leave = (key: string, line: Line): void => {
    const next = line.waiting.shift();
    if (next !== undefined) next();
    else line.inside -= 1;
    if (line.inside === 0) lines.delete(key);
  };

  const once = (key: string, line: Line): Leave => {
    let isInside = true;
    return () => {
      if (isInside) leave(key, line);
      isInside = false;
    };
  };

  return {
    async take(key) {
      const line = lines.get(key) ?? { inside: 0, waiting: [] };
      lines.set(key, line);
      if (line.inside >= atOnce) await waitIn(line, waitMs, tooLong);
      else line.inside += 1;
      return once(key, line);
    },
  };
}

function waitIn(line: Line, waitMs: number, tooLong: () => Error): Promise<void> {
  return new Promise((resolve, reject) => {
    const begin = (): void => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(() => {
      line.waiting.splice(line.waiting.indexOf(begin), 1);
      reject(tooLong());
    }, waitMs);
    line.waiting.push(begin);
  });
}

const waitMs = 5_000;

export interface Writers {
  /** Lets a change begin: its person's turn, its organization's, and that of all together. */
  begin(userId: number, organizationId: number | null): Promise<Leave>;
}

/**
 * Shares the connections to the database between those who change something: nobody has more than a quarter of them, and
 * two are left for who only reads. `rate_limited` for who sends too much at once, `unavailable` when all do.
 */
export function createWriters(connections: number): Writers {
  const each = Math.max(1, Math.floor(connections / 4));
  const message = `At most ${each} of your changes run at once; send fewer together, and repeat this one`;
  const own = createTurns(each, waitMs, () => fail('rate_limited', { message, retryAfterS: 1 }));
  const all = createTurns(Math.max(1, connections - 2), waitMs, () =>
    fail('unavailable', { retryAfterS: 1 }),
  );
  return {
    async begin(userId, organizationId) {
      const taken: Leave[] = [];
      const leave = () => {
        for (const each of taken) each();
      };
      try {
        taken.push(await own.take(`u${userId}`));
        if (organizationId !== null) taken.push(await own.take(`o${organizationId}`));
        taken.push(await all.take(''));
      } catch (error) {
        leave();
        throw error;
      }
      return leave;
    },
  };
}
