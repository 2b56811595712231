/** A cluster that may have what customers use by now is not forgotten: an older copy of it would start elsewhere. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runningVps } from '../../../test/orders.ts';
import { newCustomer } from '../../../test/people.ts';
import { until } from '../../../test/product.ts';
import { sql } from '../../../test/sql.ts';
import { type ClusterBed, type ClusterSeen, clusterBed, type NodeSeen } from './clusters.testbed.ts';

let bed: ClusterBed;
let cluster: ClusterSeen;
let service: number;

beforeAll(async () => {
  bed = await clusterBed(['n1']);
  const customer = await newCustomer(bed.product, { creditMinor: 50_000 });
  ({ serviceId: service } = await runningVps(bed.product, customer));
  cluster = await bed.add();
  await bed.nodes((all) => all.length === 1);
}, 120_000);
afterAll(() => bed?.stop());

async function remove(query = ''): Promise<[number, string]> {
  const { status, body } = await bed.product.staff.delete(`/staff/clusters/${cluster.id}${query}`);
  return [status, body.details?.[0]?.message ?? body.message];
}

it('after a restore it says what it has before it is removed, or staff releases the restore', async () => {
  bed.simulated.isReachable = false;
  bed.product.clock.travel(31_000);
  await until(
    () => bed.read(cluster.id),
    ({ trouble }) => trouble !== null,
    60_000,
  );
  const [restore] = await sql<{ id: string }>(
    bed.product,
    'insert into restores (made_at, restored_at, settled_at) values ($1, $1, $1) returning id::text as id',
    bed.product.clock.now(),
  );
  expect(await remove()).toEqual([
    409,
    expect.stringMatching(/^The database was restored, and ams1 has not said since what machines it has/),
  ]);
  const { status } = await bed.product.staff.post(`/staff/restores/${restore?.id}/release`);
  expect(status).toBe(200);
  bed.simulated.isReachable = true;
  await until(
    () => bed.read(cluster.id),
    ({ answers }) => answers,
    60_000,
  );
}, 120_000);

it('what a silent member has of a service keeps it, until staff says that it does not run', async () => {
  const member = bed.simulated.members.get('n1');
  if (member === undefined) throw new Error('it is there');
  member.answers = false;
  const [node] = await bed.nodes(([one]) => one.reachable === false);
  await sql(
    bed.product,
    `insert into vps_unknown_machines (node_id, machine, service_id, addresses, found_at)
     select $1, 'vps-' || $2::bigint || '-' || n, $2::bigint, '{}', now() from generate_series(2, 3) n`,
    ...[(node as NodeSeen).id, service],
  );
  expect(await remove()).toEqual([
    409,
    expect.stringMatching(
      /^The database does not know vps-\d+-2 on ams1\/n1, vps-\d+-3 on ams1\/n1: .* confirm with ams1$/,
    ),
  ]);
  expect(await remove('?confirm=ams2')).toEqual([400, 'must be the name of the cluster, ams1']);
  expect((await remove('?confirm=ams1'))[0]).toBe(200);
}, 120_000);
