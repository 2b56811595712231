import { createServer as createPlain, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTls } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { join } from 'node:path';
import { again } from './again.ts';
import { ConfigError } from './config.ts';
import {
  ensureCallCertificate,
  ensureDisk,
  ensureInstaller,
  ensureTree,
  installerHandler,
} from './drivers/installer/index.ts';
import {
  ensureBootPrograms,
  type Netboot,
  netbootHandler,
  type OwnAddress,
  ownAddress,
} from './drivers/netboot/index.ts';
import {
  bootAnswer,
  enrolmentSince,
  hearServerNetwork,
  leaveServerNetwork,
  macsOfServers,
  serverDesk,
} from './fleet/index.ts';
import { untilAborted } from './platform/host/program.ts';
import { type Context, causesOf, type Drivers } from './platform/index.ts';

type Http = ReturnType<typeof createPlain> | ReturnType<typeof createTls>;
type Handler = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** What anybody on the cable may take of us: the installer's calls are small, and come from a rack or two at once. */
const limits = {
  headersTimeout: 10_000,
  requestTimeout: 60_000,
  maxHeaderSize: 8_192,
  keepAliveTimeout: 5_000,
};
const mostConnections = 512;
/** Of a connection on which nothing moves. */
const silentConnectionMs = 60_000;
const handshakeMs = 10_000;

const followEveryMs = 2_000;
/** As other processes hear that it is served. */
const tellEveryMs = 20_000;
/** What of Debian could not be fetched is tried for again. */
const prepareEveryMs = 60_000;

/**
 * The network that servers start from, where this process is to serve one (RACK_INTERFACE): addresses, what they start, and the calls of their
 * installer. It goes on by itself from here: what it lacks staff reads at `GET /api/staff/enrolment`. Fails in words where there is no such interface.
 */
export async function serveServerNetwork(
  ctx: Context,
  drivers: Drivers,
  dataDir: string,
): Promise<() => Promise<void>> {
  const { rack } = ctx.config;
  if (rack === null) return async () => undefined;
  const place = await placeOf(rack.interface);
  const stopping = new AbortController();
  let served: Served | null = null;
  let toldAtMs = 0;
  let triedAtMs = Number.NEGATIVE_INFINITY;
  const tell = async (problem: string | null) => {
    toldAtMs = ctx.clock.now().getTime();
    await hearServerNetwork(ctx, { name: nameOf(ctx), ...place, problem });
  };
  const following = again(
    ctx,
    'the network that servers start from could not be followed',
    followEveryMs,
    async () => {
      if (served === null) {
        if (performance.now() - triedAtMs < prepareEveryMs) return;
        triedAtMs = performance.now();
        try {
          served = await open(ctx, drivers, place, rack, dataDir, stopping.signal);
          ctx.log.info({ ...place }, 'servers can start from the network');
          await tell(null);
        } catch (error) {
          if (stopping.signal.aborted) return;
          const message = error instanceof Error ? error.message : String(error);
          ctx.log.warn({ err: causesOf(error as Error) }, 'servers cannot start from the network');
          await tell(message.slice(0, 500));
          return;
        }
      }
      await follow(ctx, served.netboot);
      if (ctx.clock.now().getTime() - toldAtMs > tellEveryMs) await tell(null);
    },
  );
  return async () => {
    // What is fetched and built may take minutes, and is begun anew by the next start.
    stopping.abort(new Error('the product stops'));
    await following.stop();
    await served?.close();
    await leaveServerNetwork(ctx, nameOf(ctx)).catch(() => undefined);
  };
}

const nameOf = ({ config }: Context) => config.nodeName;

async function placeOf(name: string): Promise<OwnAddress> {
  const place = await ownAddress(name);
  if (place !== null) return place;
  throw new ConfigError(
    `RACK_INTERFACE is "${name}", and this host has no such interface with an IPv4 address.`,
  );
}

interface Served {
  netboot: Netboot;
  close(): Promise<void>;
}

async function open(
  ctx: Context,
  drivers: Drivers,
  place: OwnAddress,
  rack: NonNullable<Context['config']['rack']>,
  dataDir: string,
  signal: AbortSignal,
): Promise<Served> {
  const say = (line: string) => ctx.log.info({}, line);
  const images = ctx.config.imagesDir ?? join(dataDir, 'servers');
  const own = join(dataDir, 'servers');
  const image = await untilAborted(signal, () => ensureInstaller(images, say));
  const programs = await untilAborted(signal, () => ensureBootPrograms(images));
  const { key, cert, pin } = await ensureCallCertificate(own);
  const tls = createTls(
    { key, cert, handshakeTimeout: handshakeMs, ...limits },
    answering(
      ctx,
      installerHandler(
        serverDesk(ctx, (system, tell) => {
          const progress = (line: string) => {
            say(line);
            tell(line);
          };
          return untilAborted(signal, () =>
            system.kind === 'tree'
              ? ensureTree(images, system.tree, progress)
              : ensureDisk(images, system.disk, progress),
          );
        }),
      ),
    ),
  );
  const callsPort = await listen(tls, place.address, rack.port === 0 ? 0 : rack.port + 1);
  const servers: Server[] = [tls];
  try {
    let boot: Handler = async (_, response) => void response.writeHead(503).end();
    const plain = createPlain(
      limits,
      answering(ctx, (request, response) => boot(request, response)),
    );
    const files = `http://${place.address}:${await listen(plain, place.address, rack.port)}`;
    servers.push(plain);
    const places = { files, calls: `https://${place.address}:${callsPort}/installer`, key: pin };
    boot = netbootHandler({ ...image, places, answer: bootAnswer(ctx) });
    const netboot = await drivers.netboot({
      ...{ ...place, dir: join(own, 'network'), programs, gateway: place.address },
      ...{ range: { from: rack.from, to: rack.to }, script: `${files}/boot.ipxe` },
      log: { warn: (message) => ctx.log.warn({}, message) },
    });
    return {
      netboot,
      close: async () => {
        await netboot.close();
        await end(servers);
      },
    };
  } catch (error) {
    await end(servers);
    throw error;
  }
}

/** What goes wrong with one call is logged, and ends that call. */
function answering(
  ctx: Context,
  handler: Handler,
): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    handler(request, response).catch((error: Error) => {
      ctx.log.warn({ err: causesOf(error) }, 'a server could not be answered');
      if (!response.headersSent) response.writeHead(503).end();
      else response.destroy();
    });
  };
}

async function listen(server: Http, host: string, port: number): Promise<number> {
  server.maxConnections = mostConnections;
  server.setTimeout(silentConnectionMs);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return (server.address() as AddressInfo).port;
}

async function end(servers: readonly Server[]): Promise<void> {
  for (const server of servers) {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    if ('closeAllConnections' in server) (server as ReturnType<typeof createPlain>).closeAllConnections();
    await closed;
  }
}

/** Servers that are known get an address whenever they start; all others only while enrolment is open. */
async function follow(ctx: Context, netboot: Netboot): Promise<void> {
  const wanted = new Set(await macsOfServers(ctx));
  const now = new Set(await netboot.reserved());
  for (const mac of wanted) if (!now.has(mac)) await netboot.reserve(mac, null);
  for (const mac of now) if (!wanted.has(mac)) await netboot.release(mac);
  await netboot.admitStrangers((await enrolmentSince(ctx)) !== null);
}
