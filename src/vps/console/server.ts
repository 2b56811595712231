import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocket, WebSocketServer } from 'ws';
import type { HypervisorOf } from '../../drivers/hypervisor/index.ts';
import type { Context } from '../../platform/index.ts';
import { machineIdOf } from '../machine.ts';
import { ownAddress, ownProcess } from './lines/address.ts';
import { type ConsoleLines, consoleLines, LineElsewhere } from './lines/lines.ts';
import { serveLines } from './lines/serve.ts';
import { mayStayOpen, redeemTicket, type Ticket } from './open.ts';
import { Refusal, refuse } from './refusal.ts';
import { hangUpOnSilence } from './silence.ts';

const path = /^\/api\/console\/([A-Za-z0-9_-]{43})$/;
const checkEveryMs = 2_000;
/** How long a viewer who is sent away has for the closing handshake; then its socket is cut. */
const farewellMs = 1_000;
const mostPerMachine = 8;
const largestMessageBytes = 1_048_576;
/** Above this the guest is not read from until the browser has caught up. */
const highWaterBytes = 4 * 1_048_576;

const goingAway = 1001;
const notAllowed = 1008;
const failed = 1011;
const tryAgainLater = 1013;

/**
 * Serves consoles: a WebSocket at `/api/console/<ticket>` carries the bytes of a machine's screen or serial line.
 * It closes when the machine ends, and within five seconds of the moment that whoever opened it may no longer. Lines that this
 * process holds are passed on to other processes of ours at the same port (`lines/`). Returns how to stop.
 */
export function serveConsoles(
  ctx: Context,
  server: Server,
  hypervisorOf: HypervisorOf,
  pingEveryMs = 20_000,
): () => Promise<void> {
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: largestMessageBytes,
    perMessageDeflate: false,
  });
  const origin = new URL(ctx.config.publicUrl).origin;
  const machines = new WeakMap<WebSocket, number>();
  const process = ownProcess(ctx.config);
  const lines = consoleLines(ctx, hypervisorOf, () => ({ process, address: ownAddress(ctx.config, server) }));
  const others = serveLines(ctx, process, lines, hypervisorOf);
  const ways = { hypervisorOf, lines };

  const onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    // Node took its own listener away, and whoever asks may be gone before we have looked at the ticket.
    socket.on('error', () => undefined);
    const admitted = others.isFor(request) ? pass(request, socket, head) : welcome(request, socket, head);
    admitted.catch((refusal: unknown) =>
      refuse(socket, refusal instanceof Refusal ? refusal : new Refusal(503, 'Service Unavailable')),
    );
  };

  const pass = async (request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> =>
    others.serve(request, socket, head);

  const welcome = async (request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> => {
    const ticket = await admit(request);
    sockets.handleUpgrade(request, socket, head, (client) => seat(client, ticket));
  };

  const seat = (client: WebSocket, ticket: Ticket): void => {
    client.on('error', () => undefined); // 'close' follows
    const seated = [...sockets.clients].filter((each) => machines.get(each) === ticket.service_id);
    if (seated.length >= mostPerMachine) {
      sendAway(client, tryAgainLater, `the machine has ${mostPerMachine} open consoles; close one first`);
      return;
    }
    machines.set(client, ticket.service_id);
    hangUpOnSilence(client, pingEveryMs);
    void carry(ctx, client, ticket, ways);
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
  return async () => {
    server.off('upgrade', onUpgrade);
    for (const client of sockets.clients) sendAway(client, goingAway, 'the product is stopping');
    sockets.close();
    others.close();
    await lines.close();
  };
}

/**
 * The same for other processes alone, in a worker without an API: consoles and screens of its node, to those that their viewers came to.
 * Returns how to stop.
 */
export function serveOtherProcesses(ctx: Context, server: Server, hypervisorOf: HypervisorOf): () => void {
  const others = serveLines(ctx, ownProcess(ctx.config), { join: () => null }, hypervisorOf);
  const onUpgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    socket.on('error', () => undefined);
    try {
      if (!others.isFor(request)) throw new Refusal(404, 'Not Found');
      others.serve(request, socket, head);
    } catch (refusal) {
      refuse(socket, refusal instanceof Refusal ? refusal : new Refusal(503, 'Service Unavailable'));
    }
  };
  server.on('upgrade', onUpgrade);
  return () => {
    server.off('upgrade', onUpgrade);
    others.close();
  };
}

/** Closes with a reason, soon also without consent. A paused client could not be heard to give it. */
function sendAway(client: WebSocket, code: number, reason: string): void {
  client.resume();
  client.close(code, reason);
  setTimeout(() => client.terminate(), farewellMs).unref();
}

/** How machines are reached. */
interface Ways {
  hypervisorOf: HypervisorOf;
  lines: ConsoleLines;
}

const heldElsewhere =
  'another process has this console and cannot be reached from here; try again, or ask your provider';

/** Clusters let one viewer in to a serial line, and any number to a screen; a host of ours shares its lines by itself. */
function openLine(
  { service_id: id, incarnation, node_id: nodeId, cluster_id: clusterId, kind }: Ticket,
  ways: Ways,
): Promise<Duplex> {
  if (clusterId !== null && kind === 'serial') return ways.lines.open(id);
  return ways.hypervisorOf(nodeId).openConsole(machineIdOf(id, incarnation), kind);
}

async function carry(ctx: Context, client: WebSocket, ticket: Ticket, ways: Ways): Promise<void> {
  client.pause(); // what is typed before the line is open waits
  let line: Duplex;
  try {
    line = await openLine(ticket, ways);
  } catch (error) {
    ctx.log.warn(
      { service: ticket.service_id, err: error instanceof Error ? error.message : error },
      'no console',
    );
    const reason = error instanceof LineElsewhere ? heldElsewhere : 'the machine has no console right now';
    sendAway(client, failed, reason);
    return;
  }
  if (client.readyState !== WebSocket.OPEN) {
    line.destroy();
    return;
  }
  // The line first: whoever has lost access types no further, however slowly it takes its leave.
  const end = (code: number, reason: string): void => {
    line.destroy();
    sendAway(client, code, reason);
  };
  const timer = setInterval(() => {
    mayStayOpen(ctx, ticket).then(
      (may) => may || end(notAllowed, 'access has ended'),
      () => end(failed, 'access could not be checked'),
    );
  }, checkEveryMs);
  client.on('close', () => {
    clearInterval(timer);
    line.destroy();
  });
  const ended = () => end(goingAway, 'the console ended');
  line.on('end', ended).on('close', ended).on('error', ended);
  join(client, line);
}

/** Passes bytes both ways, each way as fast as its receiver reads: nothing piles up here. */
function join(client: WebSocket, line: Duplex): void {
  client.on('message', (data: Buffer) => {
    if (!line.destroyed && !line.write(data)) client.pause();
  });
  line.on('drain', () => client.resume());
  line.on('data', (chunk: Buffer) => {
    client.send(chunk, () => {
      if (line.isPaused() && client.bufferedAmount < highWaterBytes / 2) line.resume();
    });
    if (client.bufferedAmount > highWaterBytes) line.pause();
  });
  client.resume();
}
