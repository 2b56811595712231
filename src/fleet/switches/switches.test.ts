import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { watchChanges } from '../../../test/noted.ts';
import { startTestProduct, type TestProduct, until } from '../../../test/product.ts';
import { contents, sql } from '../../../test/sql.ts';
import { lackOf, openSwitches, simulatedSwitches } from '../../drivers/switch/index.ts';

const changes = watchChanges();
const simulated = simulatedSwitches();
const open = openSwitches(simulated);
let product: TestProduct;
beforeAll(async () => {
  product = await startTestProduct({
    drivers: { switch: (connection) => open({ ...connection, kind: 'simulated' }) },
  });
});
afterAll(() => product.stop());

const secrets = ['auth-pass-123', 'priv-pass-123'] as const;
const credential = {
  ...{ user: 'innkeeper', auth_protocol: 'sha256' },
  ...{ auth_passphrase: secrets[0], privacy_passphrase: secrets[1] },
};
const port = (name: string, bytes: bigint | null = 0n) => ({
  ...{ name, label: '', isUp: true, speedMbps: 10_000, macs: [], vlan: null },
  counters: bytes === null ? null : { in: bytes, out: bytes / 2n },
});
let made = 0;
/** One that was read, at an address of its own. */
async function newSwitch(more: object = {}) {
  made += 1;
  const address = `192.0.2.${made}`;
  const it = simulated.put(address, { ports: [port('eth1'), port('eth2', null)], ...more });
  const wanted = { name: `sw${made}`, location: 'AMS', address, credential };
  const { status, body } = await product.staff.post('/staff/switches', wanted);
  expect(status, JSON.stringify(body)).toBe(200);
  return { it, seen: await checked(body.data.switch.id) };
}
const read = async (id: number) => (await product.staff.get(`/staff/switches/${id}`)).body.data.switch;
const checked = (id: number) =>
  until(
    () => read(id),
    ({ check }) => check.state !== 'checking',
  );
const portsOf = async (id: number) =>
  (await product.staff.get(`/staff/switches/${id}/ports`)).body.data.ports;
/** Has the periodic job read it a while later. */
async function readAfter(id: number, ms: number) {
  const { check } = await read(id);
  product.clock.travel(ms);
  await product.periodic('fleet.readSwitches');
  return until(
    () => read(id),
    (now) => now.check.checked_at !== check.checked_at,
  );
}

describe('a switch', () => {
  it('is read at once, says what it cannot do, and never shows its passphrases', async () => {
    const { seen } = await newSwitch({ capabilities: [] });
    expect(seen).toMatchObject({
      ...{ check: { state: 'ok', problem: null }, description: 'A simulated switch', ports: 2 },
      isolation: lackOf('vlans'),
    });
    expect((await newSwitch()).seen).toMatchObject({ isolation: null });
    const answers = [await product.staff.get('/staff/switches'), await product.staff.get('/staff/audit')];
    for (const secret of secrets) {
      expect(JSON.stringify(answers.map(({ body }) => body))).not.toContain(secret);
      expect(JSON.stringify(await contents(product))).not.toContain(secret);
    }
  });

  it.each<[string, object, string, string]>([
    ['at a name', { address: 'sw.example.com' }, 'address', 'must be an IP address'],
    ['at everybody', { address: '224.0.0.1' }, 'address', 'is no address of a single host'],
    [
      'with a short passphrase',
      { credential: { ...credential, auth_passphrase: 'short' } },
      'credential.auth_passphrase',
      'must be 8 to 64 printable characters',
    ],
  ])('is refused %s, and nothing is changed', async (_what, more, field, message) => {
    const before = await contents(product);
    const wanted = { name: 'wrong', location: 'AMS', address: '192.0.2.200', credential, ...more };
    const { status, body } = await product.staff.post('/staff/switches', wanted);
    expect([status, body.details]).toEqual([400, [{ field, message }]]);
    expect(await contents(product)).toEqual(before);
  });

  it('that is silent, or lets us in no more, is told of to staff until it is heard of again', async () => {
    const { it, seen } = await newSwitch();
    const concerns = async () => JSON.stringify((await product.staff.get('/staff/attention')).body.data);
    it.failing.isSilent = true;
    const silent = await readAfter(seen.id, 301_000);
    expect(silent.check).toMatchObject({
      state: 'failed',
      problem: expect.stringMatching(/nothing is heard/),
    });
    expect(silent.heard_at).toBe(seen.heard_at);
    expect(await concerns()).toContain(`${seen.name}: nothing is heard of`);
    it.failing = {};
    it.privacyPassphrase = 'another-pass-1';
    expect((await readAfter(seen.id, 61_000)).check.problem).toMatch(/does not let us in/);
    it.privacyPassphrase = secrets[1];
    expect((await readAfter(seen.id, 61_000)).check).toMatchObject({ state: 'ok', problem: null });
    expect(await concerns()).not.toContain(`${seen.name}: `);
    const told = await sql<{ problem: string | null }>(
      product,
      `select data->>'problem' as problem from journal where action = 'switch.checked' and subject_id = $1 order by id`,
      String(seen.id),
    );
    expect(told.map(({ problem }) => problem !== null)).toEqual([false, true, true, false]);
  });

  it('goes nowhere else with the passphrases that are kept', async () => {
    const { seen } = await newSwitch();
    simulated.put('192.0.2.222');
    const path = `/staff/switches/${seen.id}`;
    const refused = await product.staff.patch(path, { address: '192.0.2.222' });
    expect([refused.status, refused.body.details[0].field]).toEqual([400, 'credential']);
    const moved = await product.staff.patch(path, { address: '192.0.2.222', credential });
    expect(moved.body.data.switch).toMatchObject({ address: '192.0.2.222', check: { state: 'checking' } });
    expect((await checked(seen.id)).check.state).toBe('ok');
    expect((await portsOf(seen.id)).every((each: { gone_at: string | null }) => each.gone_at !== null)).toBe(
      true,
    );
  });

  it('is there once by its name and its address, and is read once more when somebody asks', async () => {
    const { seen, it } = await newSwitch();
    const wanted = { name: seen.name, location: 'AMS', address: '192.0.2.223', credential };
    expect((await product.staff.post('/staff/switches', wanted)).body.message).toBe(
      `There is a switch called ${seen.name} already`,
    );
    const same = { ...wanted, name: 'another', address: seen.address };
    expect((await product.staff.post('/staff/switches', same)).body.message).toBe(
      'There is a switch at this address already',
    );
    it.ports.push(port('eth9'));
    expect((await product.staff.post(`/staff/switches/${seen.id}/check`)).body.data.switch.check.state).toBe(
      'checking',
    );
    expect(await checked(seen.id)).toMatchObject({ ports: 3 });
    expect((await product.staff.patch(`/staff/switches/${seen.id}`, { note: 'spare' })).status).toBe(200);
    expect((await product.staff.delete(`/staff/switches/${seen.id}`)).status).toBe(200);
    expect((await product.staff.get(`/staff/switches/${seen.id}`)).status).toBe(404);
  });
});

describe('a port', () => {
  it('shows what went through it, and nothing where nobody knows', async () => {
    const { it, seen } = await newSwitch();
    expect(await portsOf(seen.id)).toMatchObject([
      { name: 'eth1', in_mbps: null, speed_mbps: 10_000 },
      { name: 'eth2', in_mbps: null },
    ]);
    const [one] = it.ports;
    if (one === undefined) throw new Error('no port');
    one.counters = { in: 37_500_000n * 100n, out: 37_500_000n };
    it.uptimeMs += 300_000;
    await readAfter(seen.id, 300_000);
    const [after, without] = await portsOf(seen.id);
    expect(after.in_mbps).toBeGreaterThan(95);
    expect(after.in_mbps).toBeLessThanOrEqual(100);
    expect(after.out_mbps).toBeCloseTo(after.in_mbps / 100, 3);
    expect(without.in_mbps).toBeNull();
    // It counts less than before, and did not begin anew.
    one.counters = { in: 5n, out: 5n };
    it.uptimeMs += 300_000;
    await readAfter(seen.id, 300_000);
    expect((await portsOf(seen.id))[0]).toMatchObject({ in_mbps: null, out_mbps: null });
  });

  it('that the switch no longer names stays, and says since when', async () => {
    const { it, seen } = await newSwitch();
    it.ports.shift();
    await readAfter(seen.id, 300_000);
    expect(await portsOf(seen.id)).toMatchObject([
      { name: 'eth1', is_up: false, gone_at: expect.any(String) },
      { name: 'eth2', gone_at: null },
    ]);
    it.ports.unshift(port('eth1'));
    await readAfter(seen.id, 300_000);
    expect(await portsOf(seen.id)).toMatchObject([{ name: 'eth1', gone_at: null }, { name: 'eth2' }]);
  });

  it('has one server plugged in, which is found from both sides', async () => {
    const { seen } = await newSwitch();
    const { seen: other } = await newSwitch();
    const macs = ['52:54:00:aa:00:01', '52:54:00:aa:00:02'];
    const { server } = (await product.staff.post('/staff/servers', { name: 'plugged', serial: 'P1', macs }))
      .body.data;
    const plug = (id: number, body: object) => product.staff.post(`/staff/switches/${id}/plug`, body);
    const done = await plug(seen.id, { port: 'eth1', mac: '52-54-00-AA-00-01' });
    expect(done.body.data.port).toMatchObject({ server: 'plugged', server_id: server.id, mac: macs[0] });
    const known = async () => (await product.staff.get(`/staff/servers/${server.id}`)).body.data.server.ports;
    expect(await known()).toEqual([
      { mac: macs[0], switch_id: seen.id, switch: seen.name, switch_port: 'eth1' },
      { mac: macs[1], switch_id: null, switch: null, switch_port: null },
    ]);
    const taken = await plug(seen.id, { port: 'eth1', mac: macs[1] });
    expect([taken.status, taken.body.message]).toEqual([409, 'plugged is plugged in there; unplug it first']);
    expect((await plug(seen.id, { port: 'eth7', mac: macs[1] })).body.details[0].field).toBe('port');
    expect((await plug(seen.id, { port: 'eth2', mac: '52:54:00:aa:00:99' })).body.details[0].field).toBe(
      'mac',
    );
    expect((await product.staff.delete(`/staff/switches/${seen.id}`)).status).toBe(409);
    // Its ports are said once more, and stay where they are plugged in.
    await product.staff.patch(`/staff/servers/${server.id}`, { macs: macs.toReversed() });
    expect(await known()).toMatchObject([{ switch_port: null }, { mac: macs[0], switch_port: 'eth1' }]);
    await plug(other.id, { port: 'eth2', mac: macs[0] });
    expect(await known()).toMatchObject([{}, { switch: other.name, switch_port: 'eth2' }]);
    await plug(other.id, { port: 'eth2', mac: null });
    expect(await known()).toMatchObject([{}, { switch: null }]);
  });
});

describe('every change', () =>
  changes.leaveEntries(
    () => product,
    [...['addSwitch', 'changeSwitch', 'checkSwitch', 'removeSwitch', 'plugSwitchPort']],
  ));
