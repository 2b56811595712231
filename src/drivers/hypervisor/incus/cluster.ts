import { HypervisorError, type NodeCapacity } from '../contract.ts';
import { asList, asRecord, asText, asTexts, type IncusClient, onMember } from './client.ts';
import { unreachable } from './failure.ts';
import type { IncusOptions } from './options.ts';

export interface ClusterFacts {
  /** Fails, in words, where something lacks that machines need: rights, project, pool, bridge. */
  check(): Promise<void>;
  /** Of the members that answer; the others are told of by `troubles`. Fails where none does. */
  capacity(): Promise<NodeCapacity>;
  troubles(): Promise<string[]>;
}

/** The line of versions that the driver was tested with. */
const testedLine = '6.0';
const gib = 2 ** 30;
/** Abilities of the engine beyond its first version that we cannot do without, by its own names. */
const needed = ['custom_volume_iso', 'disk_io_bus_virtio_blk', 'instance_state_started_at'];

/** What the cluster says of itself. */
export function clusterFacts(options: IncusOptions, client: IncusClient): ClusterFacts {
  const { log, project, pool, bridge } = options;

  async function server() {
    const answer = asRecord(await client.read('/1.0'), 'the server');
    const environment = asRecord(answer.environment ?? {}, 'the environment of the server');
    const extensions = Array.isArray(answer.api_extensions) ? answer.api_extensions : [];
    return { auth: answer.auth, environment, extensions };
  }

  /** Names of the members; one that is null stands for a server that is no cluster. */
  async function members(): Promise<(string | null)[]> {
    if (options.member !== null) return [options.member];
    const { environment } = await server();
    if (environment.server_clustered !== true) return [null];
    const all = asList(await client.read('/1.0/cluster/members', { recursion: '1' }), 'members');
    return all.map((each) => asText(each.server_name, 'the name of a member'));
  }

  async function must(path: string, what: string): Promise<void> {
    if ((await client.find(path)) === null)
      throw new HypervisorError('host_not_ready', `the cluster has no ${what}, or does not show it to us`);
  }

  return {
    async check() {
      const { auth, environment, extensions } = await server();
      if (auth !== 'trusted')
        throw new HypervisorError('host_not_ready', 'the cluster does not know our certificate');
      if (environment.server !== 'incus')
        throw new HypervisorError('host_not_ready', `this is no Incus: ${environment.server}`);
      const version = asText(environment.server_version, 'the version');
      const lacking = needed.filter((each) => !extensions.includes(each));
      if (lacking.length > 0)
        throw new HypervisorError(
          'host_not_ready',
          `Incus ${version} is too old: it lacks ${lacking.join(', ')}`,
        );
      if (!version.startsWith(`${testedLine}.`))
        log.warn({ version }, `This version of Incus is not one that was tested (${testedLine})`);
      await must(`/1.0/projects/${encodeURIComponent(project)}`, `project ${project}`);
      await must(`/1.0/storage-pools/${encodeURIComponent(pool)}`, `storage pool ${pool}`);
      await must(`/1.0/networks/${encodeURIComponent(bridge)}`, `bridge ${bridge}`);
    },

    async capacity() {
      const path = `/1.0/storage-pools/${encodeURIComponent(pool)}/resources`;
      const asked = await Promise.allSettled(
        (await members()).map(async (member) => {
          const query = onMember(member);
          const [host, storage] = await Promise.all([
            client.read('/1.0/resources', query),
            client.read(path, query),
          ]);
          return { host: asRecord(host, 'resources'), storage: asRecord(storage, 'resources of the pool') };
        }),
      );
      const each = asked.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
      const [silent] = asked.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
      if (each.length === 0) throw silent ?? unreachable('the cluster has no members');
      const sum = (of: (one: (typeof each)[number]) => number) => each.reduce((all, one) => all + of(one), 0);
      return {
        cpuCores: sum(({ host }) => total(host.cpu)),
        memoryMib: Math.floor(sum(({ host }) => total(host.memory)) / 2 ** 20),
        diskGib: Math.floor(sum(({ storage }) => total(storage.space)) / gib),
        // The engine runs virtual machines with KVM or not at all.
        acceleration: 'hardware',
      };
    },

    async troubles() {
      const { environment } = await server();
      if (environment.server_clustered !== true) return [];
      const all = asList(await client.read('/1.0/cluster/members', { recursion: '1' }), 'members');
      return all.flatMap((each) => {
        const { server_name: name, status, message } = asTexts(onlyTexts(each), 'a member');
        if (options.member !== null && name !== options.member) return [];
        return status === 'Online' ? [] : [`The member ${name} is ${status?.toLowerCase()}: ${message}`];
      });
    },
  };
}

function onlyTexts(record: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => typeof value === 'string'));
}

function total(resource: unknown): number {
  const { total: found } = asRecord(resource, 'a resource');
  if (typeof found === 'number') return found;
  throw new HypervisorError('host_not_ready', 'the cluster does not say how large it is');
}
