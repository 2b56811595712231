import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { WebSocket, WebSocketServer } from 'ws';
import { type Context, causesOf } from '../platform/index.ts';
import { ownProcess } from './elsewhere/address.ts';
import { type OpenForOthers, serveOthers } from './elsewhere/serve.ts';
import { Refusal, refuse } from './refusal.ts';
import { type ConsoleRoom, type Ending, endings, type Sight } from './rooms.ts';
import { hangUpOnSilence } from './silence.ts';
import { redeemTicket } from './tickets.ts';

const path = /^\/api\/console\/([A-Za-z0-9_-]{43})$/;
const checkEveryMs = 2_000;
/** How long a viewer who is sent away has for the closing handshake; then its socket is cut. */
const farewellMs = 1_000;
const mostViewers = 8;
const largestMessageBytes = 1_048_576;
/** Above this what is shown is not read from until the browser has caught up. */
const highWaterBytes = 4 * 1_048_576;

/**
 * Serves consoles: a WebSocket at `/api/console/<ticket>` carries the bytes of a screen or a serial line. It closes when what it shows
 * ends, and within five seconds of the moment that whoever opened it may no longer. What other processes of ours ask for at the same port
 * they get of `forOthers`. Returns how to stop.
 */
export function serveConsoles(
  ctx: Context,
  server: Server,
  rooms: readonly ConsoleRoom[],
  forOthers: OpenForOthers,
  pingEveryMs = 20_000,
): () => Promise<void> {
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: largestMessageBytes,
    perMessageDeflate: false,
  });
  const origin = new URL(ctx.config.publicUrl).origin;
  const seen = new WeakMap<WebSocket, string>();
  const others = serveOthers(ctx, ownProcess(ctx.config), forOthers);

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
    const sight = await admit(request);
    sockets.handleUpgrade(request, socket, head, (client) => seat(client, sight));
  };

  const seat = (client: WebSocket, sight: Sight): void => {
    client.on('error', () => undefined); // 'close' follows
    const { of } = sight;
    if ([...sockets.clients].filter((each) => seen.get(each) === of).length >= mostViewers) {
      sendAway(client, endings.tooMany(mostViewers));
      return;
    }
    seen.set(client, of);
    hangUpOnSilence(client, pingEveryMs);
    void carry(ctx, client, sight);
  };

  const admit = async (request: IncomingMessage): Promise<Sight> => {
    const shown = path.exec(request.url ?? '')?.[1];
    if (shown === undefined) throw new Refusal(404, 'Not Found');
    // Browsers send their page's origin: another site's page must not use a ticket it got hold of.
    const from = request.headers.origin;
    if (from !== undefined && from !== origin) throw new Refusal(403, 'Forbidden');
    const ticket = await redeemTicket(ctx, shown);
    const sight = ticket && (await rooms.find((each) => each.isOf(ticket))?.find(ticket));
    if (!sight) throw new Refusal(401, 'Unauthorized');
    return sight;
  };

  server.on('upgrade', onUpgrade);
  return async () => {
    server.off('upgrade', onUpgrade);
    for (const client of sockets.clients) sendAway(client, endings.stopping);
    sockets.close();
    others.close();
    for (const room of rooms) await room.close?.();
  };
}

/** The same for other processes alone, in a worker without an API. Returns how to stop. */
export function serveOtherProcesses(ctx: Context, server: Server, forOthers: OpenForOthers): () => void {
  const others = serveOthers(ctx, ownProcess(ctx.config), forOthers);
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
function sendAway(client: WebSocket, { code, reason }: Ending): void {
  client.resume();
  client.close(code, reason);
  setTimeout(() => client.terminate(), farewellMs).unref();
}

async function carry(ctx: Context, client: WebSocket, sight: Sight): Promise<void> {
  client.pause(); // what is typed before the line is open waits
  let line: Duplex;
  try {
    line = await sight.open();
  } catch (error) {
    ctx.log.warn({ console: sight.of, err: causesOf(error as Error) }, 'no console');
    sendAway(client, await sight.whyNone(error));
    return;
  }
  let isOver = false;
  // The line first: whoever has lost access types no further, however slowly it takes its leave.
  const end = (ending: Ending): void => {
    isOver = true;
    line.destroy();
    sendAway(client, ending);
  };
  const look = () =>
    sight.whyOver().then(
      (ending) => void (ending !== null && !isOver && end(ending)),
      () => void (isOver || end(endings.unchecked)),
    );
  let problem: Error | null = null;
  const ended = () => {
    if (isOver) return;
    isOver = true;
    sight.whyEnded(problem).then(end, () => end(endings.ended));
  };
  line
    .on('error', (error) => {
      problem = error;
    })
    .on('end', ended)
    .on('close', ended);
  const timer = setInterval(look, checkEveryMs);
  client.on('close', () => {
    isOver = true;
    clearInterval(timer);
    line.destroy();
  });
  // Opening it takes seconds where a BMC does it: what is so now decides, before a byte has passed.
  await look();
  if (client.readyState !== WebSocket.OPEN) line.destroy();
  else if (!isOver) join(client, line);
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
