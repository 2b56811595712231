/** Websockets to a cluster: news of machines, and consoles. */
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeAll, expect, it } from 'vitest';
import type { Hypervisor, MachineEvent } from '../contract.ts';
import { certificates, driverOf, type StandIn, speaking, standIn } from './standIn.testbed.ts';

let keys: Awaited<ReturnType<typeof certificates>>;
let stand: StandIn;
let driver: Hypervisor;
beforeAll(async () => {
  keys = await certificates();
});
afterEach(async () => {
  await driver.close();
  stand.close();
});

const profile = { name: 'machine-test-1', config: { 'user.innkeeper.machine': 'test-1' }, devices: {} };
const instance = { name: 'test-1', status: 'Running', profiles: ['machine-test-1'], location: 'none' };
const refusal = () => ({ type: 'error', error_code: 400, error: 'not today' });

/** A cluster with one machine, which can be made to tell of none, and to let it end. */
async function cluster(isDeaf = false) {
  const state = { tells: true, status: 'Running' };
  const list = () =>
    state.tells ? { type: 'sync', metadata: [{ ...instance, status: state.status, state: {} }] } : refusal();
  const operation = '/1.0/operations/12345678-1234-1234-1234-123456789abc';
  const fds = { '0': 'data', control: 'control' };
  stand = await standIn(
    keys.cluster,
    speaking({
      '/1.0': {
        auth: 'trusted',
        api_extensions: ['custom_volume_iso', 'disk_io_bus_virtio_blk', 'instance_state_started_at'],
        environment: { server: 'incus', server_version: '6.0.4', server_clustered: false },
      },
      '/1.0/projects/innkeeper': { config: { 'user.innkeeper.filter': '1' } },
      ...{ '/1.0/storage-pools/local': {}, '/1.0/networks/br0': {} },
      ...{ '/1.0/profiles': [profile], '/1.0/instances': list, '/1.0/instances/test-1': instance },
      'POST /1.0/instances/test-1/console': () => ({
        type: 'async',
        operation,
        metadata: { metadata: { fds } },
      }),
    }),
    isDeaf,
  );
  stand.opens = () => true;
  driver = driverOf(keys, [stand.url]);
  const told: MachineEvent[] = [];
  driver.watch((event) => told.push(event));
  return { state, told };
}

const prepare = () => driver.prepare(() => undefined);
const open = () => stand.sockets.size;

it('news are heard once and over one line, however often the list failed beside it, and over none after the end', {
  timeout: 20_000,
}, async () => {
  const { state, told } = await cluster();
  await prepare();
  state.tells = false;
  for (const socket of stand.sockets) socket.terminate();
  await pause(4_500);
  expect(open()).toBeLessThanOrEqual(1);
  state.tells = true;
  state.status = 'Stopped';
  await expect.poll(() => told.map(({ power, cause }) => [power, cause])).toEqual([['stopped', 'lost']]);
  expect(open()).toBe(1);
  await driver.close();
  await expect.poll(open).toBe(0);
});

it('a start that fails is none: the next one learns how machines are', async () => {
  const { state, told } = await cluster();
  state.tells = false;
  await expect(prepare()).rejects.toThrow('not today');
  state.tells = true;
  await prepare();
  expect(open()).toBe(1);
  const stopped = { action: 'instance-shutdown', source: '/1.0/instances/test-1' };
  for (const socket of stand.sockets) socket.send(JSON.stringify({ type: 'lifecycle', metadata: stopped }));
  await expect.poll(() => told).toMatchObject([{ id: 'test-1', power: 'stopped', cause: 'guest' }]);
});

it('a line that says nothing any more, as when a host has lost its power, is left for another one', {
  timeout: 40_000,
}, async () => {
  const { state, told } = await cluster(true);
  await prepare();
  state.status = 'Stopped';
  await expect.poll(() => told, { timeout: 30_000 }).toMatchObject([{ id: 'test-1', power: 'stopped' }]);
});

it('a console of which half cannot be opened leaves none open', async () => {
  await cluster();
  stand.opens = (target) => target.includes('secret=data');
  await expect(driver.openConsole('test-1', 'serial')).rejects.toMatchObject({ code: 'host_not_ready' });
  await expect.poll(open).toBe(0);
});
