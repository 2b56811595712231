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
  /** The same where it is this key's turn at once; null where it would have to wait. */
  takeNow(key: string): Leave | null;
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

  const takeNow = (key: string): Leave | null => {
    const line = lines.get(key) ?? { inside: 0, waiting: [] };
    if (line.inside >= atOnce) return null;
    lines.set(key, line);
    line.inside += 1;
    return once(key, line);
  };

  return {
    takeNow,
    async take(key) {
      const line = lines.get(key);
      if (line === undefined || line.inside < atOnce) return takeNow(key) as Leave;
      await waitIn(line, waitMs, tooLong);
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

const readsWaitMs = 10_000;

/**
 * Lets nobody's reads, nor those of strangers at one address, take more than half of the connections to the database, so that whoever asks for a thousand things at
 * once waits for them alone. `rate_limited` for who sends more than is answered in time.
 */
export function createReaders(connections: number): Turns {
  const each = Math.max(2, Math.floor(connections / 2));
  const message = `At most ${each} of your requests are answered at once; send fewer together, and repeat this one`;
  return createTurns(each, readsWaitMs, () => fail('rate_limited', { message, retryAfterS: 1 }));
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
