import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../config.ts';
import { greetsBySsh } from '../platform/host/ssh.ts';
import type { DriverName, Drivers } from '../platform/index.ts';
import { certificateOf, openBmcs } from './bmc/index.ts';
import { databaseDns, powerDns, type ReverseDns } from './dns/index.ts';
import {
  type BgpRouters,
  bgpRouters,
  type Edge,
  EdgeError,
  hasKernelSynproxy,
  memoryEdge,
  nftablesEdge,
  whyNoNftables,
} from './edge/index.ts';
import { type Files, folderFiles, s3Files } from './files/index.ts';
import {
  type Clusters,
  type Host,
  type Hypervisor,
  HypervisorError,
  type OpenCluster,
  openCluster,
  openClusters,
  openHypervisor,
} from './hypervisor/index.ts';
import { databaseMail, type Mail, smtpMail } from './mail/index.ts';
import { type MailIn, mailbox, mailListener, noMailIn } from './mailIn/index.ts';
import { openNetboot } from './netboot/index.ts';
import { noPayments, type Payments, stripePayments } from './payments/index.ts';
import { openSwitches } from './switch/index.ts';
import { noVatRegister, type VatRegister, vies } from './vat/index.ts';

/** What the drivers of a process are opened with. */
export interface World extends Host {
  /** Writes this host down as a node, with its hypervisor or as one that only filters; null where this process has nothing of either. */
  enlist: ((hypervisor: Hypervisor | null) => Promise<number>) | null;
  /** Stand in for what the configuration would choose. */
  given?: GivenDrivers;
}

export type GivenDrivers = Partial<Omit<Drivers, 'hypervisor' | 'clusters' | 'edge' | 'routers'>> & {
  hypervisor?: Hypervisor;
  openCluster?: OpenCluster;
  edge?: Edge;
  routers?: BgpRouters;
};

/** What was opened before, by which others go. */
interface SoFar {
  own: OwnNode | null;
  clusters: Clusters;
}

/** The node that this process runs. */
interface OwnNode {
  id: number;
  /** Null where it only filters. */
  hypervisor: Hypervisor | null;
}

export interface OpenDrivers {
  /** A process without a node has no hypervisor but for members of clusters. */
  drivers: Partial<Drivers>;
  close(): Promise<void>;
}

/** A driver, and how to let go of it; null when this process has none of its kind. */
type Opened<Name extends DriverName> = { driver: Drivers[Name]; close(): Promise<void> } | null;

/** The one place where a driver is chosen: a kind, a line. */
const openers: {
  [Name in DriverName]: (world: World, so: SoFar) => Promise<Opened<Name>> | Opened<Name>;
} = {
  // First: others go by what this process's node is, and by which nodes are members of clusters.
  clusters: openClustersOf,
  hypervisor: openNode,
  edge: openEdge,
  routers: openRouters,
  mail: ({ config, given }) => closing(given?.mail ?? mailOf(config)),
  mailIn: ({ config, given }) => ({
    driver: given?.mailIn ?? mailInOf(config),
    close: async () => undefined,
  }),
  dns: ({ config, given }) => ({ driver: given?.dns ?? dnsOf(config), close: async () => undefined }),
  payments: async ({ config, given }) => closing(given?.payments ?? (await paymentsOf(config))),
  files: ({ config, given }) =>
    given?.files === undefined ? filesOf(config) : { driver: given.files, close: async () => undefined },
  vat: ({ config, given }) => ({ driver: given?.vat ?? vatOf(config), close: async () => undefined }),
  switch: ({ given }) => ({ driver: given?.switch ?? openSwitches(), close: async () => undefined }),
  netboot: ({ given }) => ({ driver: given?.netboot ?? openNetboot, close: async () => undefined }),
  greets: ({ given }) => ({ driver: given?.greets ?? greetsBySsh, close: async () => undefined }),
  // By which engine a BMC is spoken to stands with its server.
  bmc: ({ given }) => ({ driver: given?.bmc ?? openBmcs(), close: async () => undefined }),
  bmcCertificate: ({ given }) => ({
    driver: given?.bmcCertificate ?? ((address, port) => certificateOf(address, port)),
    close: async () => undefined,
  }),
};

/** Opens every driver that this process has. When one fails, those before it are closed again. */
export async function openDrivers(world: World): Promise<OpenDrivers> {
  const drivers: Partial<Drivers> = {};
  const so: SoFar = { own: null, clusters: noClusters };
  const closers: (() => Promise<void>)[] = [];
  const close = async () => {
    for (const each of closers.splice(0).reverse()) await each();
  };
  const open = async <Name extends DriverName>(name: Name) => {
    const opened = await openers[name](world, so);
    if (opened === null) return;
    drivers[name] = opened.driver;
    closers.push(opened.close);
  };
  try {
    for (const name of Object.keys(openers) as DriverName[]) await open(name);
  } catch (error) {
    await close();
    throw error;
  }
  if (world.enlist === null) withClustersAlone(drivers, so.clusters);
  return { drivers, close };
}

/** A process without a node has a hypervisor for as long as it drives a cluster. */
function withClustersAlone(drivers: Partial<Drivers>, clusters: Clusters): void {
  const { hypervisor } = drivers;
  const get = () => (clusters.isEmpty() ? undefined : hypervisor);
  Object.defineProperty(drivers, 'hypervisor', { get, enumerable: true });
}

/** The drivers of a process that does jobs, which may need any of them. */
export function requireAll(drivers: Partial<Drivers>): Drivers {
  for (const name of Object.keys(openers) as DriverName[]) {
    if (drivers[name] === undefined) throw new Error(`this process has no driver for ${name}`);
  }
  return drivers as Drivers;
}

/** For as long as none were opened. */
const noClusters = openClusters(() => {
  throw new Error('clusters come first');
}, []);

function openClustersOf({ config, data, log, given }: World, so: SoFar): Opened<'clusters'> {
  const open = given?.openCluster ?? openCluster;
  // Where the hypervisor of this host keeps its own: what was built once is uploaded from there.
  const imagesDir = config.imagesDir ?? join(data.dir, 'hypervisor', 'images');
  const driver = openClusters((connection) => open(connection, { imagesDir, log }), config.clusterAllow);
  so.clusters = driver;
  return closing(driver);
}

async function openNode(world: World, so: SoFar): Promise<Opened<'hypervisor'>> {
  const { clusters } = so;
  if (world.enlist === null)
    return { driver: (id) => hypervisorAt(id, null, clusters), close: async () => undefined };
  const hypervisor = await hypervisorOf(world);
  try {
    const own = { id: await world.enlist(hypervisor), hypervisor };
    so.own = own;
    return { driver: (id) => hypervisorAt(id, own, clusters), close: async () => hypervisor?.close() };
  } catch (error) {
    await hypervisor?.close();
    throw error;
  }
}

function hypervisorAt(id: number, own: OwnNode | null, clusters: Clusters): Hypervisor {
  const found = own !== null && id === own.id ? own.hypervisor : clusters.onNode(id);
  if (found) return found;
  // So it is for a moment while its cluster is reached in another way: whoever asks for it waits.
  throw new HypervisorError('host_not_ready', `node ${id} is not run by this process`, { waits: true });
}

/** By the setting HYPERVISOR; null where this host only filters. */
async function hypervisorOf(world: World): Promise<Hypervisor | null> {
  if (world.config.hypervisor === 'none') return null;
  return world.given?.hypervisor ?? openHypervisor(world);
}

/** What filters before the machines of this process's node, or of those behind it: of a process without a node, none. */
async function openEdge({ config, given, log }: World, { own, clusters }: SoFar): Promise<Opened<'edge'>> {
  if (own === null) return { driver: (nodeId) => notHere(nodeId, clusters), close: async () => undefined };
  const edge = given?.edge ?? (await edgeOf(config, own));
  const isNone = typeof edge === 'string';
  if (isNone) log.warn({ node: own.id, reason: edge }, 'nothing filters at this node');
  else log.info({ node: own.id, edge: edge.kind, capabilities: edge.capabilities }, 'packets are filtered');
  return {
    driver: (nodeId) => {
      if (nodeId !== own.id) return notHere(nodeId, clusters);
      if (isNone)
        throw new EdgeError('nothing_filters', `nothing filters at this node: ${edge}`, { permanent: true });
      return edge;
    },
    close: async () => {
      if (!isNone) await edge.close();
    },
  };
}

function notHere(nodeId: number, clusters: Clusters): never {
  if (clusters.onNode(nodeId) !== null)
    throw new EdgeError('nothing_filters', 'nothing filters at members of clusters', { permanent: true });
  throw new EdgeError('edge_refused', `node ${nodeId} is not run by this process`);
}

/** By the setting GOBGPD; a process without a node speaks to no routers. */
function openRouters({ config, given }: World, { own, clusters }: SoFar): Opened<'routers'> {
  if (own === null) return null;
  const routers = given?.routers ?? (config.gobgpd === null ? null : bgpRouters({ address: config.gobgpd }));
  return {
    driver: (nodeId) => {
      if (nodeId !== own.id) return notHere(nodeId, clusters);
      if (routers === null)
        throw new EdgeError('nothing_filters', 'GOBGPD is not set: this process speaks to no routers', {
          permanent: true,
        });
      return routers;
    },
    close: async () => routers?.close(),
  };
}

/** By the setting EDGE; why there is none, as a sentence. Simulated machines get no packets but those that somebody tells of. */
async function edgeOf({ edge: engine }: Config, { hypervisor }: OwnNode): Promise<Edge | string> {
  if (engine === 'none') return 'EDGE is none';
  if (engine === 'memory' || (engine === 'auto' && hypervisor?.kind === 'simulator')) return memoryEdge();
  const reason = await whyNoNftables();
  if (reason === null) return nftablesEdge({ bridged: true, synproxy: await hasKernelSynproxy() });
  if (engine === 'nftables') throw new Error(`EDGE is nftables, but ${reason}`);
  return reason;
}

function mailOf(config: Config): Mail {
  return config.mail === 'smtp' ? smtpMail({ url: config.smtpUrl }) : databaseMail();
}

function mailInOf(config: Config): MailIn {
  const { mailIn: engine, mailInHost: host, mailInPort: port, mailInTls: tls } = config;
  if (engine === 'none') return noMailIn();
  if (engine === 'imap') return mailbox({ url: config.mailInUrl, doneFolder: config.mailInFolder });
  const name = config.mailInAddress?.split('@')[1] ?? 'localhost';
  return mailListener({
    ...{ protocol: engine, host, port, name, from: config.mailInFrom },
    ...(tls === null
      ? {}
      : { tls: { cert: readFileSync(tls.certFile, 'utf8'), key: readFileSync(tls.keyFile, 'utf8') } }),
  });
}

function dnsOf(config: Config): ReverseDns {
  return config.dns === 'powerdns'
    ? powerDns({ url: config.dnsUrl, apiKey: config.dnsApiKey })
    : databaseDns();
}

async function paymentsOf(config: Config): Promise<Payments> {
  if (config.payments === 'none') return noPayments();
  const { stripeSecretKey: secretKey, stripeWebhookSecret: webhookSecret, stripeApiUrl: url } = config;
  return stripePayments({ secretKey, webhookSecret, url });
}

async function filesOf(config: Config): Promise<Opened<'files'>> {
  if (config.s3 !== null) return closing(await s3Files(config.s3));
  const driver: Files = folderFiles({ dir: config.filesDir });
  return { driver, close: async () => undefined };
}

function vatOf(config: Config): VatRegister {
  return config.vat === 'vies' ? vies({ url: config.vatUrl }) : noVatRegister();
}

function closing<Driver extends { close(): Promise<void> }>(driver: Driver) {
  return { driver, close: () => driver.close() };
}
