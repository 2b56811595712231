import type { FastifyInstance } from 'fastify';
import { allRoutes } from './api.ts';
import type { Config } from './config.ts';
import { openDatabase } from './database.ts';
import { type Demo, openDemo } from './demo/index.ts';
import type { Hypervisor } from './drivers/hypervisor/index.ts';
import { type GivenDrivers, openDrivers, requireAll } from './drivers/index.ts';
import { gatherReactions, startTellingReaders } from './events/index.ts';
import { introduction } from './introduction.ts';
import { enlistNode, ensureInventory, knownHost, type LocalNode, watchNode } from './node.ts';
import { authenticator } from './organizations/index.ts';
import { type DataDir, prepareDataDir } from './platform/host/dataDir.ts';
import { closeApi, createApi } from './platform/http/index.ts';
import {
  type Clock,
  type Context,
  connect,
  createLog,
  type Drivers,
  fail,
  openSeal,
  type ProcessLog,
  startAnnouncing,
  startPeriodicJobs,
  startWorker,
  systemActor,
  systemClock,
} from './platform/index.ts';
import { version } from './version.ts';
import { serveConsoles } from './vps/index.ts';
import { allJobs, allPeriodicJobs, allReactions, allSealed } from './worker.ts';

/** Tells a person how far the start is; see `platform/host/terminal.ts`. */
export interface StartProgress {
  stage(name: string): void;
  say(detail: string): void;
}

/** Replaces parts of the outside world, for tests. */
export interface Parts {
  clock?: Clock;
  drivers?: GivenDrivers;
  log?: ProcessLog;
}

export interface Product {
  ctx: Context & { log: ProcessLog };
  data: DataDir;
  node: LocalNode | null;
  /** Port the API listens on; null without an API. */
  port: number | null;
  /** The demonstration company; null when there is none. */
  demo: Demo | null;
  stop(): Promise<void>;
}

/** Where people reach the product; with PORT=0 the port is known only now. */
export function baseUrlOf(config: Config, port: number): string {
  return config.port === 0 ? `http://localhost:${port}` : config.publicUrl;
}

/** Undoes what the start did, last thing first. */
type Undo = () => Promise<unknown> | unknown;

/**
 * Starts the whole product, or the part that `config.role` names: database, hypervisor, worker, API. What was
 * started already is stopped again when a later part fails.
 */
export async function startProduct(
  config: Config,
  progress: StartProgress,
  parts: Parts = {},
): Promise<Product> {
  const undo: Undo[] = [];
  try {
    return await start(config, progress, parts, undo);
  } catch (error) {
    await stopAll(undo);
    throw error;
  }
}

async function stopAll(undo: Undo[]): Promise<void> {
  for (const each of undo.splice(0).reverse()) await each();
}

async function start(config: Config, progress: StartProgress, parts: Parts, undo: Undo[]): Promise<Product> {
  const log = parts.log ?? createLog(config.logLevel, { format: config.logFormat });
  progress.stage('data directory');
  const data = await prepareDataDir(config.dataDir);
  const database = await openDatabase(config, data, progress, log);
  undo.push(database.close);
  const { url } = database;
  const ctx = await openContext(config, data, url, parts, log, undo);

  undo.push(startTellingReaders(ctx));
  const { drivers, node } = await openWorld(ctx, data, progress, parts, undo);
  if (config.role !== 'api')
    startBackground(ctx, url, requireAll(drivers), node === null ? [] : [node.id], undo);
  else undo.push(startAnnouncing(url, log, () => true).stop); // every worker is in another process
  let isReady = false;
  let port: number | null = null;
  if (config.role !== 'worker') {
    progress.stage('API');
    port = await openApi(ctx, config, drivers, () => isReady, undo);
  }
  const demo = config.demo && port !== null ? await openDemo(ctx, data.dir, baseUrlOf(config, port)) : null;
  isReady = true;
  undo.push(() => {
    isReady = false;
  });
  return { ctx, data, node, port, demo, stop: () => stopAll(undo) };
}

/** The context of the product itself. */
type Whole = Context & { db: ReturnType<typeof connect>; log: ProcessLog };

async function openContext(
  config: Config,
  data: DataDir,
  url: string,
  parts: Parts,
  log: ProcessLog,
  undo: Undo[],
): Promise<Whole> {
  const db = connect(url, { log, poolSize: config.databasePoolSize });
  undo.push(() => db.close());
  return {
    db,
    config,
    log,
    clock: parts.clock ?? systemClock,
    reactions: gatherReactions(allReactions),
    seal: await openSeal(db, data.dir, config.secretKey, allSealed),
    actor: systemActor,
    organizationId: null,
    requestId: null,
  };
}

/** Opens the drivers; where the process does jobs, its host becomes a node, whose machines are watched from then on. */
async function openWorld(
  ctx: Context,
  data: DataDir,
  progress: StartProgress,
  parts: Parts,
  undo: Undo[],
): Promise<{ drivers: Partial<Drivers>; node: LocalNode | null }> {
  const { config, log } = ctx;
  const host = { config, log, data, say: progress.say, given: parts.drivers ?? {} };
  if (config.role === 'api') {
    const { drivers, close } = await openDrivers({ ...host, gateways: [], enlist: null });
    undo.push(close);
    return { drivers, node: null };
  }
  progress.stage('machines');
  const known = await knownHost(ctx, data.dir);
  const gateways = await ensureInventory(ctx);
  const nodes: LocalNode[] = [];
  const enlist = async (hypervisor: Hypervisor) => {
    const node = await enlistNode(ctx, hypervisor, known, progress.say);
    nodes.push(node);
    return node.id;
  };
  const { drivers, close } = await openDrivers({ ...host, gateways, enlist });
  undo.push(close, ...nodes.map((node) => watchNode(ctx, node, gateways)));
  return { drivers, node: nodes[0] ?? null };
}

function startBackground(ctx: Context, url: string, drivers: Drivers, nodes: number[], undo: Undo[]): void {
  const worker = startWorker(ctx, url, { sagas: allJobs, drivers, nodes });
  undo.push(() => worker.stop());
  undo.push(startPeriodicJobs(ctx, allPeriodicJobs));
}

async function openApi(
  ctx: Whole,
  config: Config,
  drivers: Partial<Drivers>,
  isReady: () => boolean,
  undo: Undo[],
): Promise<number> {
  const api: FastifyInstance = await createApi({
    ...ctx,
    drivers,
    pool: () => ctx.db.connections(),
    authenticate: authenticator(ctx.db, ctx.clock),
    routes: allRoutes,
    ready: async () => {
      if (!isReady()) throw fail('unavailable', { message: 'The product is still starting' });
    },
    info: introduction(version, config.publicUrl),
  });
  undo.push(() => closeApi(api));
  // Consoles need the hypervisor beside the API.
  if (drivers.hypervisor !== undefined) undo.push(serveConsoles(ctx, api.server, drivers.hypervisor));
  await api.listen({ port: config.port, host: config.host });
  const address = api.server.address();
  return typeof address === 'object' && address !== null ? address.port : config.port;
}
