import type { ClusterFindings, MemberReport } from '../cluster.ts';
import { HypervisorError, type NodeCapacity } from '../contract.ts';
import { asList, asRecord, asText, asTexts, type IncusClient, onMember } from './client.ts';
import { unlessAbsent, unreachable } from './failure.ts';
import { lookAt } from './look.ts';
import type { IncusOptions } from './options.ts';

export interface ClusterFacts {
  /** Fails, in words, where something lacks that machines need: rights, project, pool, bridge. */
  check(): Promise<void>;
  look(): Promise<ClusterFindings>;
  members(): Promise<MemberReport[]>;
  /** Of one member; null: of all together that answer, the others being told of by `troubles`. Fails where none does. */
  capacity(member: string | null): Promise<NodeCapacity>;
  troubles(member: string | null): Promise<string[]>;
  /** Where members are, as they tell one another. */
  addresses(): Promise<string[]>;
}

/** A member as the cluster lists it. */
export interface Listed {
  /** Null stands for a server that is no cluster. */
  name: string | null;
  url: string | null;
  status: string;
  message: string;
}

/** What is to be known of the storage of a cluster besides its size. */
interface Storage {
  /** Into how many the pool is divided: of one that all share, such as Ceph, each member tells that it has the whole. */
  parts: number;
  /** Whether members know ZFS, whose cache counts as used memory and gives way to machines. */
  hasZfs: boolean;
}

const gib = 2 ** 30;

/** What the cluster says of itself. */
export function clusterFacts(options: IncusOptions, client: IncusClient): ClusterFacts {
  const { log, pool, bridge } = options;

  async function listed(): Promise<Listed[]> {
    const { environment } = asRecord(await client.read('/1.0'), 'the server');
    const { server_clustered: isClustered } = asRecord(environment ?? {}, 'the environment of the server');
    if (isClustered !== true) return [{ name: null, url: null, status: 'Online', message: '' }];
    const all = asList(await client.read('/1.0/cluster/members', { recursion: '1' }), 'members');
    return all.map((each) => {
      const { url = null, status = '', message = '' } = asTexts(onlyTexts(each), 'a member');
      return { name: asText(each.server_name, 'the name of a member'), url, status, message };
    });
  }

  /** The name by which a server without a cluster is a member of its own. */
  async function serverName(): Promise<string> {
    const { environment } = asRecord(await client.read('/1.0'), 'the server');
    return asText(asRecord(environment ?? {}, 'the environment').server_name, 'the name of the server');
  }

  async function sizeOf(
    member: string | null,
    { parts, hasZfs }: Storage,
  ): Promise<NodeCapacity & { free: NonNullable<MemberReport['free']> }> {
    const query = onMember(member);
    const path = `/1.0/storage-pools/${encodeURIComponent(pool)}/resources`;
    const [host, storage] = await Promise.all([
      client.read('/1.0/resources', query),
      client.read(path, query),
    ]);
    const { cpu, memory } = asRecord(host, 'resources');
    const { space } = asRecord(storage, 'resources of the pool');
    return {
      cpuCores: total(cpu),
      memoryMib: Math.floor(total(memory) / 2 ** 20),
      diskGib: Math.floor(total(space) / parts / gib),
      free: {
        memoryMib: hasZfs ? null : Math.floor(unused(memory) / 2 ** 20),
        diskGib: Math.floor(unused(space) / parts / gib),
      },
      // The engine runs virtual machines with KVM or not at all.
      acceleration: 'hardware',
    };
  }

  async function storageAmong(members: readonly Listed[]): Promise<Storage> {
    const [found, server] = await Promise.all([
      client.find(`/1.0/storage-pools/${encodeURIComponent(pool)}`),
      client.read('/1.0'),
    ]);
    const { driver } = asRecord(found ?? {}, 'the pool');
    const { environment } = asRecord(server, 'the server');
    const { storage_supported_drivers: kinds } = asRecord(environment ?? {}, 'the environment of the server');
    const isShared = asList(kinds ?? [], 'kinds of storage').some(
      ({ name, remote }) => name === driver && remote === true,
    );
    const hasZfs = asList(kinds ?? [], 'kinds of storage').some(({ name }) => name === 'zfs');
    return { parts: isShared ? Math.max(1, members.length) : 1, hasZfs };
  }

  /** Members that cannot be asked for what their machines use: neither their own address leads to them from here nor an endpoint. */
  async function unheard(members: readonly Listed[]): Promise<string[]> {
    const asked = members.filter(({ name, status }) => name !== null && status === 'Online');
    if (asked.length === 0) return [];
    const answers = await client.fromEach(
      '/1.0',
      asked.flatMap(({ url }) => url ?? []),
    );
    const heard = answers.map(serverIn);
    return asked
      .filter(({ name }) => !heard.includes(name))
      .map(
        ({ name, url }) =>
          `${name} itself is not reached from here${url === null ? '' : ` (${url})`}: its machines have no charts, and what they send is not counted. Let us in there, or name an endpoint that leads to it`,
      );
  }

  /** What a member that answers lacks and others have. */
  async function lacksAt(member: string | null): Promise<string[]> {
    const query = onMember(member);
    const on = member === null ? '' : ` on ${member}`;
    const isThere = async (path: string) => (await unlessAbsent(client.read(path, query))) !== null;
    const [hasPool, hasBridge] = await Promise.all([
      isThere(`/1.0/storage-pools/${encodeURIComponent(pool)}`),
      isThere(`/1.0/networks/${encodeURIComponent(bridge)}`),
    ]);
    return [
      ...(hasPool ? [] : [`There is no storage pool ${pool}${on}`]),
      ...(hasBridge ? [] : [`There is no bridge ${bridge}${on}`]),
    ];
  }

  async function reportOf(each: Listed, storage: Storage): Promise<MemberReport> {
    const name = each.name ?? (await serverName());
    const known = { name, address: each.url };
    if (each.status === 'Offline') return { ...known, answers: false, troubles: [], capacity: null };
    const troubles = each.status === 'Online' ? [] : [whatIs(each)];
    try {
      const lacks = await lacksAt(each.name);
      const whole = { ...known, answers: true, troubles: [...troubles, ...lacks] };
      if (lacks.length > 0) return { ...whole, capacity: null };
      const { free, ...capacity } = await sizeOf(each.name, storage);
      return { ...whole, capacity, free };
    } catch (error) {
      // The others hold it to be there, for some seconds more.
      if (!(error instanceof HypervisorError)) throw error;
      return { ...known, answers: false, troubles: [], capacity: null };
    }
  }

  return {
    async check() {
      const { problems, version, tested } = await lookAt(options, client, 'what is needed');
      if (tested !== 'tested') log.warn({ version }, 'This version of Incus is not one that was tested');
      if (problems.length > 0) throw new HypervisorError('host_not_ready', problems.join('. '));
    },

    async look() {
      const findings = await lookAt(options, client, 'everything');
      if (findings.problems.length > 0) return findings;
      const members = await listed();
      const lacks = await Promise.all(
        members.filter(({ status }) => status !== 'Offline').map(({ name }) => lacksAt(name)),
      );
      const names = await Promise.all(members.map(async ({ name }) => name ?? (await serverName())));
      return { ...findings, members: names, problems: lacks.flat(), notes: await unheard(members) };
    },

    async members() {
      const all = await listed();
      const storage = await storageAmong(all);
      return Promise.all(all.map((each) => reportOf(each, storage)));
    },

    async capacity(member) {
      const all = await listed();
      const storage = await storageAmong(all);
      const members = member === null ? all : [{ name: member }];
      const asked = await Promise.allSettled(members.map(({ name }) => sizeOf(name, storage)));
      const each = asked.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
      const [silent] = asked.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
      if (each.length === 0) throw silent ?? unreachable('the cluster has no members');
      const sum = (of: (one: NodeCapacity) => number) => each.reduce((all, one) => all + of(one), 0);
      return {
        cpuCores: sum(({ cpuCores }) => cpuCores),
        memoryMib: sum(({ memoryMib }) => memoryMib),
        diskGib: sum(({ diskGib }) => diskGib),
        acceleration: 'hardware',
      };
    },

    async troubles(member) {
      const members = (await listed()).filter(({ name }) => name !== null);
      return members
        .filter(({ name, status }) => (member === null || name === member) && status !== 'Online')
        .map(whatIs);
    },

    addresses: async () => (await listed()).flatMap(({ url }) => url ?? []),
  };
}

function whatIs({ name, status, message }: Listed): string {
  return `The member ${name} is ${status.toLowerCase()}: ${message.replace(/\.$/, '')}`;
}

/** The name of the server that answered so; null where it is no such answer. */
function serverIn(answer: Buffer): string | null {
  try {
    const { metadata } = asRecord(JSON.parse(answer.toString('utf8')), 'an answer');
    const { environment } = asRecord(metadata, 'the server');
    return asText(asRecord(environment, 'the environment').server_name, 'the name of the server');
  } catch {
    return null;
  }
}

function onlyTexts(record: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => typeof value === 'string'));
}

/** What is in use is told of both; where it is not, nothing is. Figures of one moment may not go together. */
function unused(resource: unknown): number {
  const { used } = asRecord(resource, 'a resource');
  return Math.max(0, total(resource) - (typeof used === 'number' ? used : 0));
}

function total(resource: unknown): number {
  const { total: found } = asRecord(resource, 'a resource');
  if (typeof found === 'number') return found;
  throw new HypervisorError('host_not_ready', 'the cluster does not say how large it is');
}
