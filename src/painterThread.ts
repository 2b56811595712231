/** Draws pages in a thread of its own: one takes ten milliseconds of a processor, in which nobody else would be answered. */
import { parentPort, workerData } from 'node:worker_threads';
import type { Drawing, Wanted } from './painter.ts';

/** What pages remember in a browser, of which there is none here. */
const nothingKept = { getItem: () => null, setItem: () => undefined, removeItem: () => undefined };
for (const name of ['localStorage', 'sessionStorage'])
  Object.defineProperty(globalThis, name, { value: nothingKept });

type Draw = (given: object) => Promise<Drawing>;
const { paintServices } = (await import(workerData.url)) as { paintServices: Draw };

let last: Promise<unknown> = Promise.resolve();
parentPort?.on('message', ({ id, given }: Wanted) => {
  // One after the other: the language that is spoken is that of the one that is being drawn.
  last = last.then(() =>
    paintServices(given).then(
      (drawing) => parentPort?.postMessage({ id, drawing }),
      (error: unknown) => parentPort?.postMessage({ id, error: String(error) }),
    ),
  );
});
parentPort?.postMessage({ id: 0 });
