import { patienceMs, refusedMs } from './patience.ts';

/** What a stream brings: an event by its name; `reset`: what was missed is not known; whether it is open. */
export type News =
  | { kind: 'event'; event: string }
  | { kind: 'reset' }
  | { kind: 'refused' }
  | { kind: 'state'; isLive: boolean };

interface Stream {
  /** Asks for it; the headers say how far somebody got. */
  ask: (headers: Readonly<Record<string, string>>) => Promise<Response>;
  /** Where it begins; null for now, and then all that was read before is read anew. */
  after: number | null;
  signal: AbortSignal;
}

/**
 * Follows a stream that an `EventSource` cannot: one whose events have too many names to know each, or that goes by a header.
 * Goes on where it was when it breaks, until `signal` aborts.
 */
export async function followFrames(
  { ask, after, signal }: Stream,
  tell: (news: News) => void,
): Promise<void> {
  let last = after === null ? null : String(after);
  let hasMissed = after === null;
  let broken: ReturnType<typeof setTimeout> | undefined;
  while (!signal.aborted) {
    let isOpened = false;
    try {
      const headers = { accept: 'text/event-stream', ...(last !== null && { 'last-event-id': last }) };
      const response = await ask(headers);
      isOpened = response.ok && response.body !== null;
      if (response.status === 401 || response.status === 403) tell({ kind: 'refused' });
      if (response.ok && response.body !== null) {
        clearTimeout(broken);
        broken = undefined;
        tell({ kind: 'state', isLive: true });
        // Only now: what happens from here on is told.
        if (hasMissed) tell({ kind: 'reset' });
        hasMissed = false;
        for await (const frame of framesOf(response.body)) {
          last = frame.id ?? last;
          if (frame.event === 'reset') tell({ kind: 'reset' });
          else if (frame.event !== undefined) tell({ kind: 'event', event: frame.event });
        }
      }
    } catch {
      // Broken; said when it lasts.
    }
    if (signal.aborted) break;
    broken ??= setTimeout(() => tell({ kind: 'state', isLive: false }), patienceMs);
    await pause(isOpened ? 1_000 : refusedMs, signal);
  }
  clearTimeout(broken);
}

interface Frame {
  id?: string;
  event?: string;
}

async function* framesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<Frame> {
  const reader = body.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>).getReader();
  let begun = '';
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const frames = (begun + part.value).split('\n\n');
    begun = frames.pop() ?? '';
    for (const frame of frames) {
      const lines = frame.split('\n').map((line) => line.split(': ', 2));
      yield Object.fromEntries(lines.filter(([name]) => name === 'id' || name === 'event'));
    }
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
