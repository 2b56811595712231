import { HypervisorError, type MachineEvent, type MachineId, type MachineReport } from '../contract.ts';
import { asList, asNumber, asRecord } from './answers.ts';
import type { Parameters, ProxmoxClient } from './client.ts';
import type { ClusterFacts, Overview, Place } from './cluster.ts';
import { ProxmoxRefusal } from './failure.ts';
import { absent, isAbsence, machinePath, type ReadListed, readerOfListed } from './listed.ts';
import { type Config, idInTags, type Run, runInTags, tagsOf } from './machine.ts';
import type { ProxmoxOptions } from './options.ts';

/** A machine of ours, where it is, and all its settings. */
export interface Machine extends Place {
  config: Config;
}

/** A machine as its node sees it now. */
export interface Live {
  id: MachineId;
  vmid: number;
  power: MachineEvent['power'];
  /** Null when it is not running. */
  run: Run | null;
  /** Whether its start is noted at it. */
  isNoted: boolean;
  /** What else its node tells of it. */
  told: Record<string, unknown>;
}

/** Null where its node cannot tell how it is. */
export interface Seen {
  place: Place;
  live: Live | null;
}

export interface Machines {
  /** Null when it is not there; `disk_failed` when what says that it is it may not be. */
  find(id: MachineId): Promise<Machine | null>;
  /** The same of what was seen already. */
  findIn(overview: Overview, id: MachineId): Promise<Machine | null>;
  /** `machine_absent` when it is not there. */
  must(id: MachineId): Promise<Machine>;
  /** `machine_absent` when it went away since it was seen; so `isRunning`. */
  live(place: Place): Promise<Live>;
  isRunning(place: Place): Promise<boolean>;
  /** What else stands below the path of a machine that was seen. */
  read: ReadListed;
  /** Changes settings at once; a running machine takes what it can, and the rest at its next start. */
  write(machine: Place, settings: Parameters): Promise<void>;
  /** Notes since when a machine runs. */
  noteRun(place: Place, run: Run | null): Promise<void>;
  /** Machines of ours with the node that has them; `full` asks each of its counters, too. */
  all(full?: boolean): Promise<{ hasOthers: boolean; found: Seen[] }>;
  report(id: MachineId): Promise<MachineReport & { config?: Config }>;
  /** `with its node`: also where the cluster has but one. */
  list(how?: 'with its node'): Promise<MachineReport[]>;
}

export function clusterMachines(
  options: ProxmoxOptions,
  client: ProxmoxClient,
  cluster: ClusterFacts,
): Machines {
  /** Starts that are not noted, as we saw them first. */
  const seen = new Map<string, Date>();

  const read = readerOfListed(client, cluster);

  async function configOf(place: Place): Promise<Config> {
    const answer = asRecord(await read(place, 'config'), 'settings of a machine');
    return Object.fromEntries(Object.entries(answer).map(([name, value]) => [name, String(value)]));
  }

  const withConfig = async (place: Place): Promise<Machine> => ({ ...place, config: await configOf(place) });

  async function findIn(overview: Overview, id: MachineId): Promise<Machine | null> {
    const foreign = overview.others.find((each) => each.id === id);
    if (foreign) throw notOurs(id, foreign.vmid, foreign.node, `is not in the pool ${options.pool}`);
    let silence: unknown = null;
    const named = await Promise.all(
      overview.ours
        .filter((place) => place.id === id)
        .map((place) =>
          withConfig(place).catch((error: unknown) => {
            if (!(error instanceof ProxmoxRefusal) || !error.isOfSilentNode) return noneWhenAbsent(error);
            silence = error;
            return null;
          }),
        ),
    );
    const each = named.filter((machine) => machine !== null);
    // A copy that somebody made has our marks and another name.
    const [found, another] = each.filter(({ config }) => config.name === id);
    const [copy] = each;
    // One that nobody can tell of may be the machine; beside the machine it is a copy of it.
    if (!found && silence !== null) throw silence;
    if (another) throw notOurs(id, another.vmid, another.node, 'is there besides');
    if (!found && copy) throw notOurs(id, copy.vmid, copy.node, `is named ${copy.config.name}`);
    if (found && (found.vmid < options.vmids.first || found.vmid > options.vmids.last))
      throw notOurs(id, found.vmid, found.node, 'has a number that is not ours to give');
    return found ?? null;
  }

  function liveFrom(told: Record<string, unknown>, { id, vmid, node }: Place): Live {
    const isRunning = told.status === 'running';
    const noted = runInTags(told.tags);
    const pid = asNumber(told.pid ?? 0, 'the process of a machine');
    const isNoted = noted?.pid === pid && pid > 0;
    if (!isRunning) return { id, vmid, told, power: 'stopped', run: null, isNoted: noted === null };
    const run =
      isNoted && noted ? noted : { pid, startedAt: firstSeen(`${node} ${vmid} ${pid}`, told.uptime) };
    return { id, vmid, told, power: 'running', run, isNoted };
  }

  function firstSeen(key: string, uptime: unknown): Date {
    const seconds = Math.round(Date.now() / 1_000) - asNumber(uptime ?? 0, 'how long a machine runs');
    const startedAt = seen.get(key) ?? new Date(seconds * 1_000);
    seen.set(key, startedAt);
    if (seen.size > 100_000) seen.clear(); // of machines that ended long ago, for the most part
    return startedAt;
  }

  async function live(place: Place): Promise<Live> {
    return liveFrom(asRecord(await read(place, 'status/current'), 'the state of a machine'), place);
  }

  const find = async (id: MachineId) => findIn(await cluster.overview(), id);

  async function listAt(node: string, full: boolean): Promise<Record<string, unknown>[]> {
    const answer = asList(await client.read(`/nodes/${node}/qemu`, full ? { full } : {}), 'machines');
    return answer.filter(({ vmid }) => Number.isSafeInteger(Number(vmid)));
  }

  async function all(full = false): Promise<{ hasOthers: boolean; found: Seen[] }> {
    const { nodes, ours } = await cluster.overview();
    const having = nodes.filter(({ name, answers }) => answers && ours.some(({ node }) => node === name));
    const told = new Map<number, Record<string, unknown>>();
    await Promise.all(
      having.map(async ({ name }) => {
        // A node that answers the others and not us leaves its machines unknown, and keeps nobody else's from being told of.
        const answer = await listAt(name, full).catch(() => []);
        for (const each of answer) told.set(Number(each.vmid), each);
      }),
    );
    const found = ours.flatMap((place): Seen[] => {
      const here = told.get(place.vmid);
      if (here === undefined) return [{ place, live: null }];
      // The same machine, and no copy of it.
      const isSame = here.name === place.id && idInTags(here.tags) === place.id;
      return isSame ? [{ place, live: liveFrom(here, place) }] : [];
    });
    // What else says that it is one that answers is a copy of it, whose node is silent.
    const answering = new Set(found.flatMap(({ place, live: state }) => (state ? [place.id] : [])));
    const counted = found.filter(({ place, live: state }) => state || !answering.has(place.id));
    return { hasOthers: nodes.length > 1, found: counted };
  }

  function reportOf({ id, node }: Place, state: Live | null, hasOthers: boolean): MachineReport {
    const at = hasOthers ? { node } : {};
    if (state === null) return { id, power: 'unknown', startedAt: null, ...at };
    return { id, power: state.power, startedAt: state.run?.startedAt ?? null, ...at };
  }

  return {
    find,
    findIn,
    live,
    read,
    all,
    async must(id) {
      const found = await find(id);
      if (found) return found;
      throw absent(id);
    },
    isRunning: async (place) => (await live(place)).power === 'running',
    async write(machine, settings) {
      if (Object.keys(settings).length === 0) return;
      await client.change('PUT', `${machinePath(machine)}/config`, settings);
    },
    async noteRun(place, run) {
      await client.change('PUT', `${machinePath(place)}/config`, { tags: tagsOf(place.id, run) });
    },
    async report(id) {
      const overview = await cluster.overview();
      const hasOthers = overview.nodes.length > 1;
      const places = overview.ours.filter((place) => place.id === id);
      const silent = places.find(
        (place) => !overview.nodes.some(({ name, answers }) => name === place.node && answers),
      );
      if (silent && places.length === 1) return reportOf(silent, null, hasOthers);
      try {
        const found = await findIn(overview, id);
        if (found === null) return { id, power: 'absent', startedAt: null };
        return { ...reportOf(found, await live(found), hasOthers), config: found.config };
      } catch (error) {
        if (isAbsence(error)) return { id, power: 'absent', startedAt: null };
        const place = silent ?? places[0];
        if (!(error instanceof ProxmoxRefusal) || !error.isOfSilentNode || !place) throw error;
        return reportOf(place, null, hasOthers);
      }
    },
    async list(how) {
      const { hasOthers, found } = await all();
      const isNamed = hasOthers || how !== undefined;
      const reports = found.map(({ place, live: state }) => reportOf(place, state, isNamed));
      return reports.sort((one, other) => (one.id < other.id ? -1 : 1));
    },
  };
}

function noneWhenAbsent(error: unknown): null {
  if (isAbsence(error)) return null;
  throw error;
}

function notOurs(id: MachineId, vmid: number, node: string, why: string): HypervisorError {
  const message = `number ${vmid} on ${node} says that it is ${id}, and ${why}: nothing is done to it`;
  return new HypervisorError('disk_failed', message, { permanent: true });
}
