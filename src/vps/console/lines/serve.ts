import type { IncomingMessage } from 'node:http';
import { Duplex } from 'node:stream';
import { createWebSocketStream, type WebSocket, WebSocketServer } from 'ws';
import type { HypervisorOf } from '../../../drivers/hypervisor/index.ts';
import { type Context, causesOf } from '../../../platform/index.ts';
import { machineIdOf } from '../../machine.ts';
import { Refusal } from '../refusal.ts';
import { hangUpOnSilence } from '../silence.ts';
import { answerHeader, linePath, passScheme } from './dial.ts';
import type { ConsoleLines } from './lines.ts';
import { answerTo, type Pass, passReader } from './pass.ts';

const pingEveryMs = 5_000;
const largestMessageBytes = 2 ** 20;

/** Passes what this process has of machines on to other processes of ours: lines that it holds, consoles and screens of its node. */
export interface LineServer {
  /** Whether this is what is asked for. */
  isFor(request: IncomingMessage): boolean;
  /** Throws a `Refusal` to who is no process of ours, or asks for what is not held here. */
  serve(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  close(): void;
}

export function serveLines(
  ctx: Context,
  process: string,
  lines: Pick<ConsoleLines, 'join'>,
  hypervisorOf: HypervisorOf,
): LineServer {
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
      const line = pass.what === 'line' ? lines.join(pass.serviceId) : shown(pass);
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

  async function shown({ serviceId, what, nodeId }: Exclude<Pass, { what: 'line' }>): Promise<Duplex> {
    const machine = machineIdOf(serviceId);
    try {
      const hypervisor = hypervisorOf(nodeId);
      if (what !== 'screen') return await hypervisor.openConsole(machine, what);
      return Duplex.from([await hypervisor.readScreen(machine)]);
    } catch (error) {
      ctx.log.warn({ service: serviceId, err: causesOf(error) }, 'another process is shown nothing');
      throw error;
    }
  }
}

function connect(other: WebSocket, line: Promise<Duplex>): void {
  hangUpOnSilence(other, pingEveryMs);
  const stream = createWebSocketStream(other, { allowHalfOpen: false });
  stream.on('error', () => stream.destroy());
  line.then(
    (open) => {
      // What was read to its end is sent to its end.
      open.on('error', () => open.destroy()).once('close', () => stream.end());
      stream.once('close', () => open.destroy());
      open.pipe(stream);
      if (open.writable) stream.pipe(open);
    },
    () => stream.destroy(),
  );
}
