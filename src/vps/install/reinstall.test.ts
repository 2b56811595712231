import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { password, runningVps } from '../../../test/orders.ts';
import { startTestProduct, type TestProduct, until } from '../../../test/product.ts';
import { sql } from '../../../test/sql.ts';
import { HypervisorError, type SimulatedCall, simulatorStore } from '../../drivers/hypervisor/index.ts';

const store = simulatorStore();
let failing: SimulatedCall | null = null;
let product: TestProduct;
let id: number;
let vps: string;

beforeAll(async () => {
  const failure = (call: SimulatedCall) =>
    call === failing ? new HypervisorError('disk_failed', `${call} fails`, { permanent: true }) : null;
  product = await startTestProduct({ simulator: { store, failure } });
  ({ serviceId: id } = await runningVps(product, product.customer));
  vps = `/dashboard/service/${id}/vps`;
});
afterEach(() => {
  failing = null;
});
afterAll(() => product.stop());

const machine = () => store.machines.get(`vps-${id}`);

async function act(path: string, body: unknown = {}) {
  const answer = await product.customer.post(`${vps}/${path}`, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  const { body: polled } = await until(
    () => product.customer.get(`${vps}/history/${answer.body.data.action.id}`),
    ({ body }) => ['success', 'error'].includes(body.data?.action.status),
  );
  return polled.data.action;
}

const reinstall = (change: object = {}) => act('reinstall', { os: 'debian', password, ...change });
const overview = async () => (await product.customer.get(`${vps}/overview`)).body.data.vps;
const snapshots = async () =>
  (await product.customer.get(`${vps}/snapshots`)).body.data.snapshots.map(
    (each: { name: string; state: string }) => `${each.name} ${each.state}`,
  );

describe('a reinstall that would leave the new system without its identity', () => {
  async function expectRefused(change: object, field: string): Promise<void> {
    const before = structuredClone(machine());
    const answer = await product.customer.post(`${vps}/reinstall`, { os: 'tiny', password, ...change });
    expect([answer.status, answer.body.code]).toEqual([400, 'invalid_request']);
    expect(answer.body.details).toMatchObject([{ field }]);
    expect(machine()).toEqual(before);
  }

  it('is refused for a hostname of more than 64 characters, as are settings', async () => {
    const hostname = `${'a'.repeat(60)}.test`;
    await expectRefused({ hostname }, 'hostname');
    const settings = await product.customer.patch(`${vps}/settings`, { hostname });
    expect([settings.status, settings.body.code]).toEqual([400, 'invalid_request']);
    await reinstall({ os: 'tiny', hostname: hostname.slice(1) });
    expect(machine()?.identity?.hostname).toBe(hostname.slice(1));
  });

  it('is refused for user data of more than 64 KiB, however few characters they are', async () => {
    await expectRefused({ user_data: 'ü'.repeat(32_769) }, 'user_data');
  });

  it('is refused for keys that together are longer than a seed can hold', async () => {
    await sql(
      product,
      `insert into vps_access (service_id, organization_id, ssh_key_id, name, fingerprint, public_key)
       select id, organization_id, n, 'long', n, repeat('k', 1400)
       from services, generate_series(1, 100) n where id = $1`,
      id,
    );
    await expectRefused({}, 'ssh_key_ids');
    await sql(product, 'delete from vps_access where service_id = $1', id);
  });
});

describe('a reinstall that fails', () => {
  beforeAll(() => act('snapshots', { name: 'mine' }));

  it('before the disk was touched leaves the machine running as it was', async () => {
    failing = 'ensureImage';
    const before = machine()?.startedAtMs;
    expect(await reinstall()).toMatchObject({ status: 'error', error: { code: 'disk_failed' } });
    expect(await overview()).toMatchObject({ state: 'running', os: { slug: 'tiny' } });
    expect(machine()?.startedAtMs).toBe(before);
  });

  it('to make the disk gives the machine its old system back', async () => {
    failing = 'createDisk';
    expect((await reinstall()).status).toBe('error');
    expect(await overview()).toMatchObject({ state: 'running', os: { slug: 'tiny' } });
    expect(machine()).toMatchObject({ startedAtMs: expect.any(Number), spec: { image: 'tiny' } });
    expect(await snapshots()).toEqual(['mine ready']);
  });

  it('in a repetition, after a crash that the new disk survived, tells of an error', async () => {
    const { powerOff, rebuildDisk } = product.hypervisor;
    product.hypervisor.powerOff = async (name) => {
      await powerOff(name);
      // What a try of the next step leaves that is cut off at its end.
      const { spec } = machine() ?? {};
      if (spec) await rebuildDisk({ ...spec, image: 'debian' });
      await sql(
        product,
        `update machines m set replaced_by = a.id from vps_actions a
         where a.service_id = m.service_id and a.command = 'reinstall' and a.status = 'running'`,
      );
      failing = 'createDisk';
    };
    expect((await reinstall()).status).toBe('error');
    Object.assign(product.hypervisor, { powerOff });
    failing = null;
    expect((await overview()).state).toBe('error');
    expect(machine()?.startedAtMs).toBeNull();
    expect((await reinstall({ os: 'tiny' })).status).toBe('success');
    expect((await overview()).state).toBe('running');
    await act('snapshots', { name: 'mine' });
  });

  it('once there is a new disk tells of an error, and of no snapshot that is gone', async () => {
    failing = 'writeIdentity';
    expect((await reinstall()).status).toBe('error');
    expect(await snapshots()).toEqual([]);
    expect(await overview()).toMatchObject({ state: 'error', os: { slug: 'debian' } });
    expect(machine()).toMatchObject({ startedAtMs: null, spec: { image: 'debian' } });
    failing = null;
    expect((await reinstall({ os: 'tiny' })).status).toBe('success');
    expect((await overview()).state).toBe('running');
  });
});

describe('a backup from before a reinstall', () => {
  it('comes back with the image that it starts with', async () => {
    await product.customer.patch(`${vps}/settings`, { auto_backup: { enabled: true, hour: 0 } });
    await product.periodic('vps.backups');
    const [backup] = await until(snapshots, ([first]) => first?.endsWith('ready') === true);
    await until(overview, ({ locked }) => locked === false);
    const name = backup.split(' ')[0];
    expect((await reinstall()).status).toBe('success');
    expect((await overview()).os.slug).toBe('debian');

    const restored = await act(`snapshots/${name}/restore`);
    expect(restored).toMatchObject({ status: 'success' });
    expect(await overview()).toMatchObject({ state: 'running', os: { slug: 'tiny' } });
    expect(machine()?.spec?.image).toBe('tiny');

    await sql(product, `update vps_snapshots set image = 'gone' where service_id = $1`, id);
    const before = structuredClone(machine());
    const refused = await product.customer.post(`${vps}/snapshots/${name}/restore`);
    expect([refused.status, refused.body.code]).toEqual([409, 'conflict']);
    expect(refused.body.message).toMatch(/image gone, which is no longer there/);
    expect(await snapshots()).toEqual([`${name} ready`]);
    expect(machine()).toEqual(before);
  });

  it('from a time when nobody wrote its image down leaves the machine its own', async () => {
    await sql(product, 'update vps_snapshots set image = null where service_id = $1', id);
    const [backup] = await snapshots();
    expect((await reinstall()).status).toBe('success');
    expect((await act(`snapshots/${backup.split(' ')[0]}/restore`)).status).toBe('success');
    expect((await overview()).os.slug).toBe('debian');
  });
});
