import { existsSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startDetached } from '../../platform/host/program.ts';

/** Where the process of a rack is, as it says itself in `place.json` of its folder. */
export interface Place {
  url: string;
  /** What it wants to hear with each call. */
  word: string;
  pid: number;
}

/** A rack in a process of its own, which goes on where the product is killed. */
export interface Elsewhere {
  /** Whether it runs; one that is ending does not. It counts as spoken to. */
  isThere(): Promise<boolean>;
  /** Starts it where it does not run. */
  ensure(): Promise<Place>;
  /** Asks it something, and starts it first where it does not run; what it answers. */
  ask(method: 'GET' | 'POST', path: string, body?: object): Promise<unknown>;
  place(): Place | null;
  /** Tells it to end, which it does a little later. Gives whether it has heard that. */
  end(): Promise<boolean>;
}

const startsWithinMs = 20_000;
/** One that was just started is waited for by whoever ends it: it could not be told before. */
const comesWithinMs = 5_000;

/** The one of a folder, which is started so, once what it needs was prepared. */
export function rackElsewhere(
  dir: string,
  argv: readonly string[],
  prepare: () => Promise<void> = async () => undefined,
): Elsewhere {
  const file = join(dir, 'place.json');
  const log = join(dir, 'log');
  const place = () => (existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Place) : null);
  const answers = async (at: Place | null) =>
    at !== null && (await send(at, 'GET', '/').then(Boolean, () => false));
  const ensure = async () => {
    const before = place();
    if (before !== null && (await answers(before))) return before;
    await prepare();
    await rm(file, { force: true });
    startDetached(argv, log);
    for (const end = performance.now() + startsWithinMs; performance.now() < end; await delay(50)) {
      const now = place();
      if (now !== null && (await answers(now))) return now;
    }
    throw new Error(`the process of the demonstration’s rack did not start; what it says stands in ${log}`);
  };
  let starting: Promise<Place> | null = null;
  const ensureOnce = () => {
    starting ??= ensure().finally(() => {
      starting = null;
    });
    return starting;
  };
  return {
    place,
    isThere: () => answers(place()),
    ensure: ensureOnce,
    async ask(method, path, body) {
      const at = place() ?? (await ensureOnce());
      const said = await send(at, method, path, body).catch(async () =>
        send(await ensureOnce(), method, path, body),
      );
      return said.json();
    },
    async end() {
      await Promise.race([starting?.catch(() => undefined), delay(comesWithinMs, undefined, { ref: false })]);
      const at = place();
      const isTold = at !== null && (await send(at, 'POST', '/end', {}).then(Boolean, () => false));
      await rm(file, { force: true });
      return isTold;
    },
  };
}

async function send({ url, word }: Place, method: string, path: string, body?: object): Promise<Response> {
  const answer = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${word}` },
    ...(body && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(5_000),
  });
  if (!answer.ok) throw new Error(`the demonstration’s rack answered ${answer.status}`);
  return answer;
}
