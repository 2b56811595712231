import { readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

/** Names the file that gets a line of each long turn of a product's event loop; see `turns.ts`. */
export const turnsFileVariable = 'INNKEEPER_TEST_TURNS';

/** What Node is told to run a product that tells its turns. */
export const tellTurns: readonly string[] = [
  '--import',
  pathToFileURL(path.join(import.meta.dirname, 'turns.ts')).href,
];

/** A turn of the event loop, in which nobody else is served, or the longest of several. */
export interface Turn {
  /** What its thread computed. */
  cpuMs: number;
  /** By the clock, waiting for a core that another program had included. */
  lagMs: number;
}

/** What takes longer is served once more: it may have been what is compiled at first use, or a collection of garbage. */
const servedAgainFromMs = 100;
const servings = 3;

/**
 * Serves something up to three times. `always` is the longest turn of the serving in which that was shortest: what blocks by itself
 * does so each time. `once` is that of the first. Between two calls nothing may be asked of the product; `ask` asks it anything.
 */
export async function blockedBy(
  turnsFile: string,
  ask: () => Promise<unknown>,
  serve: (isAgain: boolean) => Promise<unknown>,
): Promise<{ always: Turn; once: Turn }> {
  const longest = async (isAgain: boolean) => {
    const before = turnsIn(turnsFile).length;
    if (before === 0) throw new Error('the product tells no turns: its start alone has long ones');
    await serve(isAgain);
    await ask(); // answered in a turn after the last of these, which was told of before it began
    return longestOf(turnsIn(turnsFile).slice(before));
  };
  const once = await longest(false);
  let always = once;
  for (let served = 1; served < servings && always.cpuMs >= servedAgainFromMs; served += 1) {
    const again = await longest(true);
    if (again.cpuMs < always.cpuMs) always = again;
  }
  return { always, once };
}

export function longestOf(turns: readonly Turn[]): Turn {
  return {
    cpuMs: Math.max(0, ...turns.map(({ cpuMs }) => cpuMs)),
    lagMs: Math.max(0, ...turns.map(({ lagMs }) => lagMs)),
  };
}

function turnsIn(file: string): Turn[] {
  const lines = readFileSync(file, 'utf8').split('\n').slice(0, -1);
  return lines.map((line) => {
    const [cpuMs = Number.NaN, lagMs = Number.NaN] = line.split(' ').map(Number);
    return { cpuMs, lagMs };
  });
}
