import {
  type Cluster,
  type ClusterFindings,
  type HypervisorCapability,
  HypervisorError,
  type HypervisorErrorCode,
  type MemberReport,
  type OpenCluster,
  type SimulatedHypervisor,
  type SimulatorStore,
  simulatedHypervisor,
  simulatorStore,
} from '../src/drivers/hypervisor/index.ts';

/** A cluster whose members are simulated nodes, for tests of the rules; its endpoint is somebody's who presents the right certificate. */
export interface SimulatedCluster {
  open: OpenCluster;
  /** By its name; one that is not there any more has left. */
  members: Map<string, SimulatedMember>;
  /** Whether it can be reached. */
  isReachable: boolean;
  findings: ClusterFindings;
  /** Connections that were opened and are not closed. */
  opened: { key: string; project: string }[];
  /** Asked at every move; what it returns is thrown: before it, or once the machine is there. */
  moving: { before: FailureOf; after: FailureOf };
  /** The same at every machine that is made anew from a backup, or of a disk that comes from elsewhere. */
  recovering: { before: FailureOf; after: FailureOf };
  /** Disks that came from elsewhere: what each was sent as, by the machine that was made of it. */
  imported: Map<string, string>;
  /** What somebody's hand does in the engine. */
  moveByHand(id: string, member: string): void;
  /** Backups, each on one member. */
  kept: { of: string; name: string; member: string; createdAt: Date; diskGib: number }[];
  /** What its engine can. */
  capabilities: HypervisorCapability[];
  hypervisor(member: string): SimulatedHypervisor;
}

type Failure = HypervisorError | null;
type FailureOf = (id: string, member: string, live: boolean) => Failure | Promise<Failure>;

interface SimulatedMember {
  store: SimulatorStore;
  hypervisor: SimulatedHypervisor;
  answers: boolean;
  troubles: string[];
  address: string | null;
  cpuCores: number;
  /** Whether it has the storage pool, without which it does not say how large it is. */
  hasPool: boolean;
  /** What nobody uses, as its engine tells; absent: it does not tell. */
  free?: { memoryMib: number | null; diskGib: number };
}

const capabilities = ['snapshots', 'backups', 'serial'] as const;

export function simulatedCluster(names: readonly string[]): SimulatedCluster {
  const cluster: SimulatedCluster = {
    open,
    members: new Map(names.map((name) => [name, newMember(name)])),
    isReachable: true,
    findings: { version: '6.0.4', tested: 'tested', members: [...names], problems: [] },
    opened: [],
    moving: { before: () => null, after: () => null },
    recovering: { before: () => null, after: () => null },
    imported: new Map(),
    moveByHand: bring,
    kept: [],
    capabilities: [...capabilities],
    hypervisor: (member) => (cluster.members.get(member) as SimulatedMember).hypervisor,
  };
  return cluster;

  function bring(id: string, to: string): void {
    for (const [name, { store }] of cluster.members) {
      const machine = store.machines.get(id);
      if (machine === undefined || name === to) continue;
      store.machines.delete(id);
      cluster.members.get(to)?.store.machines.set(id, machine);
    }
  }

  async function move(id: string, to: string, { live }: { live: boolean }): Promise<void> {
    const at = [...cluster.members].find(([, { store }]) => store.machines.has(id));
    if (at === undefined) throw refused('machine_absent', `no machine ${id} in this cluster`);
    const [from, member] = at;
    if (from === to) return;
    const target = cluster.members.get(to);
    if (target === undefined) throw refused('spec_invalid', `there is no member ${to}`);
    if (!member.answers) throw new HypervisorError('host_not_ready', `${from} is silent`, { waits: true });
    if (!target.answers) throw refused('not_possible', `the member ${to} is offline`);
    const isRunning = member.store.machines.get(id)?.startedAtMs != null;
    if (isRunning && !live) throw refused('not_stopped', `${id} must be stopped for this`);
    const refusal = await cluster.moving.before(id, to, isRunning);
    if (refusal) throw refusal;
    bring(id, to);
    const failure = await cluster.moving.after(id, to, isRunning);
    if (failure) throw failure;
  }

  async function mustBeKept(of: string, name: string) {
    const backup = cluster.kept.find((each) => each.of === of && each.name === name);
    if (backup === undefined) throw refused('snapshot_absent', `${of} has no ${name}`);
    if (cluster.members.get(backup.member)?.answers) return backup;
    throw new HypervisorError('host_not_ready', `${backup.member} does not answer`, { waits: true });
  }

  /** Backups lie on another member than their machine, as far as there is one. */
  function backupsAt(at: string): Partial<SimulatedHypervisor> {
    const facts = ({ name, member, createdAt, diskGib }: SimulatedCluster['kept'][number]) => ({
      ...{ name, createdAt, sizeBytes: diskGib * 2 ** 30, node: member },
    });
    const machineOf = (id: string) => {
      const machine = cluster.members.get(at)?.store.machines.get(id);
      if (machine === undefined) throw refused('machine_absent', `no machine ${id} in this cluster`);
      return machine;
    };
    return {
      async createBackup(id, name) {
        const diskGib = machineOf(id).spec?.diskGib ?? 0;
        const known = cluster.kept.find((each) => each.of === id && each.name === name);
        if (known !== undefined) return facts(known);
        const others = [...cluster.members].filter(([other, { answers }]) => answers && other !== at);
        const made = { of: id, name, member: others[0]?.[0] ?? at, createdAt: new Date(), diskGib };
        cluster.kept.push(made);
        return facts(made);
      },
      async restoreBackup(spec, name) {
        if (machineOf(spec.id).startedAtMs !== null)
          throw refused('not_stopped', `${spec.id} must be stopped for this`);
        await mustBeKept(spec.id, name);
      },
      async deleteBackup(id, name) {
        cluster.kept = cluster.kept.filter((each) => each.of !== id || each.name !== name);
      },
      listBackups: async (id) => cluster.kept.filter((each) => each.of === id).map(facts),
      async destroy(id) {
        await cluster.members.get(at)?.hypervisor.destroy(id);
        cluster.kept = cluster.kept.filter((each) => each.of !== id);
      },
    };
  }

  function open(to: Parameters<OpenCluster>[0]): Cluster {
    const key = to.engine === 'incus' ? to.key : to.tokenSecret;
    const connection = { key, project: to.project };
    cluster.opened.push(connection);
    const reach = () => {
      if (!cluster.isReachable)
        throw new HypervisorError('host_not_ready', 'the cluster cannot be reached', { waits: true });
    };
    const hosts = () => [...cluster.members].filter(([, { answers }]) => answers);
    return {
      kind: 'incus',
      get capabilities() {
        return cluster.capabilities;
      },
      moves: ['live', 'cold'],
      look: async () => {
        reach();
        return cluster.findings;
      },
      nodes: async () => {
        reach();
        return [...cluster.members].map(([name, member]) => reportOf(name, member));
      },
      on: (name) => reached(name),
      ensureImage: async (image, progress) => {
        reach();
        for (const { hypervisor } of cluster.members.values()) await hypervisor.ensureImage(image, progress);
      },
      move: async (...given) => {
        reach();
        await move(...given);
      },
      list: async () => {
        reach();
        const lists = hosts().map(async ([name, { hypervisor }]) =>
          (await hypervisor.list()).map((report) => ({ ...report, node: name })),
        );
        return (await Promise.all(lists)).flat();
      },
      sample: async () => {
        reach();
        return (await Promise.all(hosts().map(([, { hypervisor }]) => hypervisor.sample()))).flat();
      },
      recover: async (spec, member, { of, name }) => {
        reach();
        const backup = await mustBeKept(of, name);
        const target = cluster.members.get(member);
        if (!target?.answers)
          throw new HypervisorError('host_not_ready', `${member} is silent`, { waits: true });
        if (target.store.machines.get(spec.id)?.hasDisk) return;
        if (spec.diskGib < backup.diskGib) throw refused('spec_invalid', 'a disk never shrinks');
        const refusal = await cluster.recovering.before(spec.id, member, false);
        if (refusal) throw refusal;
        await target.hypervisor.createDisk(spec);
        const failure = await cluster.recovering.after(spec.id, member, false);
        if (failure) throw failure;
      },
      importMachine: async (spec, member, disk) => {
        reach();
        const sent = Buffer.concat(await disk.read().toArray());
        if (sent.length !== disk.bytes) throw new Error(`${sent.length} bytes came of ${disk.bytes}`);
        const target = cluster.members.get(member);
        if (!target?.answers)
          throw new HypervisorError('host_not_ready', `${member} is silent`, { waits: true });
        if (target.store.machines.get(spec.id)?.hasDisk) return;
        const refusal = await cluster.recovering.before(spec.id, member, false);
        if (refusal) throw refusal;
        await target.hypervisor.createDisk(spec);
        cluster.imported.set(spec.id, sent.toString('latin1'));
        const failure = await cluster.recovering.after(spec.id, member, false);
        if (failure) throw failure;
      },
      handOver: async (from, to) => {
        reach();
        for (const each of cluster.kept) if (each.of === from) each.of = to;
      },
      listen: async () => reach(),
      watch: (listener) => {
        const stops = [...cluster.members.values()].map(({ hypervisor }) => hypervisor.watch(listener));
        return () => {
          for (const stop of stops) stop();
        };
      },
      close: async () => void cluster.opened.splice(cluster.opened.indexOf(connection), 1),
    };
  }

  /** The member that has a machine, whichever was asked; else that which was asked. */
  function memberFor(asked: string, given: unknown): string {
    const id = typeof given === 'string' ? given : (given as { id?: string } | undefined)?.id;
    const at = [...cluster.members].find(([, { store }]) => id !== undefined && store.machines.has(id));
    return at?.[0] ?? asked;
  }

  /** A member through the cluster: nothing of it is to be had while that, or the member, does not answer. */
  function reached(name: string): SimulatedHypervisor {
    return new Proxy({} as SimulatedHypervisor, {
      get: (_, method: keyof SimulatedHypervisor) => {
        const { hypervisor } = cluster.members.get(name) ?? newMember(name);
        const found = hypervisor[method];
        if (typeof found !== 'function') return found;
        return async (...given: unknown[]) => {
          const at = memberFor(name, given[0]);
          const member = cluster.members.get(at);
          if (!cluster.isReachable || member?.answers !== true)
            throw new HypervisorError('host_not_ready', `${at} cannot be reached`, { waits: true });
          const calls = { ...member.hypervisor, ...backupsAt(at) };
          const answer = await (calls[method] as (...args: unknown[]) => unknown)(...given);
          return method === 'inspect' ? { ...(answer as object), node: at } : answer;
        };
      },
    });
  }
}

function newMember(name: string): SimulatedMember {
  const store = simulatorStore();
  const hypervisor = simulatedHypervisor({ capabilities, store });
  const address = `https://${name}:8443`;
  return { store, hypervisor, answers: true, troubles: [], address, cpuCores: 8, hasPool: true };
}

function reportOf(
  name: string,
  { address, answers, cpuCores, hasPool, ...member }: SimulatedMember,
): MemberReport {
  const capacity = { cpuCores, memoryMib: 65_536, diskGib: 1_000, acceleration: 'none' } as const;
  const troubles = hasPool
    ? member.troubles
    : [...member.troubles, `There is no storage pool local on ${name}`];
  const free = member.free === undefined ? {} : { free: member.free };
  return { name, address, answers, troubles, capacity: answers && hasPool ? capacity : null, ...free };
}

function refused(code: HypervisorErrorCode, message: string): HypervisorError {
  return new HypervisorError(code, message, { permanent: true });
}
