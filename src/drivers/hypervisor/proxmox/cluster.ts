import type { ClusterFindings, MemberReport } from '../cluster.ts';
import { HypervisorError, type MachineId, type NodeCapacity } from '../contract.ts';
import { asList, asNumber, asRecord, asText, notProxmox, short } from './answers.ts';
import type { ProxmoxClient } from './client.ts';
import { ProxmoxRefusal } from './failure.ts';
import { idInTags } from './machine.ts';
import { isNodeName, type ProxmoxOptions } from './options.ts';
import { grantedAt, missingRights } from './rights.ts';

/** What stands at one moment in all of the cluster, as far as its nodes know of one another. */
export interface Overview {
  nodes: ClusterNode[];
  /** What is in our pool and says which machine of ours it is; a copy that somebody made says so, too. */
  ours: Place[];
  /** Other machines and containers that we are shown. */
  others: { vmid: number; node: string; id: MachineId | null }[];
  /** Nodes that have a storage, and how large it is there. */
  storages: {
    storage: string;
    node: string;
    isShared: boolean;
    bytes: number;
    usedBytes: number;
    content: string;
    isZfs: boolean;
  }[];
}

export interface ClusterNode {
  name: string;
  answers: boolean;
  cpuCores: number;
  memoryBytes: number;
  memoryUsedBytes: number;
}

export interface Place {
  id: MachineId;
  vmid: number;
  node: string;
  /** Share of its cores that it used lately, which the nodes tell one another every ten seconds. */
  cpu: number;
  cpuCores: number;
}

export interface ClusterFacts {
  overview(): Promise<Overview>;
  /** Fails, in words, where something lacks that machines on this node need; null: on every one that answers. */
  check(node: string | null): Promise<void>;
  /** What there is, and a sentence for each thing that lacks: rights, pool, storages, bridges, firewall. */
  look(): Promise<ClusterFindings>;
  members(): Promise<MemberReport[]>;
  /** Of one node; null: of all together. */
  capacity(node: string | null): Promise<NodeCapacity>;
  troubles(node: string | null): Promise<string[]>;
  /** `network_failed` where packet rules of machines would not be kept. */
  mustFilter(): Promise<void>;
}

const testedMajor = 9;
const gib = 2 ** 30;

/** What the cluster says of itself. */
export function clusterFacts(options: ProxmoxOptions, client: ProxmoxClient): ClusterFacts {
  const { log, pool, storage, files, bridge, vmids } = options;

  async function overview(): Promise<Overview> {
    const [told] = await Promise.all([client.read('/cluster/resources'), mustSeeMachines()]);
    const all = asList(told, 'resources');
    // A token that lost its rights is shown nothing, which must not look like a cluster without machines.
    if (!all.some((each) => each.type === 'pool' && each.pool === pool))
      throw new HypervisorError(
        'host_not_ready',
        `the cluster has no pool ${pool}, or does not show it to us`,
      );
    const guests = all.filter(({ type }) => type === 'qemu' || type === 'lxc');
    const isOurs = (each: Record<string, unknown>) =>
      each.type === 'qemu' && each.pool === pool && idInTags(each.tags) !== null;
    return {
      nodes: all.filter(({ type }) => type === 'node').map(nodeFrom),
      ours: guests.filter(isOurs).map(placeFrom),
      others: guests
        .filter((each) => !isOurs(each))
        .map((each) => ({ ...placeFrom(each), id: idInTags(each.tags) })),
      storages: all.filter(({ type }) => type === 'storage').map(storageFrom),
    };
  }

  /** Machines that are not shown to us any more must not look like machines that are gone. */
  async function mustSeeMachines(): Promise<void> {
    const path = `/pool/${pool}`;
    if ((await grantedAt(client, path)).has('VM.Audit')) return;
    throw new HypervisorError(
      'host_not_ready',
      `the token lacks VM.Audit on ${path}, so the cluster does not show its machines to us`,
    );
  }

  async function isFiltering(): Promise<boolean> {
    const { enable } = asRecord(await client.read('/cluster/firewall/options'), 'options of the firewall');
    return asNumber(enable ?? 0, 'whether the firewall is on') === 1;
  }

  async function hasBridge(node: string): Promise<boolean> {
    const asked = client.read(`/nodes/${node}/network`, { type: 'any_bridge' });
    const found = await asked.catch((error: unknown) => {
      // One node that went away just now does not keep the others from being used.
      if (error instanceof ProxmoxRefusal && error.isOfSilentNode) return null;
      throw error;
    });
    return found === null || asList(found, 'networks').some(({ iface }) => iface === bridge);
  }

  function lacksContents({ storages }: Overview, node: string): string[] {
    const wanted = [
      { name: storage, contents: ['images'] },
      { name: files, contents: ['iso', 'import'] },
    ];
    return wanted.flatMap(({ name, contents }) => {
      const there = storages.find((each) => each.storage === name && each.node === node);
      if (!there) return [`The node ${node} has no storage ${name}, or does not show it to us`];
      const missing = contents.filter((each) => !there.content.split(',').includes(each));
      if (missing.length === 0) return [];
      return [`The storage ${name} on the node ${node} is not meant for ${missing.join(' and ')}`];
    });
  }

  /** What one node lacks to run machines. */
  async function lacksAt(seen: Overview, node: string): Promise<string[]> {
    const hasOne = await hasBridge(node);
    const noBridge = `The node ${node} has no bridge ${bridge}, or does not show it to us`;
    return [...lacksContents(seen, node), ...(hasOne ? [] : [noBridge])];
  }

  async function lacksEverywhere(): Promise<string[]> {
    if (await isFiltering()) return [];
    return ['The firewall of the cluster is off, so guests would not be held to their addresses'];
  }

  async function lacks(seen: Overview, node: string | null): Promise<string[]> {
    if (node !== null && !seen.nodes.some(({ name }) => name === node))
      return [`The cluster has no node ${node}`];
    const asked = seen.nodes.filter(({ name, answers }) => answers && (node ?? name) === name);
    const each = await Promise.all(asked.map(({ name }) => lacksAt(seen, name)));
    return [...each.flat(), ...(await lacksEverywhere())];
  }

  /** Disks that are made in the storage, by node; one that nodes share counts as so many equal parts. */
  function diskAt({ storages }: Overview, node: string): { bytes: number; usedBytes: number } {
    const there = storages.filter((each) => each.storage === storage);
    const found = there.find((each) => each.node === node);
    if (found === undefined) return { bytes: 0, usedBytes: 0 };
    const parts = found.isShared ? there.filter(({ isShared }) => isShared).length : 1;
    return { bytes: found.bytes / parts, usedBytes: found.usedBytes / parts };
  }

  async function versionThere(): Promise<string> {
    return asText(asRecord(await client.read('/version'), 'the version').version, 'the version');
  }

  async function lookAt(node: string | null): Promise<ClusterFindings> {
    const version = await versionThere();
    const tested = comparedToTested(version);
    const nothing = { version, tested, members: [] };
    if (tested === 'older')
      return { ...nothing, problems: [`Proxmox VE ${short(version)} is too old: it takes ${testedMajor}`] };
    const rights = await missingRights(client, options);
    // What is not shown to us would only be missed once more.
    if (rights.length > 0) return { ...nothing, problems: rights.map((each) => `The token lacks ${each}`) };
    const seen = await overview();
    return {
      version,
      tested,
      members: seen.nodes.map(({ name }) => name),
      problems: await lacks(seen, node),
    };
  }

  return {
    overview,

    async check(node) {
      const { version, tested, problems } = await lookAt(node);
      if (tested === 'newer')
        log.warn(
          { version },
          `This version of Proxmox VE is newer than ${testedMajor}, for which this is made`,
        );
      if (problems.length > 0) throw new HypervisorError('host_not_ready', problems.join('; '));
    },

    look: () => lookAt(null),

    async members() {
      const seen = await overview();
      const everywhere = await lacksEverywhere();
      return Promise.all(
        seen.nodes.map(async (node): Promise<MemberReport> => {
          const known = { name: node.name, address: null };
          if (!node.answers) return { ...known, answers: false, troubles: [], capacity: null };
          const there = await lacksAt(seen, node.name);
          const troubles = [...there, ...everywhere];
          if (there.length > 0) return { ...known, answers: true, troubles, capacity: null };
          const disk = diskAt(seen, node.name);
          const free = {
            // The cache of ZFS counts as used, and gives way to machines.
            memoryMib: seen.storages.some(({ isZfs }) => isZfs)
              ? null
              : wholes(node.memoryBytes - node.memoryUsedBytes, 2 ** 20),
            diskGib: wholes(disk.bytes - disk.usedBytes, gib),
          };
          return { ...known, answers: true, troubles, capacity: capacityOf([node], disk.bytes), free };
        }),
      );
    },

    async capacity(node) {
      const seen = await overview();
      const counted = seen.nodes.filter(({ name }) => (node ?? name) === name);
      const bytes = counted.reduce((all, { name }) => all + diskAt(seen, name).bytes, 0);
      return capacityOf(counted, bytes);
    },

    async troubles(node) {
      const seen = await overview();
      const silent = seen.nodes
        .filter(({ name, answers }) => !answers && (node ?? name) === name)
        .map(({ name }) => `The node ${name} does not answer`);
      const foreign = seen.others
        .filter(({ vmid }) => vmid >= vmids.first && vmid <= vmids.last)
        .map(
          ({ vmid, node: at }) =>
            `The number ${vmid}, which is ours to give, has a machine of somebody else on ${at}`,
        );
      return [...silent, ...(await lacks(seen, node)), ...foreign];
    },

    async mustFilter() {
      if (await isFiltering()) return;
      throw new HypervisorError(
        'network_failed',
        'the firewall of the cluster is off, so the machine would not be held to its addresses',
      );
    },
  };
}

function comparedToTested(version: string): ClusterFindings['tested'] {
  const major = Number(version.split('.')[0]);
  if (!(major >= testedMajor)) return 'older';
  return major > testedMajor ? 'newer' : 'tested';
}

function capacityOf(nodes: readonly ClusterNode[], diskBytes: number): NodeCapacity {
  const sum = (of: (node: ClusterNode) => number) => nodes.reduce((all, node) => all + of(node), 0);
  return {
    cpuCores: sum((node) => node.cpuCores),
    memoryMib: Math.floor(sum((node) => node.memoryBytes) / 2 ** 20),
    diskGib: Math.floor(diskBytes / gib),
    acceleration: 'hardware',
  };
}

/** Figures of one moment may not go together, and nothing is less than nothing. */
function wholes(bytes: number, unit: number): number {
  return Math.max(0, Math.floor(bytes / unit));
}

/** Names of nodes go into paths of what is asked next, and into the fleet. */
function asNode(value: unknown): string {
  const name = asText(value, 'the name of a node');
  if (isNodeName(name)) return name;
  throw notProxmox('the name of a node has another form');
}

function nodeFrom(each: Record<string, unknown>): ClusterNode {
  return {
    name: asNode(each.node),
    answers: each.status === 'online',
    cpuCores: asNumber(each.maxcpu ?? 0, 'the cores of a node'),
    memoryBytes: asNumber(each.maxmem ?? 0, 'the memory of a node'),
    memoryUsedBytes: asNumber(each.mem ?? 0, 'the memory of a node'),
  };
}

function placeFrom(each: Record<string, unknown>): Place {
  return {
    id: idInTags(each.tags) ?? '',
    vmid: asNumber(each.vmid, 'the number of a machine'),
    node: asNode(each.node),
    cpu: asNumber(each.cpu ?? 0, 'what a machine uses'),
    cpuCores: asNumber(each.maxcpu ?? 0, 'the cores of a machine'),
  };
}

function storageFrom(each: Record<string, unknown>) {
  return {
    storage: asText(each.storage, 'the name of a storage'),
    node: asNode(each.node),
    isShared: asNumber(each.shared ?? 0, 'whether a storage is shared') === 1,
    bytes: asNumber(each.maxdisk ?? 0, 'the size of a storage'),
    usedBytes: asNumber(each.disk ?? 0, 'what a storage holds'),
    content: asText(each.content ?? '', 'the contents of a storage'),
    isZfs: each.plugintype === 'zfspool',
  };
}
