import { afterAll, beforeAll, expect, it } from 'vitest';
import { runningVps } from '../../test/orders.ts';
import { newCustomer, type Person } from '../../test/people.ts';
import { until } from '../../test/product.ts';
import { settled, sql } from '../../test/sql.ts';
import { type ClusterBed, clusterBed, type NodeSeen } from '../fleet/clusters/clusters.testbed.ts';

let bed: ClusterBed;
let customer: Person;
const machines = new Map<string, number>();

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
  for (const member of ['n1', 'n2']) {
    const { serviceId } = await runningVps(bed.product, customer);
    bed.simulated.moveByHand(`vps-${serviceId}`, member);
    machines.set(member, serviceId);
  }
  await bed.nodes((all) => all.every((node: NodeSeen) => node.machines === 1));
  await settled(bed.product);
}, 60_000);
afterAll(() => bed?.stop());

const machineOn = (member: string) =>
  bed.simulated.members.get(member)?.store.machines.get(`vps-${machines.get(member)}`);
const isUp = (member: string) => machineOn(member)?.startedAtMs != null;

/** Nobody hears of it; the next list shows it. */
function loseQuietly(member: string): void {
  const machine = machineOn(member);
  if (machine === undefined) throw new Error(`${member} has no machine`);
  machine.startedAtMs = null;
}

it('a member that does not say how a machine of its is keeps those of no other member waiting', {
  timeout: 60_000,
}, async () => {
  const hypervisor = bed.simulated.hypervisor('n1');
  const { inspect } = hypervisor;
  let speak = () => {};
  const silence = new Promise<void>((resolve) => {
    speak = resolve;
  });
  let asked = 0;
  hypervisor.inspect = async (id) => {
    asked += 1;
    await silence;
    return inspect(id);
  };
  try {
    for (const member of ['n1', 'n2']) loseQuietly(member);
    await until(
      async () => isUp('n2'),
      (up) => up,
      30_000,
    );
    expect([asked > 0, isUp('n1')]).toEqual([true, false]);
  } finally {
    hypervisor.inspect = inspect;
    speak();
  }
  await until(
    async () => isUp('n1'),
    (up) => up,
    30_000,
  );
});

it('a cluster of which a member could not be compared is not written down as compared', {
  timeout: 60_000,
}, async () => {
  const another = await clusterBed(['n1', 'n2']);
  try {
    const hypervisor = another.simulated.hypervisor('n1');
    const { inspect } = hypervisor;
    const [known] = bed.simulated.members.get('n1')?.store.machines.values() ?? [];
    if (known === undefined) throw new Error('n1 has a machine');
    another.simulated.members.get('n1')?.store.machines.set('vps-4242-2', structuredClone(known));
    let asked = 0;
    hypervisor.inspect = async () => {
      asked += 1;
      throw new Error('it does not say');
    };
    await another.add();
    const compared = async () => {
      const [row] = await sql<{ at: Date | null }>(another.product, 'select compared_at as at from clusters');
      return row?.at ?? null;
    };
    await until(
      async () => asked,
      (times) => times > 1,
      30_000,
    );
    expect(await compared()).toBeNull();
    hypervisor.inspect = inspect;
    await until(compared, (at) => at !== null, 30_000);
  } finally {
    await another.stop();
  }
});
