/** A client of a stream of events, as a browser's EventSource reads one. */
import { request } from 'node:http';

export interface StreamEvent {
  id: string | null;
  event: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into events of every shape
  data: any;
}

export interface EventStream {
  /** All that came, without comments. */
  events: StreamEvent[];
  /** The last id, of an event or a comment. */
  lastId(): string;
  comments(): number;
  /** Resolves when the server has ended it. */
  ended: Promise<void>;
  isEnded(): boolean;
  /** Reads no more, without saying so. */
  stall(): void;
  close(): void;
}

/** Opens a stream; rejects with the status and the body of any other answer. */
export function openStream(url: string, headers: Record<string, string>): Promise<EventStream> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { headers: { accept: 'text/event-stream', ...headers }, agent: false });
    sent.on('error', reject);
    sent.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8');
      if (response.headers['content-type'] !== 'text/event-stream') {
        response.on('data', (chunk) => {
          text += chunk;
        });
        response.on('end', () => reject(new Error(`${response.statusCode} ${text}`)));
        return;
      }
      let [lastId, comments, isEnded] = ['', 0, false];
      const events: StreamEvent[] = [];
      const take = (block: string): void => {
        const fields = new Map(block.split('\n').map((line) => line.split(/: (.*)/, 2) as [string, string]));
        if (fields.has(':')) comments += 1;
        const id = fields.get('id') ?? null;
        if (id !== null) lastId = id;
        const data = fields.get('data');
        if (data !== undefined)
          events.push({ id, event: fields.get('event') ?? 'message', data: JSON.parse(data) });
      };
      response.on('data', (chunk) => {
        text += chunk;
        const blocks = text.split('\n\n');
        text = blocks.pop() ?? '';
        for (const block of blocks) take(block);
      });
      const ended = new Promise<void>((end) => {
        response.on('close', () => {
          isEnded = true;
          end();
        });
      });
      response.on('error', () => undefined);
      resolve({
        events,
        ended,
        lastId: () => lastId,
        comments: () => comments,
        isEnded: () => isEnded,
        stall: () => response.pause(),
        close: () => sent.destroy(),
      });
    });
    sent.end();
  });
}
