import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { createWebSocketStream, type WebSocket, WebSocketServer } from 'ws';
import type { Context } from '../../../platform/index.ts';
import { Refusal } from '../refusal.ts';
import { hangUpOnSilence } from '../silence.ts';
import { answerHeader, linePath, passScheme } from './dial.ts';
import type { ConsoleLines } from './lines.ts';
import { answerTo, passReader } from './pass.ts';

const pingEveryMs = 5_000;
const largestMessageBytes = 2 ** 20;

/** Passes lines that this process holds on to other processes of ours. */
export interface LineServer {
  /** Whether this is what is asked for. */
  isFor(request: IncomingMessage): boolean;
  /** Throws a `Refusal` to who is no process of ours, or asks for what is not held here. */
  serve(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  close(): void;
}

export function serveLines(ctx: Context, process: string, lines: ConsoleLines): LineServer {
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: largestMessageBytes,
    perMessageDeflate: false,
  });
  const read = passReader(ctx);
  const answers = new WeakMap<IncomingMessage, string>();
  sockets.on('headers', (headers, request) => headers.push(`${answerHeader}: ${answers.get(request)}`));

  return {
    isFor: ({ url }) => url === linePath,
    serve(request, socket, head) {
      const [scheme, shown = ''] = (request.headers.authorization ?? '').split(' ');
      const pass = scheme === passScheme ? read(shown) : null;
      if (pass === null) throw new Refusal(401, 'Unauthorized');
      if (pass.holder !== process) throw new Refusal(421, 'Misdirected Request');
      const line = lines.join(pass.serviceId);
      if (line === null) throw new Refusal(409, 'Conflict');
      answers.set(request, answerTo(ctx, pass));
      line.catch(() => undefined); // told to the other side below
      sockets.handleUpgrade(request, socket, head, (other) => connect(other, line));
      socket.once('close', () => line.then((each) => each.destroy()).catch(() => undefined));
    },
    close() {
      for (const each of sockets.clients) each.terminate();
      sockets.close();
    },
  };
}

function connect(other: WebSocket, line: Promise<Duplex>): void {
  hangUpOnSilence(other, pingEveryMs);
  const stream = createWebSocketStream(other, { allowHalfOpen: false });
  stream.on('error', () => stream.destroy());
  line.then(
    (open) => {
      open.on('error', () => open.destroy()).once('close', () => stream.destroy());
      stream.once('close', () => open.destroy());
      stream.pipe(open).pipe(stream);
    },
    () => stream.destroy(),
  );
}
