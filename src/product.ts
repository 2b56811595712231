import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import type { Registry } from 'prom-client';
import { forgetSignIns, tellKeyOwners } from './account/index.ts';
import { allRoutes } from './api.ts';
import { requireFinishedRestore } from './backup/index.ts';
import { type DrivenClusters, driveClusters, followClusters } from './clusters.ts';
import type { Config } from './config.ts';
import { consolesOf, followConsoleHosts, noHypervisor, shownToOthers } from './consoleHosts.ts';
import { announceHost, ownAddress, serveConsoles, serveOtherProcesses } from './consoles/index.ts';
import { openDashboard } from './dashboard.ts';
import { type OpenDatabase, openDatabase } from './database.ts';
import { type Demo, openDemo } from './demo/index.ts';
import type { Hypervisor } from './drivers/hypervisor/index.ts';
import { type GivenDrivers, openDrivers, requireAll } from './drivers/index.ts';
import {
  describeMessages,
  forgetJournal,
  gatherReactions,
  openLayout,
  startTellingReaders,
} from './events/index.ts';
import { introduction } from './introduction.ts';
import { enlistNode, ensureInventory, knownHost, type LocalNode, watchNode } from './node.ts';
import { authenticator, expireInvitations, readOwners } from './organizations/index.ts';
import { commitOf } from './platform/host/commit.ts';
import { type DataDir, prepareDataDir } from './platform/host/dataDir.ts';
import {
  closeApi,
  createApi,
  createProbeServer,
  createRegistry,
  listRoutes,
  requestFields,
  type Site,
} from './platform/http/index.ts';
import {
  type Clock,
  type Context,
  connect,
  createLog,
  type Drivers,
  fail,
  forgetUnsettled,
  leadPeriodicJobs,
  openDictionary,
  openLeading,
  openSeal,
  type PeriodicJob,
  type ProcessLog,
  settleRestore,
  startAnnouncing,
  startPeriodicJobs,
  startStandIn,
  startWorker,
  systemActor,
  systemClock,
  type TxContext,
  type Worker,
  watchClock,
  watchCluster,
  watchWorker,
} from './platform/index.ts';
import { serveServerNetwork } from './serverNetwork.ts';
import { enlistEdges, readShieldAddress } from './shield/index.ts';
import { startReceiving } from './tickets/index.ts';
import { version } from './version.ts';
import { sayConnections, warn } from './warn.ts';
import { startWebhooks } from './webhooks/index.ts';
import {
  allChecks,
  allJobs,
  allMeasures,
  allPeriodicJobs,
  allReactions,
  allSealed,
  allWatches,
  jobsOfCustomers,
  jobsWhileHeld,
  jobsWithoutMachines,
  periodicGlance,
  standInJobs,
} from './worker.ts';

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
  /** Port on which a worker without an API answers whoever runs it; null with one. */
  probePort: number | null;
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
  openDictionary(config.textsDir);
  openLayout(config.textsDir);
  progress.stage('data directory');
  const data = await prepareDataDir(config.dataDir);
  const database = await openDatabase(config, data, progress, log);
  undo.push(database.close);
  const { url } = database;
  await requireFinishedRestore(url, data.dir);
  const ctx = await openContext(config, data, url, parts, log, undo);
  // Before anything is answered: also who does no jobs gives numbers to invoices.
  const isWhereItWas = await watchCluster(ctx);
  await warn(ctx, progress.say);
  undo.push(await sayConnections(ctx, url, progress.say));

  undo.push(startTellingReaders(ctx));
  if (config.role === 'api') await forgetUnsettled(ctx, endVisits);
  else await settleRestore(ctx, jobsOfCustomers, endVisits, tellKeyOwners);
  const { drivers, node, watch } = await openWorld(ctx, data, progress, parts, undo);
  const build = { version, commit: commitOf(join(import.meta.dirname, '..')), role: config.role };
  const registry = createRegistry(() => ctx.db.connections(), build);
  let isReady = false;
  let api: FastifyInstance | null = null;
  if (config.role !== 'worker') {
    progress.stage('API');
    const site = config.dashboard
      ? await openDashboard(requestFields(listRoutes(allRoutes)), log, progress.say)
      : undefined;
    // Before anything works: it takes this process a second or two, in which nobody would be answered.
    api = await makeApi(ctx, registry, drivers, () => isReady, site);
  }
  let probePort: number | null = null;
  if (config.role !== 'api') {
    undo.push(...watch());
    const driven = driveClusters(ctx, requireAll(drivers).clusters);
    undo.push(driven.stop);
    undo.push(await serveServerNetwork(ctx, requireAll(drivers), data.dir));
    const worker = await startBackground(
      ctx,
      database,
      requireAll(drivers),
      { node, driven },
      isWhereItWas,
      undo,
    );
    watchWorker(worker, registry);
    if (config.role === 'worker')
      probePort = await openProbes(ctx, worker, registry, { node, drivers: requireAll(drivers) }, undo);
  } else startWatching(ctx, url, drivers, isWhereItWas, undo);
  const port = api === null ? null : await openApi(ctx, api, drivers, node, undo);
  const demo = config.demo && port !== null ? await openDemo(ctx, data.dir, baseUrlOf(config, port)) : null;
  isReady = true;
  undo.push(() => {
    isReady = false;
  });
  return { ctx, data, node, port, probePort, demo, stop: () => stopAll(undo) };
}

/** The context of the product itself. */
type Whole = Context & { db: ReturnType<typeof connect>; log: ProcessLog };

/** What was closed since the backup must not stand open again after a restore. */
async function endVisits(tx: TxContext): Promise<void> {
  await forgetSignIns(tx);
  await expireInvitations(tx);
}

async function openContext(
  config: Config,
  data: DataDir,
  url: string,
  parts: Parts,
  log: ProcessLog,
  undo: Undo[],
): Promise<Whole> {
  const db = connect(url, {
    log,
    poolSize: config.databasePoolSize,
    statementTimeoutMs: config.databaseTimeoutS * 1_000,
  });
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

/** Opens the drivers; where the process does jobs, its host becomes a node, whose machines are looked after from `watch` on. */
async function openWorld(
  ctx: Context,
  data: DataDir,
  progress: StartProgress,
  parts: Parts,
  undo: Undo[],
): Promise<{ drivers: Partial<Drivers>; node: LocalNode | null; watch: () => Undo[] }> {
  const { config, log } = ctx;
  const host = { config, log, data, say: progress.say, given: parts.drivers ?? {} };
  if (config.role === 'api') {
    const { drivers, close } = await openDrivers({ ...host, gateways: [], enlist: null });
    undo.push(close);
    return { drivers, node: null, watch: () => [] };
  }
  const isRouter = config.hypervisor === 'none';
  progress.stage(isRouter ? 'packets' : 'machines');
  const known = await knownHost(ctx, data.dir);
  const gateways = isRouter ? [] : await ensureInventory(ctx);
  const nodes: LocalNode[] = [];
  const enlist = async (hypervisor: Hypervisor | null) => {
    const node = await enlistNode(ctx, hypervisor, known, progress.say);
    nodes.push(node);
    return node.id;
  };
  const { drivers, close } = await openDrivers({ ...host, gateways, enlist });
  undo.push(close);
  const all = requireAll(drivers);
  const watched = await Promise.all(
    nodes.map(async (own) => ({
      own,
      edges: await enlistEdges(ctx, own.id, own.hypervisor === null ? 'router' : 'node', all),
    })),
  );
  return {
    drivers,
    node: nodes[0] ?? null,
    watch: () => watched.map(({ own, edges }) => watchNode(ctx, own, gateways, all, edges)),
  };
}

async function startBackground(
  ctx: Whole,
  { url, retentionUrl }: OpenDatabase,
  drivers: Drivers,
  { node, driven }: { node: LocalNode | null; driven: DrivenClusters },
  isWhereItWas: (ctx: Context) => Promise<boolean>,
  undo: Undo[],
): Promise<Worker> {
  // What somebody says of a recovery is settled before the first job, also where this process has waited for it.
  const mayWork = async () => {
    if (!(await isWhereItWas(ctx))) return false;
    await settleRestore(ctx, jobsOfCustomers, endVisits, tellKeyOwners);
    return true;
  };
  const sagas = node?.hypervisor === null ? jobsWithoutMachines : allJobs;
  const own = node === null ? [] : [node.id];
  const nodes = () => [...own, ...driven.served()];
  const worker = startWorker(ctx, url, { sagas, drivers, nodes, readOwners, mayWork });
  undo.push(() => worker.stop());
  const time = await watchClock(ctx);
  undo.push(time.stop);
  // Staff is told also while nothing else is done.
  const held = (job: PeriodicJob): PeriodicJob => ({
    ...job,
    work: async (tx) => {
      const mayGoOn = (job.anyTime || time.isBelieved()) && (await isWhereItWas(tx));
      return mayGoOn ? job.work(tx) : 'held';
    },
  });
  const leading = openLeading(url, ctx.log);
  const others = allPeriodicJobs.filter((job) => !allWatches.includes(job));
  const led = [...others, ...clearing(ctx, retentionUrl, undo)].map(held);
  undo.push(leadPeriodicJobs(ctx, leading, [...allWatches, ...led], periodicGlance));
  const mayGoOn = () => isWhereItWas(ctx);
  const isWorking = () => worker.isAlive();
  undo.push(startStandIn(ctx, url, { ...standsIn(drivers, mayGoOn), whileSilent: [], isWorking }));
  undo.push(startWebhooks(ctx, leading, mayGoOn));
  undo.push(await startReceiving(ctx, leading, drivers, mayGoOn));
  return worker;
}

/** Clears the journal where its days are counted; for its own role alone, over a connection of its own. */
function clearing(ctx: Whole, url: string | null, undo: Undo[]): PeriodicJob[] {
  const { journalDays } = ctx.config;
  if (journalDays === null || url === null) return [];
  const retention = connect(url, { log: ctx.log, poolSize: 1 });
  undo.push(() => retention.close());
  return [forgetJournal(retention, journalDays)];
}

/** What a worker without an API answers to whoever runs it. */
async function openProbes(
  ctx: Context & { db: ReturnType<typeof connect> },
  worker: Worker,
  registry: Registry,
  { node, drivers }: { node: LocalNode | null; drivers: Drivers },
  undo: Undo[],
): Promise<number> {
  const ready = async () => {
    if (!worker.isAlive()) throw fail('unavailable', { message: 'The worker does not look for jobs' });
  };
  const server = createProbeServer({ ctx, ready, checks: allChecks, registry });
  undo.push(() => closeApi(server));
  const { workerPort, workerHost } = ctx.config;
  undo.push(serveOtherProcesses(ctx, server.server, shownToOthers(ctx, drivers)));
  const port = await listen(server, workerPort, workerHost);
  await announce(ctx, node, server, undo);
  return port;
}

/** In a process whose workers are all elsewhere: tells them of jobs, and notices when there are none. */
function startWatching(
  ctx: Context,
  url: string,
  drivers: Partial<Drivers>,
  isWhereItWas: (ctx: Context) => Promise<boolean>,
  undo: Undo[],
): void {
  undo.push(startAnnouncing(url, ctx.log, () => true).stop);
  if (drivers.clusters !== undefined) undo.push(followClusters(ctx, drivers.clusters).stop);
  undo.push(followConsoleHosts(ctx, drivers).stop);
  undo.push(startPeriodicJobs(ctx, [...allWatches, watchingCluster(isWhereItWas)]));
  // Where mails would only be kept, those of customers are left for the worker, which may have a mail server.
  if (drivers.mail?.capabilities.includes('delivery'))
    undo.push(
      startStandIn(
        ctx,
        url,
        standsIn(drivers, () => isWhereItWas(ctx)),
      ),
    );
}

/** Who does what while no worker does anything. */
function standsIn(drivers: Partial<Drivers>, isWhereItWas: () => Promise<boolean>) {
  return { whileSilent: standInJobs, whileHeld: jobsWhileHeld, drivers, isWhereItWas };
}

/** Notices where no worker does, so that staff is told all the same. */
function watchingCluster(isWhereItWas: (ctx: Context) => Promise<boolean>): PeriodicJob {
  return { name: 'installation.watchCluster', intervalMs: 5_000, work: isWhereItWas };
}

async function makeApi(
  ctx: Whole,
  registry: Registry,
  drivers: Partial<Drivers>,
  isReady: () => boolean,
  site: Site | undefined,
): Promise<FastifyInstance> {
  const api: FastifyInstance = await createApi({
    ...ctx,
    drivers,
    registry,
    authenticate: authenticator(ctx.db, ctx.clock, ctx.config),
    routes: allRoutes,
    ready: async () => {
      if (!isReady()) throw fail('unavailable', { message: 'The product is still starting' });
    },
    checks: allChecks,
    measures: allMeasures,
    readAddress: readShieldAddress,
    info: introduction(version, ctx.config.publicUrl),
    sends: describeMessages(),
    site,
  });
  await api.ready();
  return api;
}

async function openApi(
  ctx: Whole,
  api: FastifyInstance,
  drivers: Partial<Drivers>,
  node: LocalNode | null,
  undo: Undo[],
): Promise<number> {
  undo.push(() => closeApi(api));
  // Where this process drives nothing it gives no tickets either; by the first cluster it comes to have a hypervisor.
  const hypervisorOf = (nodeId: number) => (drivers.hypervisor ?? noHypervisor)(nodeId);
  const { rooms, forOthers } = consolesOf(ctx, api.server, hypervisorOf, drivers);
  undo.push(serveConsoles(ctx, api.server, rooms, forOthers));
  const port = await listen(api, ctx.config.port, ctx.config.host);
  await announce(ctx, node, api, undo);
  return port;
}

/** Tells other processes where they see machines of this host, and servers. */
async function announce(
  ctx: Context,
  node: LocalNode | null,
  { server }: FastifyInstance,
  undo: Undo[],
): Promise<void> {
  if (node === null) return;
  undo.push(await announceHost(ctx, node.id, ownAddress(ctx.config, server)));
}

/** Returns the port, which with port 0 is known only now. */
async function listen(server: FastifyInstance, port: number, host: string): Promise<number> {
  await server.listen({ port, host });
  const address = server.server.address();
  return typeof address === 'object' && address !== null ? address.port : port;
}
