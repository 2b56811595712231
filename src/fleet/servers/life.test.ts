import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestProduct, type TestProduct, until } from '../../../test/product.ts';
import { settled, sql } from '../../../test/sql.ts';
import { openBmcs, simulatedRack } from '../../drivers/bmc/index.ts';

const rack = simulatedRack();
let product: TestProduct;
beforeAll(async () => {
  product = await startTestProduct({
    env: { HYPERVISOR: 'simulator' },
    drivers: { bmc: openBmcs({ rack }) },
  });
});
afterAll(() => product.stop());

let made = 0;
async function newServer(password = 'Kx7vR2mNq9Tz4WbY') {
  made += 1;
  const address = `192.0.2.${made}`;
  const bmc = rack.put(address);
  const [account] = bmc.accounts;
  if (account === undefined) throw new Error('nobody may sign in');
  account.password = password;
  const { status, body } = await product.staff.post('/staff/servers', {
    ...{ name: `s${made}`, serial: `S/N ${made}` },
    bmc: { kind: 'simulated', address, user: account.name, password: 'Kx7vR2mNq9Tz4WbY' },
  });
  expect(status, JSON.stringify(body)).toBe(200);
  return { id: body.data.server.id as number, bmc, account };
}
const bmcOf = async (id: number) => (await product.staff.get(`/staff/servers/${id}`)).body.data.server.bmc;
/** Has the periodic job ask, a while later. */
async function askedAfter(id: number, ms: number) {
  const before = await bmcOf(id);
  product.clock.travel(ms);
  await product.periodic('fleet.askBmcs');
  return until(
    () => bmcOf(id),
    (now) => now.asked_at !== before.asked_at,
  );
}
const concerns = async () => JSON.stringify((await product.staff.get('/staff/attention')).body.data);

describe('the sign of life of a BMC', () => {
  it('is its server’s power, every five minutes', async () => {
    const { id, bmc } = await newServer();
    expect(await bmcOf(id)).toMatchObject({ power: null, heard_at: null });
    expect(await askedAfter(id, 1_000)).toMatchObject({ power: 'off', problem: null });
    bmc.power = 'on';
    const later = await askedAfter(id, 300_000);
    expect(later).toMatchObject({ power: 'on', heard_at: later.asked_at });
  });

  it('is missed of one that is silent, whose power stays as it was heard last, until it is heard of again', async () => {
    const { id, bmc } = await newServer();
    const heard = await askedAfter(id, 1_000);
    bmc.failing.silent = 'before';
    const silent = await askedAfter(id, 300_000);
    expect(silent).toMatchObject({ power: 'off', heard_at: heard.heard_at, problem: expect.any(String) });
    expect(await concerns()).toContain(`s${made}: ${silent.problem}`);
    bmc.failing = {};
    expect(await askedAfter(id, 300_000)).toMatchObject({ problem: null });
    expect(await concerns()).not.toContain(`s${made}: `);
    const told = await sql<{ action: string }>(
      product,
      `select action from journal where subject_type = 'server' and subject_id = $1 and action like 'server.bmc%' order by id`,
      String(id),
    );
    expect(told.map(({ action }) => action)).toEqual(['server.bmc_lost', 'server.bmc_back']);
  });

  it('is not missed while its readings are taken, and heard afterwards', async () => {
    const { id, bmc } = await newServer();
    const heard = await askedAfter(id, 1_000);
    // Another asks it for longer than a sign of life is waited for.
    const { address } = heard;
    bmc.failing.slowMs = 9_000;
    const reader = openBmcs({ rack })({
      ...{ kind: 'simulated', address, user: 'root', password: 'Kx7vR2mNq9Tz4WbY' },
    });
    const reading = reader.readSensors();
    product.clock.travel(300_000);
    await product.periodic('fleet.askBmcs');
    await reading;
    await settled(product);
    expect(await bmcOf(id)).toMatchObject({ problem: null, heard_at: heard.heard_at });
    bmc.failing = {};
    expect(await askedAfter(id, 60_000)).toMatchObject({ problem: null });
  }, 40_000);

  it('says within the hour that our login works no more, and when it works again', async () => {
    const { id, account } = await newServer('another-one-1');
    const lost = await askedAfter(id, 1_000);
    expect(lost).toMatchObject({ power: null, heard_at: null, problem: expect.stringMatching(/sign|let/i) });
    expect(JSON.stringify(lost)).not.toContain('Kx7vR2');
    expect(await concerns()).toContain(`s${made}: `);
    account.password = 'Kx7vR2mNq9Tz4WbY';
    expect(await askedAfter(id, 300_000)).toMatchObject({ power: 'off', problem: null });
  });

  it('counts for nothing once the BMC is reached in another way', async () => {
    const { id, bmc } = await newServer();
    bmc.power = 'on';
    await askedAfter(id, 1_000);
    made += 1;
    const address = `192.0.2.${made}`;
    rack.put(address);
    const other = { kind: 'simulated', address, user: 'root', password: 'factory-1' };
    await product.staff.patch(`/staff/servers/${id}`, { bmc: other });
    expect(await bmcOf(id)).toMatchObject({ power: null, heard_at: null, problem: null });
  });
});
