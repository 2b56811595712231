import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocket, WebSocketServer } from 'ws';
import type { Context } from '../platform/index.ts';
import { mayStayOpen, redeemTicket, type Ticket } from './console.ts';
import type { HypervisorOf } from './machine.ts';
import { machineIdOf } from './machine.ts';

const path = /^\/api\/console\/([A-Za-z0-9_-]{43})$/;
const checkEveryMs = 2_000;
const largestMessageBytes = 1_048_576;
/** Above this the guest is not read from until the browser has caught up. */
const highWaterBytes = 4 * 1_048_576;

const goingAway = 1001;
const notAllowed = 1008;
const failed = 1011;

/**
 * Serves consoles: a WebSocket at `/api/console/<ticket>` carries the bytes of a machine's screen or serial line.
 * It closes when the machine ends, and within five seconds of the moment that whoever opened it may no longer.
 * Returns how to stop.
 */
export function serveConsoles(ctx: Context, server: Server, hypervisorOf: HypervisorOf): () => void {
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: largestMessageBytes,
    perMessageDeflate: false,
  });
  const origin = new URL(ctx.config.publicUrl).origin;

  const onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    admit(request).then(
      (ticket) => {
        sockets.handleUpgrade(
          request,
          socket,
          head,
          (client) => void carry(ctx, client, ticket, hypervisorOf),
        );
      },
      (refusal: unknown) =>
        refuse(socket, refusal instanceof Refusal ? refusal : new Refusal(503, 'Service Unavailable')),
    );
  };

  const admit = async (request: IncomingMessage): Promise<Ticket> => {
    const ticket = path.exec(request.url ?? '')?.[1];
    if (ticket === undefined) throw new Refusal(404, 'Not Found');
    // Browsers send their page's origin: another site's page must not use a ticket it got hold of.
    const from = request.headers.origin;
    if (from !== undefined && from !== origin) throw new Refusal(403, 'Forbidden');
    const found = await redeemTicket(ctx, ticket);
    if (found === null) throw new Refusal(401, 'Unauthorized');
    return found;
  };

  server.on('upgrade', onUpgrade);
  return () => {
    server.off('upgrade', onUpgrade);
    for (const client of sockets.clients) client.close(goingAway, 'the product is stopping');
    sockets.close();
  };
}

class Refusal extends Error {
  readonly status: number;
  constructor(status: number, text: string) {
    super(text);
    this.status = status;
  }
}

function refuse(socket: Duplex, refusal: Refusal): void {
  socket.on('error', () => undefined);
  socket.end(
    `HTTP/1.1 ${refusal.status} ${refusal.message}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`,
  );
}

async function carry(
  ctx: Context,
  client: WebSocket,
  ticket: Ticket,
  hypervisorOf: HypervisorOf,
): Promise<void> {
  client.on('error', () => undefined); // 'close' follows
  client.pause(); // what is typed before the line is open waits
  let line: Duplex;
  try {
    line = await hypervisorOf(ticket.node_id).openConsole(machineIdOf(ticket.service_id), ticket.kind);
  } catch (error) {
    ctx.log.warn(
      { service: ticket.service_id, err: error instanceof Error ? error.message : error },
      'no console',
    );
    client.close(failed, 'the machine has no console right now');
    return;
  }
  if (client.readyState !== WebSocket.OPEN) {
    line.destroy();
    return;
  }
  const timer = setInterval(() => {
    mayStayOpen(ctx, ticket).then(
      (may) => may || client.close(notAllowed, 'access has ended'),
      () => client.close(failed, 'access could not be checked'),
    );
  }, checkEveryMs);

  client.on('message', (data: Buffer) => line.write(data));
  client.on('close', () => {
    clearInterval(timer);
    line.destroy();
  });
  line.on('data', (chunk: Buffer) => {
    client.send(chunk, () => {
      if (line.isPaused() && client.bufferedAmount < highWaterBytes / 2) line.resume();
    });
    if (client.bufferedAmount > highWaterBytes) line.pause();
  });
  const end = () => client.close(goingAway, 'the console ended');
  line.on('end', end).on('close', end).on('error', end);
  client.resume();
}
