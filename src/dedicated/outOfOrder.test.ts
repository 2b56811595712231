import { afterAll, beforeAll, expect, it } from 'vitest';
import { newCustomer, type Person } from '../../test/people.ts';
import { until } from '../../test/product.ts';
import { type ArrivingProduct, startArrivingProduct } from '../../test/rack/arriving.ts';
import { movesIn } from '../../test/rack/moving.ts';
import { type RentedPlayed, rentPlayed } from '../../test/rack/stocked.ts';
import { settled, sql } from '../../test/sql.ts';
import { record } from '../events/index.ts';
import { serverOutOfOrder } from '../fleet/index.ts';
import { transaction } from '../platform/index.ts';

let world: ArrivingProduct;
let customer: Person;
beforeAll(async () => {
  world = await startArrivingProduct();
  customer = await newCustomer(world.product, { creditMinor: 10_000_000 });
});
afterAll(() => world.product.stop());

const staff = () => world.product.staff;
const { another, asked, ended } = movesIn(
  () => world,
  () => customer,
);

interface Mail {
  template: string;
  recipient: string;
  subject: string;
  body: string;
}
/** What the customer of a server was told of it by mail. */
async function mailsOf({ serviceId }: RentedPlayed): Promise<Mail[]> {
  await settled(world.product);
  return sql<Mail>(
    world.product,
    `select m.template, m.recipient, m.subject, m.body from mails m join journal j on j.id = m.journal_id
     where j.subject_type = 'service' and j.subject_id = $1 and m.template like 'dedicated.%' order by m.journal_id`,
    String(serviceId),
  );
}
const told = async (server: RentedPlayed) => (await mailsOf(server)).map(({ template }) => template);

async function quarantined({ id }: RentedPlayed): Promise<void> {
  const reason = 'Fan 2 fails, ticket 7';
  const { status, body } = await staff().post(`/staff/servers/${id}/quarantine`, { reason });
  expect(status, body.message).toBe(200);
}
async function released({ id }: RentedPlayed): Promise<void> {
  const { status, body } = await staff().post(`/staff/servers/${id}/release`, {});
  expect(status, body.message).toBe(200);
}
/** As another start of what follows from staff's finding, or one that comes late. */
const foundAgain = ({ id, name, serviceId }: RentedPlayed) =>
  transaction(world.product.ctx, 'test.foundAgain', (tx) =>
    record(tx, serverOutOfOrder, {
      subject: { type: 'server', id },
      data: { name, reason: 'Fan 2 fails', service_id: serviceId },
    }),
  );
async function end({ serviceId }: RentedPlayed): Promise<void> {
  const { status, body } = await customer.post(`/dashboard/services/${serviceId}/cancel`, {
    type: 'immediate',
  });
  expect(status, body.message).toBe(200);
}

it('whoever rents a server is told once by mail that it is out of order, what happens next and what to do, and once that it is in order again', async () => {
  const server = await rentPlayed(world, customer);
  await quarantined(server);
  const [mail, ...more] = await mailsOf(server);
  expect(more).toEqual([]);
  expect(mail).toMatchObject({
    ...{ template: 'dedicated.out_of_order', recipient: customer.email },
    subject: 'The server of metal1.example.com is out of order',
    body: expect.stringMatching(/puts it right.*another one.*write us a ticket/s),
  });
  expect(mail?.body).toContain(`/services/${server.serviceId}`);
  expect(mail?.body).not.toMatch(/Fan 2|ticket 7/);
  await foundAgain(server);
  expect(await told(server)).toEqual(['dedicated.out_of_order']);

  await released(server);
  expect((await mailsOf(server)).at(-1)).toMatchObject({
    ...{ template: 'dedicated.in_order', recipient: customer.email },
    subject: 'The server of metal1.example.com is in order again',
  });
  // What comes late says nothing that is true no more.
  await foundAgain(server);
  expect(await told(server)).toEqual(['dedicated.out_of_order', 'dedicated.in_order']);
});

it('whose service has ended is told nothing of it any more', async () => {
  const server = await rentPlayed(world, customer);
  await quarantined(server);
  expect(await told(server)).toEqual(['dedicated.out_of_order']);
  await end(server);
  await until(
    async () => (await staff().get(`/staff/servers/${server.id}`)).body.data.server.state,
    (state) => state === 'quarantined',
    60_000,
  );
  await released(server);
  await foundAgain(server);
  expect(await told(server)).toEqual(['dedicated.out_of_order']);
}, 90_000);

it('whose service gets another server is told of that alone', async () => {
  const server = await rentPlayed(world, customer);
  await another(server);
  await quarantined(server);
  expect(await ended(server, await asked(server))).toMatchObject({ status: 'success' });
  expect(await told(server)).toEqual(['dedicated.out_of_order', 'dedicated.moved']);
}, 120_000);

it('what was to be told when a backup was made is not told a second time after its restore', async () => {
  const server = await rentPlayed(world, customer);
  await quarantined(server);
  expect(await told(server)).toEqual(['dedicated.out_of_order']);
  // The backup is of right before that was told.
  await sql(world.product, 'delete from dedicated_outages where service_id = $1', server.serviceId);
  await sql(
    world.product,
    `insert into restores (made_at, restored_at, settled_at, released_at, journal_from) select now(), now(), now(), now(), max(id) + 1 from journal`,
  );
  const [{ id: job = 0 } = {}] = await sql<{ id: number }>(
    world.product,
    `select id from jobs where name = 'dedicated.tellOutOfOrder' and payload -> 'data' ->> 'service_id' = $1 order by id limit 1`,
    String(server.serviceId),
  );
  await sql(world.product, 'delete from job_steps where job_id = $1', job);
  await sql(
    world.product,
    `update jobs set state = 'ready', worker = null, attempts = 0, finished_at = null, run_at = now() - interval '1 day' where id = $1`,
    job,
  );
  expect(await told(server)).toEqual(['dedicated.out_of_order']);
  await released(server);
  expect(await told(server)).toEqual(['dedicated.out_of_order', 'dedicated.in_order']);
  await sql(world.product, 'delete from restores');
});

it('whose server staff takes away is told that they get another one', async () => {
  const server = await rentPlayed(world, customer);
  // Something waits for staff there, and since a restore that nobody has released the server may be somebody else's.
  await sql(
    world.product,
    `update jobs set state = 'stuck', stuck_reason = 'a test' where name = 'dedicated.provision' and payload ->> 'serviceId' = $1::text`,
    server.serviceId,
  );
  await sql(
    world.product,
    `insert into restores (made_at, restored_at, settled_at) select state_since, state_since, now() from servers where id = $1`,
    server.id,
  );
  await quarantined(server);
  const [mail, ...more] = await mailsOf(server);
  expect(more).toEqual([]);
  expect(mail).toMatchObject({
    template: 'dedicated.out_of_order',
    body: expect.stringMatching(/taken it out of service.*gives you another one.*write us a ticket/s),
  });
  await sql(world.product, 'delete from restores');
});
