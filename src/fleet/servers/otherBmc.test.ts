import { describe, expect, it } from 'vitest';
import { watchChanges } from '../../../test/noted.ts';
import { until } from '../../../test/product.ts';
import { switchedBed } from '../../../test/rack/switched.ts';
import { settled, sql } from '../../../test/sql.ts';

const changes = watchChanges();

const bed = switchedBed();
const { rack, newServer, serverOf, ask } = bed;

async function askedAfter(id: number, ms: number) {
  const before = await serverOf(id);
  bed.product.clock.travel(ms);
  await bed.product.periodic('fleet.askBmcs');
  const { bmc } = await until(
    () => serverOf(id),
    ({ bmc: now }) => now.asked_at !== before.bmc.asked_at,
  );
  await settled(bed.product);
  return bmc;
}
async function started(id: number) {
  expect((await ask(id, 'start')).status).toBe(200);
  await settled(bed.product);
  return (await serverOf(id)).bmc;
}
const hour = 3_600_000;

it('a server that was added by hand is known by the BMC that answers first', async () => {
  const { id, bmc } = await newServer();
  expect((await serverOf(id)).bmc.uuid).toBeNull();
  expect(await askedAfter(id, 1_000)).toMatchObject({ uuid: bmc.identity.uuid, other_uuid: null });
  expect(await askedAfter(id, hour)).toMatchObject({
    uuid: bmc.identity.uuid,
    other_uuid: null,
    problem: null,
  });
});

it('another BMC at its address switches nothing from the first command on, and staff is told within the hour', async () => {
  const { id, name, address, bmc } = await newServer();
  await askedAfter(id, 1_000);
  // It lets us in, as a twin with the same account would.
  const other = rack.put(address);
  const refused = await started(id);
  expect(refused.action_problem).toMatch(/another BMC answers/);
  expect([other.power, other.starts, other.nextBoot]).toEqual(['off', [], null]);

  const told = await askedAfter(id, hour);
  expect(told).toMatchObject({ uuid: bmc.identity.uuid, other_uuid: other.identity.uuid });
  expect(told.problem).toMatch(
    new RegExp(
      `another BMC answers at ${address}.*was replaced, accept it, and otherwise look who has its address`,
    ),
  );
  const concerns = await bed.product.staff.get('/staff/attention');
  expect(JSON.stringify(concerns.body.data)).toContain(`${name}: another BMC`);

  // Once its own one answers again all is well.
  rack.put(address, bmc);
  expect(await askedAfter(id, hour)).toMatchObject({ other_uuid: null, problem: null });
  expect(await started(id)).toMatchObject({ power: 'on', action_problem: null });
});

it('one that was replaced is accepted by the UUID that staff has looked at, on the record, and switches the server then', async () => {
  const { id, address, bmc } = await newServer();
  await askedAfter(id, 1_000);
  const accept = (uuid: string) => ask(id, 'bmc/accept', { uuid });
  const early = await accept(bmc.identity.uuid ?? '');
  expect([early.status, early.body.code]).toEqual([409, 'conflict']);
  const other = rack.put(address);
  await askedAfter(id, hour);
  const wrong = await accept(bmc.identity.uuid ?? '');
  expect([wrong.status, wrong.body.code]).toEqual([409, 'conflict']);
  const right = await accept(other.identity.uuid ?? '');
  expect([right.status, right.body.data?.server.bmc]).toMatchObject([
    200,
    { uuid: other.identity.uuid, other_uuid: null, problem: null },
  ]);
  expect(await started(id)).toMatchObject({ power: 'on' });
  const [entry] = await sql<{ data: object }>(
    bed.product,
    `select data from journal where action = 'server.bmc_accepted' and subject_id = $1`,
    String(id),
  );
  expect(entry?.data).toMatchObject({ before: bmc.identity.uuid, uuid: other.identity.uuid });
});

it('one that is reached in another way is another one, which is asked anew who it is', async () => {
  const { id } = await newServer();
  await askedAfter(id, 1_000);
  const address = bed.newAddress();
  const other = rack.put(address);
  await bed.product.staff.patch(`/staff/servers/${id}`, { bmc: bed.reachedAt(address) });
  expect(await askedAfter(id, 1_000)).toMatchObject({ uuid: other.identity.uuid, other_uuid: null });
});

describe('a change', () => changes.leaveEntries(() => bed.product, ['acceptServerBmc']));
