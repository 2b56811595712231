import path from 'node:path';
import { certificates, speaking, standIn } from '../../src/drivers/hypervisor/incus/standIn.testbed.ts';
import { machineIdOf } from '../../src/vps/machine.ts';
import { clusterBody } from '../clusters.ts';
import { until } from '../product.ts';
import { type SimulatedCluster, simulatedCluster } from '../simulatedCluster.ts';
import { sql } from '../sql.ts';
import { serveCluster } from './remoteCluster.ts';
import { ask, type Order, running, type Scenario, scenario } from './scenarios.ts';
import { openWorld, type World } from './world.ts';

/** A product that may die at any moment above a cluster whose members are lost one after another, in the process of the test. */
export interface RecoveryWorld {
  world: World;
  /** The member that has the machine is lost, and staff has the machine made anew from its backup. */
  scenario: Scenario;
  /** The same, and its disk cannot be made elsewhere: all is taken back. */
  failing: Scenario;
  /** All members are heard of again, what they have left over is off, and somebody has removed it. */
  everybodyBack(): Promise<void>;
  stop(): Promise<void>;
}

const members = Array.from({ length: 9 }, (_, at) => `n${at + 1}`);
const patienceMs = 60_000;

export async function openRecoveryWorld(env: Record<string, string> = {}): Promise<RecoveryWorld> {
  const cluster = simulatedCluster(members);
  const [keys, served] = [await certificates(), await serveCluster(cluster)];
  // Whoever is asked who it is presents the right certificate, and is asked for nothing else.
  const endpoint = await standIn(keys.cluster, speaking({}));
  const world = await openWorld({
    env: {
      ...{ CLUSTER_ALLOW: '127.0.0.1', SECRET_KEY: Buffer.alloc(32, 7).toString('base64') },
      ...{ SIMULATED_CLUSTER: served.url, ...env },
    },
    argv: [path.join(import.meta.dirname, 'clusterChild.ts')],
    auditMachines: (databaseUrl) => auditCluster(databaseUrl, cluster),
  });
  const stop = async () => {
    await world.stop();
    served.close();
    endpoint.close();
  };
  try {
    await ask(world.staff.post('/staff/clusters', clusterBody(keys, [endpoint.url])));
    const machine = await furnish(world);
    const back = () => everybodyBack(world, cluster);
    const [made, failing] = [true, false].map((isMade) => losing(cluster, machine, back, isMade));
    return { world, scenario: made as Scenario, failing: failing as Scenario, everybodyBack: back, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

interface NodeSeen {
  id: number;
  name: string;
  cluster_id: number | null;
  reachable: boolean;
}

async function nodesOf(world: World): Promise<NodeSeen[]> {
  return (await world.staff.get('/staff/nodes?sort=name&limit=100')).body.data.nodes;
}

/** A machine in the cluster, with a backup as a night makes it. */
async function furnish(world: World): Promise<Order> {
  const nodes = await until(
    () => nodesOf(world),
    (all) => all.length === members.length + 1,
    patienceMs,
  );
  const own = nodes.find(({ cluster_id: cluster }) => cluster === null);
  await ask(world.staff.patch(`/staff/nodes/${own?.id}`, { state: 'draining' }));
  await until(
    async () => (await world.staff.get('/staff/images/tiny')).body.data.image,
    ({ clusters }) => clusters[0]?.state === 'ready',
    patienceMs,
  );
  const machine = await running(world);
  // Whoever comes up looks at once for what a night has missed, and otherwise once a minute.
  await world.die(async () => {
    await sql(world, 'update machines set backup_enabled = true, backup_hour = 0');
  });
  await until(
    async () =>
      (await world.customer.get(`/dashboard/service/${machine.serviceId}/vps/snapshots`)).body.data.snapshots,
    ([backup]) => backup?.kind === 'backup' && backup.state === 'ready',
    2 * patienceMs,
  );
  await sql(world, 'update machines set backup_enabled = false');
  await world.settle();
  return machine;
}

interface Given {
  node: NodeSeen;
  member: string;
}

function losing(
  cluster: SimulatedCluster,
  { serviceId }: Order,
  back: () => Promise<void>,
  isMade: boolean,
): Scenario {
  return scenario<Given, Given>(
    `a machine of a lost node is ${isMade ? '' : 'not '}made anew`,
    async (world) => {
      // Those that were lost stay so for as long as there are others: to be heard of again takes seconds.
      if (answering(cluster).length < 3) await back();
      const [at] = await sql<{ member: string }>(
        world,
        'select n.member from machines m join nodes n on n.id = m.node_id where m.service_id = $1',
        serviceId,
      );
      const member = at?.member ?? '';
      await keepElsewhere(world, cluster, member);
      const node = (await nodesOf(world)).find(({ name }) => name === `ams1/${member}`);
      if (node === undefined) throw new Error(`${member} is no node`);
      return { node, member };
    },
    async (world, given) => {
      const { node, member } = given;
      setAnswers(cluster, member, false);
      await until(
        () => nodesOf(world),
        (all) => all.some(({ id, reachable }) => id === node.id && !reachable),
        patienceMs,
      );
      world.failAt(isMade ? null : 'vps.recover/disk');
      await ask(world.staff.post(`/staff/nodes/${node.id}/recover`, { confirm: node.name }));
      return given;
    },
    async (world, { node }) => {
      const path = `/staff/nodes/${node.id}/recovery`;
      const { machines } = await until(
        async () => (await world.staff.get(path)).body.data.recovery,
        (seen) => seen.machines.every(({ state }: { state: string }) => state !== 'running'),
        180_000,
      );
      const [mine] = machines.filter((each: { service_id: number }) => each.service_id === serviceId);
      world.failAt(null);
      // One that stays may be tried again, and says what came of it.
      if (mine?.state !== (isMade ? 'recovered' : 'possible') || (mine.reason === null) !== isMade)
        throw new Error(`it did not end as it should: ${JSON.stringify(machines)}`);
    },
  );
}

function answering(cluster: SimulatedCluster): string[] {
  return [...cluster.members].filter(([, { answers }]) => answers).map(([name]) => name);
}

function setAnswers(cluster: SimulatedCluster, member: string, answers: boolean): void {
  const found = cluster.members.get(member);
  if (found === undefined) throw new Error(`there is no ${member}`);
  found.answers = answers;
}

/** The backup lies where it can be read when this member is lost, as the next night's would. */
async function keepElsewhere(world: World, cluster: SimulatedCluster, member: string): Promise<void> {
  const other = answering(cluster).find((name) => name !== member) ?? '';
  for (const each of cluster.kept) each.member = other;
  await sql(world, 'update vps_snapshots set kept_on = (select id from nodes where member = $1)', other);
}

async function everybodyBack(world: World, cluster: SimulatedCluster): Promise<void> {
  for (const member of members) setAnswers(cluster, member, true);
  await until(
    () => nodesOf(world),
    (all) => all.every(({ reachable }) => reachable),
    patienceMs,
  );
  const mine = (await machinesOf(world.databaseUrl)).map(({ id }) => id);
  for (const { store } of cluster.members.values())
    for (const [id] of [...store.machines].filter(([each]) => !mine.includes(each))) {
      await until(
        async () => store.machines.get(id)?.startedAtMs ?? null,
        (startedAtMs) => startedAtMs === null,
        patienceMs,
      );
      store.machines.delete(id);
    }
}

interface MachineSeen {
  service: number;
  id: string;
  node: string;
  room: string;
  wanted: string;
  recovered: number;
  incarnation: number;
  told: number;
}

async function machinesOf(databaseUrl: string): Promise<MachineSeen[]> {
  const rows = await sql<Omit<MachineSeen, 'id'>>(
    { databaseUrl },
    `select m.service_id::float8 as service, n.member as node, r.member as room, m.wanted, m.incarnation,
       (select count(*)::int from vps_recoveries v where v.service_id = m.service_id and v.state = 'recovered') as recovered,
       (select count(*)::int from journal j where j.action = 'vps.recovered' and j.subject_id = m.service_id) as told
     from machines m join nodes n on n.id = m.node_id join placements p on p.service_id = m.service_id
     join nodes r on r.id = p.node_id`,
  );
  return rows.map((row) => ({ ...row, id: machineIdOf(row.service, row.incarnation) }));
}

/** Each machine is there once, on the node that is written down and has its room; only lost members have what it was before. */
async function auditCluster(databaseUrl: string, cluster: SimulatedCluster): Promise<string[]> {
  const found: string[] = [];
  const rows = await machinesOf(databaseUrl);
  const there = [...cluster.members].flatMap(([node, { store, answers }]) =>
    [...store.machines].map(([id, { startedAtMs, hasDisk }]) => ({
      ...{ id, node, answers, hasDisk, power: startedAtMs === null ? 'stopped' : 'running' },
    })),
  );
  for (const { id, node, room, wanted, recovered, told } of rows) {
    const seen = there.filter((each) => each.id === id);
    const [only] = seen;
    if (seen.length !== 1 || only?.node !== node || only.power !== wanted || !only.hasDisk)
      found.push(`${id} is ${JSON.stringify(seen)} and should be ${wanted} on ${node}`);
    if (room !== node) found.push(`${id} is on ${node} and has its room on ${room}`);
    if (told !== recovered) found.push(`${id} was made anew and told of ${told} times`);
    const kept = cluster.kept.filter(({ of }) => of === id);
    if (kept.length !== 1) found.push(`${id} has ${kept.length} backups`);
  }
  for (const { id, node, answers } of there)
    if (answers && !rows.some((row) => row.id === id)) found.push(`${node} has ${id} of nobody`);
  for (const { of } of cluster.kept)
    if (!rows.some(({ id }) => id === of)) found.push(`a backup is ${of}'s, which is nobody`);
  const open = await sql<{ id: string; state: string }>(
    { databaseUrl },
    `select id::text as id, state from vps_recoveries where state = 'running'`,
  );
  return [...found, ...open.map(({ id, state }) => `the recovery ${id} is left ${state}`)];
}
