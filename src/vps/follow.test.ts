import { afterAll, beforeAll, expect, it } from 'vitest';
import { runningVps } from '../../test/orders.ts';
import { newCustomer, type Person } from '../../test/people.ts';
import { until } from '../../test/product.ts';
import { settled, sql } from '../../test/sql.ts';
import { type ClusterBed, clusterBed, type NodeSeen } from '../fleet/clusters/clusters.testbed.ts';

let bed: ClusterBed;
let customer: Person;
let id: number;

beforeAll(async () => {
  bed = await clusterBed(['n1', 'n2']);
  await sql(bed.product, `update nodes set state = 'draining'`);
  customer = await newCustomer(bed.product, { creditMinor: 50_000 });
  await bed.add();
  await bed.nodes((all) => all.length === 2);
  await until(
    async () => (await bed.product.staff.get('/staff/images/tiny')).body.data.image,
    ({ clusters }) => clusters[0]?.state === 'ready',
  );
  ({ serviceId: id } = await runningVps(bed.product, customer));
  await customer.post(`/dashboard/service/${id}/vps/snapshots`, { name: 'first' });
  await settled(bed.product);
}, 60_000);
afterAll(() => bed?.stop());

const overview = async () => (await customer.get(`/dashboard/service/${id}/vps/overview`)).body.data.vps;
const withMachine = (all: NodeSeen[]): NodeSeen => all.find((node) => node.machines === 1);

it('the room of a machine that somebody moves in the engine moves with it, whether there is any or not', {
  timeout: 60_000,
}, async () => {
  const before = withMachine(await bed.nodes((all) => withMachine(all) !== undefined));
  expect(before.taken).toMatchObject({ cpu_cores: expect.any(Number), disk_gib: expect.any(Number) });
  const [other] = (await bed.nodes(() => true)).filter((node) => node.id !== before.id);
  const left = before.taken.memory_mib - 1;
  await bed.product.staff.patch(`/staff/nodes/${other.id}`, {
    memory_reserve_mib: other.capacity.memory_mib - left,
  });

  const [, member] = other.name.split('/');
  bed.simulated.moveByHand(`vps-${id}`, member);
  const nodes = await bed.nodes((all) => withMachine(all)?.id === other.id);
  const [now, then] = [withMachine(nodes), nodes.find((node) => node.id === before.id)];
  expect([now.taken, now.copies_gib]).toEqual([before.taken, before.copies_gib]);
  expect([then.taken, then.copies_gib]).toEqual([{ cpu_cores: 0, memory_mib: 0, disk_gib: 0 }, 0]);

  const journal = await sql(
    bed.product,
    `select subject_id::float8 as id, data from journal where action = 'vps.moved'`,
  );
  expect(journal).toEqual([
    { id, data: { name: other.name, before: before.name, by: 'others', overrun: true } },
  ]);
  const { low } = (await bed.product.staff.get('/staff/attention')).body.data.house;
  expect(low).toContainEqual(expect.objectContaining({ name: other.name, what: 'memory', free: 0 }));

  // It is operated where it is, and what it had counts where it was no longer.
  await customer.post(`/dashboard/service/${id}/vps/stop`);
  await until(overview, ({ state, locked }) => state === 'stopped' && !locked);
  expect((await bed.simulated.hypervisor(member).inspect(`vps-${id}`)).power).toBe('stopped');
  expect((await customer.delete(`/dashboard/service/${id}/vps/snapshots/first`)).status).toBe(200);
  await until(
    () => bed.nodes((all) => withMachine(all) !== undefined),
    (all) => withMachine(all).copies_gib === 0,
  );
});

it('while its cluster is asked where it is, nobody waits for what is held, and no transaction is open', {
  timeout: 60_000,
}, async () => {
  const before = withMachine(await bed.nodes((all) => withMachine(all) !== undefined));
  const [other] = (await bed.nodes(() => true)).filter((node) => node.id !== before.id);
  const [, member] = other.name.split('/');
  const hypervisors = [...bed.simulated.members.values()].map(({ hypervisor }) => hypervisor);
  const inspects = hypervisors.map((hypervisor) => hypervisor.inspect);
  let asked = 0;
  for (const [at, hypervisor] of hypervisors.entries())
    hypervisor.inspect = async (machine) => {
      asked += 1;
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      return inspects[at]?.call(hypervisor, machine) ?? { id: machine, power: 'unknown', startedAt: null };
    };
  bed.simulated.moveByHand(`vps-${id}`, member);
  await until(
    async () => asked,
    (count) => count > 0,
    30_000,
  );
  await new Promise((resolve) => setTimeout(resolve, 500));
  const open = await sql(
    bed.product,
    `select query from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'
       and xact_start < now() - interval '200 milliseconds'`,
  );
  for (const [at, hypervisor] of hypervisors.entries())
    hypervisor.inspect = inspects[at] ?? hypervisor.inspect;
  expect(open).toEqual([]);
  await bed.nodes((all) => withMachine(all)?.id === other.id);
});
