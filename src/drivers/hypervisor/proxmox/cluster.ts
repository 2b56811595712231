import { HypervisorError, type MachineId, type NodeCapacity } from '../contract.ts';
import { asList, asNumber, asRecord, asText, short } from './answers.ts';
import type { ProxmoxClient } from './client.ts';
import { ProxmoxRefusal } from './failure.ts';
import { idInTags } from './machine.ts';
import type { ProxmoxOptions } from './options.ts';
import { missingRights } from './rights.ts';

/** What stands at one moment in all of the cluster, as far as its nodes know of one another. */
export interface Overview {
  nodes: ClusterNode[];
  /** What is in our pool and says which machine of ours it is; a copy that somebody made says so, too. */
  ours: Place[];
  /** Other machines and containers that we are shown. */
  others: { vmid: number; node: string; id: MachineId | null }[];
  /** Nodes that have a storage, and how large it is there. */
  storages: { storage: string; node: string; isShared: boolean; bytes: number; content: string }[];
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
  /** Fails, in words, where something lacks that machines need: rights, pool, storages, bridge, firewall. */
  check(): Promise<void>;
  capacity(): Promise<NodeCapacity>;
  troubles(): Promise<string[]>;
  /** `network_failed` where packet rules of machines would not be kept. */
  mustFilter(): Promise<void>;
}

const testedMajor = 9;
const gib = 2 ** 30;

/** What the cluster says of itself. */
export function clusterFacts(options: ProxmoxOptions, client: ProxmoxClient): ClusterFacts {
  const { log, pool, storage, files, bridge, vmids } = options;

  async function overview(): Promise<Overview> {
    const all = asList(await client.read('/cluster/resources'), 'resources');
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

  function lacksContents({ storages, nodes }: Overview): string[] {
    const wanted = [
      { name: storage, contents: ['images'] },
      { name: files, contents: ['iso', 'import'] },
    ];
    const usable = nodes.filter((each) => each.answers && (options.node ?? each.name) === each.name);
    return usable.flatMap((node) =>
      wanted.flatMap(({ name, contents }) => {
        const there = storages.find((each) => each.storage === name && each.node === node.name);
        if (!there) return [`The node ${node.name} has no storage ${name}, or does not show it to us`];
        const missing = contents.filter((each) => !there.content.split(',').includes(each));
        if (missing.length === 0) return [];
        return [`The storage ${name} on the node ${node.name} is not meant for ${missing.join(' and ')}`];
      }),
    );
  }

  async function lacks(seen: Overview): Promise<string[]> {
    if (options.node !== null && !seen.nodes.some(({ name }) => name === options.node))
      return [`The cluster has no node ${options.node}`];
    const answering = seen.nodes.filter((each) => each.answers && (options.node ?? each.name) === each.name);
    const bridges = await Promise.all(
      answering.map(async ({ name }) =>
        (await hasBridge(name))
          ? []
          : [`The node ${name} has no bridge ${bridge}, or does not show it to us`],
      ),
    );
    const firewall = (await isFiltering())
      ? []
      : ['The firewall of the cluster is off, so guests would not be held to their addresses'];
    return [...lacksContents(seen), ...bridges.flat(), ...firewall];
  }

  return {
    overview,

    async check() {
      const version = asText(asRecord(await client.read('/version'), 'the version').version, 'the version');
      const major = Number(version.split('.')[0]);
      if (!(major >= testedMajor))
        throw new HypervisorError(
          'host_not_ready',
          `Proxmox VE ${short(version)} is too old: it takes ${testedMajor}`,
        );
      if (major > testedMajor)
        log.warn(
          { version },
          `This version of Proxmox VE is newer than ${testedMajor}, for which this is made`,
        );
      const rights = await missingRights(client, options);
      if (rights.length > 0)
        throw new HypervisorError('host_not_ready', `the token lacks rights: ${rights.join('; ')}`);
      const [first] = await lacks(await overview());
      if (first !== undefined) throw new HypervisorError('host_not_ready', first);
    },

    async capacity() {
      const { nodes, storages } = await overview();
      const counted = nodes.filter(({ name }) => (options.node ?? name) === name);
      const sum = (of: (node: ClusterNode) => number) => counted.reduce((all, node) => all + of(node), 0);
      const disks = storages.filter(
        (each) => each.storage === storage && counted.some(({ name }) => name === each.node),
      );
      // One that all nodes share is there once.
      const bytes = disks.some(({ isShared }) => isShared)
        ? Math.max(0, ...disks.map((each) => each.bytes))
        : disks.reduce((all, each) => all + each.bytes, 0);
      return {
        cpuCores: sum((node) => node.cpuCores),
        memoryMib: Math.floor(sum((node) => node.memoryBytes) / 2 ** 20),
        diskGib: Math.floor(bytes / gib),
        acceleration: 'hardware',
      };
    },

    async troubles() {
      const seen = await overview();
      const silent = seen.nodes
        .filter(({ name, answers }) => !answers && (options.node ?? name) === name)
        .map(({ name }) => `The node ${name} does not answer`);
      const foreign = seen.others
        .filter(({ vmid }) => vmid >= vmids.first && vmid <= vmids.last)
        .map(
          ({ vmid, node }) =>
            `The number ${vmid}, which is ours to give, has a machine of somebody else on ${node}`,
        );
      return [...silent, ...(await lacks(seen)), ...foreign];
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

function nodeFrom(each: Record<string, unknown>): ClusterNode {
  return {
    name: asText(each.node, 'the name of a node'),
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
    node: asText(each.node, 'the node of a machine'),
    cpu: asNumber(each.cpu ?? 0, 'what a machine uses'),
    cpuCores: asNumber(each.maxcpu ?? 0, 'the cores of a machine'),
  };
}

function storageFrom(each: Record<string, unknown>) {
  return {
    storage: asText(each.storage, 'the name of a storage'),
    node: asText(each.node, 'the node of a storage'),
    isShared: asNumber(each.shared ?? 0, 'whether a storage is shared') === 1,
    bytes: asNumber(each.maxdisk ?? 0, 'the size of a storage'),
    content: asText(each.content ?? '', 'the contents of a storage'),
  };
}
