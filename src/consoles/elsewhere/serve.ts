import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { createWebSocketStream, type WebSocket, WebSocketServer } from 'ws';
import { type Context, causesOf } from '../../platform/index.ts';
import { Refusal } from '../refusal.ts';
import { hangUpOnSilence } from '../silence.ts';
import { answerHeader, failedCode, linePath, passScheme } from './dial.ts';
import { answerTo, passReader, type Wanted } from './pass.ts';

const pingEveryMs = 5_000;
const largestMessageBytes = 2 ** 20;
/** One that does not read takes no leave either. */
const farewellMs = 1_000;

/** Opens what another process of ours asks for; null: this one does not have it. */
export type OpenForOthers = (wanted: Wanted) => Promise<Duplex> | null;

/** Passes what this process reaches on to other processes of ours. */
export interface OtherProcesses {
  /** Whether this is what is asked for. */
  isFor(request: IncomingMessage): boolean;
  /** Throws a `Refusal` to who is no process of ours, or asks for what is not to be had here. */
  serve(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  close(): void;
}

export function serveOthers(ctx: Context, process: string, open: OpenForOthers): OtherProcesses {
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
      const [scheme, sealed = ''] = (request.headers.authorization ?? '').split(' ');
      const pass = scheme === passScheme ? read(sealed) : null;
      if (pass === null) throw new Refusal(401, 'Unauthorized');
      if (pass.holder !== process) throw new Refusal(421, 'Misdirected Request');
      const line = open(pass);
      if (line === null) throw new Refusal(409, 'Conflict');
      answers.set(request, answerTo(ctx, pass));
      line.catch((error: Error) =>
        ctx.log.warn({ what: pass.what, err: causesOf(error) }, 'another process is shown nothing'),
      ); // told to the other side below
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
  const tell = (error: Error) => {
    const { code } = error as Error & { code?: unknown };
    other.close(failedCode, typeof code === 'string' ? code : '');
    setTimeout(() => other.terminate(), farewellMs).unref();
  };
  line.then((open) => {
    // What was read to its end is sent to its end.
    open.on('error', tell).once('close', () => stream.end());
    stream.once('close', () => open.destroy());
    open.pipe(stream);
    if (open.writable) stream.pipe(open);
  }, tell);
}
