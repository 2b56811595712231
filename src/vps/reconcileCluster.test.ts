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
