import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Hypervisor } from '../contract.ts';
import { smallMachine } from '../simulator/testbed.ts';
import {
  type Answering,
  certificates,
  driverOf,
  type StandIn,
  speaking,
  standIn,
} from './standIn.testbed.ts';

let keys: Awaited<ReturnType<typeof certificates>>;
let stands: StandIn[] = [];
let driver: Hypervisor | null = null;

beforeAll(async () => {
  keys = await certificates();
});
afterEach(async () => {
  await driver?.close();
  for (const stand of stands) stand.close();
  stands = [];
});

const server = {
  auth: 'trusted',
  api_extensions: ['custom_volume_iso', 'disk_io_bus_virtio_blk', 'instance_state_started_at'],
  environment: { server: 'incus', server_version: '6.0.4', server_clustered: false },
};
const wellKept = {
  '/1.0': server,
  '/1.0/projects/innkeeper': { config: { 'user.innkeeper.filter': '1' } },
  '/1.0/storage-pools/local': {},
  '/1.0/networks/br0': {},
};

async function cluster(answer: Answering, identity: 'cluster' | 'other' = 'cluster'): Promise<StandIn> {
  const stand = await standIn(keys[identity], answer);
  stands.push(stand);
  return stand;
}

/** What `work` fails with at a cluster that answers so. */
async function failureAt(
  answer: Answering,
  work = (at: Hypervisor): Promise<unknown> => at.prepare(() => undefined),
): Promise<unknown> {
  const stand = await cluster(answer);
  driver = driverOf(keys, [stand.url]);
  return work(driver).catch((error: unknown) => error);
}

const notNow = (message: RegExp) =>
  expect.objectContaining({
    code: 'host_not_ready',
    permanent: false,
    message: expect.stringMatching(message),
  });

describe('where a cluster should be', () => {
  it('somebody with another certificate is told nothing', async () => {
    const stand = await cluster(speaking(wellKept), 'other');
    driver = driverOf(keys, [stand.url]);
    await expect(driver.prepare(() => undefined)).rejects.toEqual(notNow(/cannot be reached/));
    expect(stand.asked).toEqual([]);
  });

  it.each(['http://192.0.2.1:8443', 'https://a:b@192.0.2.1', 'https://192.0.2.1/path', 'nonsense', ''])(
    'the endpoint %j is refused before anything is sent',
    (endpoint) => {
      expect(() => driverOf(keys, [endpoint])).toThrow(/an endpoint is/);
    },
  );

  it.each<[string, Answering, RegExp]>([
    ['HTML', (_, response) => response.setHeader('content-type', 'text/html').end('<p>Works!'), /no Incus/],
    ['half a JSON', json('{"type":"sync","meta'), /no JSON/],
    ['a number', json('7'), /no object/],
    ['another shape', json('{"type":"sync","metadata":[]}'), /is no object/],
    [
      'an operation of another kind',
      json('{"type":"async","operation":"/2.0/x","metadata":{}}'),
      /operation/,
    ],
    ['an error without a code', json('{"type":"error","error":7}'), /without a code/],
    ['an answer that breaks off', brokenOff, /broke off/],
    [
      'another place',
      (_, response) => response.writeHead(302, { location: '/elsewhere' }).end(),
      /elsewhere/,
    ],
  ])('what answers with %s is not taken for one', async (_what, answer, message) => {
    expect(await failureAt(answer)).toEqual(notNow(message));
    expect(stands[0]?.asked).not.toContain('GET /elsewhere');
  });

  it('an answer without an end is not read to its end', { timeout: 30_000 }, async () => {
    let sent = 0;
    const endless: Answering = (_, response) => {
      response.setHeader('content-type', 'application/json');
      const part = Buffer.alloc(2 ** 20, ' ');
      const more = () => {
        while (!response.destroyed && response.write(part)) sent += part.length;
      };
      response.on('drain', more);
      more();
    };
    expect(await failureAt(endless)).toEqual(notNow(/more than|in time/));
    expect(sent).toBeLessThan(2 ** 28);
  });

  it('silence lasts five seconds at most', { timeout: 20_000 }, async () => {
    const began = Date.now();
    expect(await failureAt(() => undefined)).toEqual(notNow(/in time/));
    expect(Date.now() - began).toBeLessThan(6_500);
  });

  it('one endpoint of several is enough', async () => {
    const dead = await cluster(speaking(wellKept));
    dead.close();
    const stand = await cluster(speaking(wellKept));
    driver = driverOf(keys, [dead.url, stand.url]);
    expect(await driver.troubles()).toEqual([]);
    expect(stand.asked).toEqual(['GET /1.0']);
  });
});

describe('a cluster that is not fit', () => {
  it.each<[string, Record<string, unknown>, RegExp]>([
    ['does not know us', { '/1.0': { ...server, auth: 'untrusted' } }, /does not know our certificate/],
    ['is of another kind', { '/1.0': { ...server, environment: { server: 'lxd' } } }, /no Incus: lxd/],
    [
      'is too old',
      { '/1.0': { ...server, api_extensions: [] } },
      /6\.0\.4 is too old: it lacks custom_volume_iso/,
    ],
    ['has no project', { '/1.0/projects/innkeeper': undefined }, /no project innkeeper/],
    [
      'has members that do not filter',
      { '/1.0/projects/innkeeper': { config: {} } },
      /DHCP server.*incus-filter\.nft on every member, then set user\.innkeeper\.filter=1 on the project innkeeper/,
    ],
    [
      'has members that filter by rules of another version',
      { '/1.0/projects/innkeeper': { config: { 'user.innkeeper.filter': '0' } } },
      /incus-filter\.nft on every member/,
    ],
    ['has no pool', { '/1.0/storage-pools/local': undefined }, /no storage pool local/],
    ['has no bridge', { '/1.0/networks/br0': undefined }, /no bridge br0/],
    [
      'lets us see nothing',
      { '/1.0/projects/innkeeper': () => ({ type: 'error', error_code: 403, error: 'not authorized' }) },
      /does not let us: not authorized/,
    ],
  ])('says so when it %s', async (_what, other, message) => {
    expect(await failureAt(speaking({ ...wellKept, ...other }))).toEqual(notNow(message));
  });

  it('is told apart from one whose version was not tested, which is said in the log', async () => {
    const warned: object[] = [];
    const newer = { ...server, environment: { ...server.environment, server_version: '7.1' } };
    const stand = await cluster(speaking({ ...wellKept, '/1.0': newer }));
    const log = {
      info: () => undefined,
      warn: (facts: object) => warned.push(facts),
      error: () => undefined,
    };
    driver = driverOf(keys, [stand.url], { log });
    // The stand-in has no events to listen to.
    await expect(driver.prepare(() => undefined)).rejects.toEqual(notNow(/refuses a connection/));
    expect(warned).toContainEqual({ version: '7.1' });
  });
});

describe('what is not ours in a cluster', () => {
  const theirs = { name: 'test-1', status: 'Running', config: {}, profiles: ['default'], location: 'none' };
  const paths = {
    '/1.0/instances': [theirs, { ...theirs, name: 'web' }],
    '/1.0/profiles': [
      { name: 'default', config: {} },
      { name: 'machine-web', config: {} },
    ],
    '/1.0/instances/test-1': theirs,
    '/1.0/operations': {},
  };

  it('is neither listed nor taken away', async () => {
    const stand = await cluster(speaking(paths));
    driver = driverOf(keys, [stand.url]);
    expect(await driver.list()).toEqual([]);
    await driver.destroy('test-1');
    expect(stand.asked.filter((each) => !each.startsWith('GET '))).toEqual([]);
  });

  it('is not used for a machine of ours of the same name', async () => {
    const stand = await cluster(speaking(paths));
    driver = driverOf(keys, [stand.url]);
    const refused = expect.objectContaining({ code: 'disk_failed', permanent: true });
    await expect(driver.start(smallMachine(1))).rejects.toEqual(refused);
    await expect(driver.powerOff('test-1')).rejects.toEqual(refused);
    expect(stand.asked.filter((each) => !each.startsWith('GET '))).toEqual([]);
  });
});

it('notes of ours that somebody has cut short are a failure of the host', async () => {
  const config = { 'user.innkeeper.machine': 'test-1', 'user.innkeeper.identity': '{"hostname":"a' };
  const paths = {
    '/1.0/profiles/machine-test-1': { name: 'machine-test-1', config, devices: {} },
    '/1.0/images': [
      { fingerprint: 'a', properties: { 'innkeeper.slug': 'tiny', 'innkeeper.description': '{' } },
    ],
  };
  expect(await failureAt(speaking(paths), (at) => at.inspect('test-1'))).toEqual(
    notNow(/identity is no JSON/),
  );
  expect(await failureAt(speaking(paths), (at) => at.createDisk(smallMachine(1)))).toEqual(
    notNow(/description of an image is no JSON/),
  );
});

describe('a cluster of which a member is away', () => {
  const host = { cpu: { total: 8 }, memory: { total: 16 * 2 ** 30 } };
  const pool = '/1.0/storage-pools/local/resources';
  const members = (status: string) =>
    ['n1', 'n2'].map((server_name) => ({ server_name, status, message: '' }));
  const atSecond = (request: { url?: string }) => request.url?.includes('target=n2') === true;
  const away = () => ({ type: 'error', error_code: 503, error: 'no route to host' });
  const paths = (second: string, answersOne = true) => ({
    '/1.0': { ...server, environment: { ...server.environment, server_clustered: true } },
    '/1.0/cluster/members': [members('Online')[0], members(second)[1]],
    '/1.0/resources': (request: { url?: string }) =>
      atSecond(request) || !answersOne ? away() : { type: 'sync', metadata: host },
    [pool]: { space: { total: 100 * 2 ** 30 } },
  });
  const capacity = (at: Hypervisor) => at.capacity();

  it.each(['Offline', 'Online'])(
    'has what the others have, however it is called: %s',
    { timeout: 20_000 },
    async (second) => {
      expect(await failureAt(speaking(paths(second)), capacity)).toMatchObject({
        ...{ cpuCores: 8, memoryMib: 16_384, diskGib: 100 },
      });
    },
  );

  it('is not one of nothing where none answers', { timeout: 20_000 }, async () => {
    expect(await failureAt(speaking(paths('Offline', false)), capacity)).toEqual(notNow(/no route to host/));
  });
});

describe('a machine whose member is silent', () => {
  const ours = { name: 'test-1', status: 'Error', profiles: ['machine-test-1'], location: 'n2' };
  const profile = { name: 'machine-test-1', config: { 'user.innkeeper.machine': 'test-1' }, devices: {} };
  const failed = () => ({ type: 'error', error_code: 503, error: 'no route to host' });
  const paths = {
    // As 6.0.4 tells of it: everything is empty but its name, its state and where it is.
    '/1.0/instances': [{ ...ours, profiles: null, config: null, devices: null, state: null }],
    '/1.0/profiles': [profile],
    '/1.0/profiles/machine-test-1': profile,
    '/1.0/instances/test-1': failed,
  };
  const unknown = { id: 'test-1', power: 'unknown', startedAt: null, node: 'n2' };

  it('is unknown, neither absent nor stopped', { timeout: 20_000 }, async () => {
    driver = driverOf(keys, [(await cluster(speaking(paths))).url]);
    expect(await driver.list()).toEqual([unknown]);
    expect(await driver.inspect('test-1')).toEqual(unknown);
  });

  it('is never taken for one that was stopped', { timeout: 20_000 }, async () => {
    const nothingMore = { type: 'sync', metadata: { ...ours, state: null } };
    const refuses = () => ({ type: 'error', error_code: 400, error: 'The instance is not running' });
    const own = { 'user.innkeeper.whole': 'yes', 'user.innkeeper.seed': 'test-1.seed.a' };
    const there = {
      ...paths,
      ...{
        '/1.0/operations': {},
        '/1.0/images': [{ properties: { 'innkeeper.slug': 'tiny' }, fingerprint: 'a' }],
      },
      '/1.0/profiles/machine-test-1': { ...profile, config: { ...profile.config, ...own } },
      '/1.0/instances/test-1': () => nothingMore,
      'PUT /1.0/instances/test-1/state': refuses,
    };
    driver = driverOf(keys, [(await cluster(speaking(there))).url]);
    const unsure = notNow(/its member does not answer/);
    await expect(driver.powerOff('test-1')).rejects.toEqual(unsure);
    await expect(driver.shutdown('test-1', aSecond())).rejects.toEqual(unsure);
    await expect(driver.restoreSnapshot('test-1', 'one')).rejects.toEqual(unsure);
    await expect(driver.rebuildDisk(smallMachine(1))).rejects.toEqual(unsure);
    await expect(driver.resize(smallMachine(1))).rejects.toEqual(unsure);
    await expect(driver.start(smallMachine(1))).rejects.toEqual(unsure);
  });

  it('is told apart from one that hangs', async () => {
    const state = { status: 'Error', started_at: '2026-01-02T03:04:05Z' };
    const there = { ...paths, '/1.0/instances': [{ ...ours, state }] };
    driver = driverOf(keys, [(await cluster(speaking(there))).url]);
    expect(await driver.list()).toMatchObject([{ id: 'test-1', power: 'running', hangs: true }]);
  });
});

describe('an operation', () => {
  const id = '/1.0/operations/12345678-1234-1234-1234-123456789abc';
  const begun = () => ({ type: 'async', operation: id, metadata: {} });
  const profile = { name: 'machine-test-1', config: { 'user.innkeeper.machine': 'test-1' }, devices: {} };
  const ours = { name: 'test-1', status: 'Running', profiles: ['machine-test-1'], location: 'none' };
  const around = (wait: unknown, status = 'Running') => ({
    '/1.0/profiles/machine-test-1': profile,
    '/1.0/instances/test-1': () => ({ type: 'sync', metadata: { ...ours, status } }),
    'PUT /1.0/instances/test-1/state': begun,
    [`${id}/wait`]: wait,
  });
  const off = (at: Hypervisor) => at.powerOff('test-1');

  it('has ended when it says so, however often it says that it is running', async () => {
    let asked = 0;
    let status = 'Running';
    const wait = () => {
      asked += 1;
      if (asked === 4) status = 'Stopped';
      return { type: 'sync', metadata: { status_code: asked < 4 ? 103 : 200, err: '', metadata: null } };
    };
    const paths = {
      ...around(wait),
      '/1.0/instances/test-1': () => ({ type: 'sync', metadata: { ...ours, status } }),
    };
    expect(await failureAt(speaking(paths), off)).toBeUndefined();
    expect(asked).toBe(4);
  });

  it('that nobody knows any more is judged by its object', async () => {
    expect(await failureAt(speaking(around(undefined)), off)).toEqual(notNow(/test-1 still runs/));
    let status = 'Running';
    const paths = {
      ...around(undefined),
      '/1.0/instances/test-1': () => ({ type: 'sync', metadata: { ...ours, status } }),
      'PUT /1.0/instances/test-1/state': () => {
        status = 'Stopped';
        return begun();
      },
    };
    expect(await failureAt(speaking(paths), off)).toBeUndefined();
  });

  it('that fails is no failure where the machine is as it should be', async () => {
    let status = 'Running';
    const paths = {
      ...around(() => {
        status = 'Stopped';
        return { type: 'sync', metadata: { status_code: 400, err: 'The instance is already stopped' } };
      }),
      '/1.0/instances/test-1': () => ({ type: 'sync', metadata: { ...ours, status } }),
    };
    expect(await failureAt(speaking(paths), off)).toBeUndefined();
  });

  it('that fails says why where it is not', async () => {
    const wait = { status_code: 400, err: 'The disk is on fire' };
    expect(await failureAt(speaking(around(wait)), off)).toEqual(notNow(/The disk is on fire/));
  });
});

const aSecond = () => ({ timeoutMs: 1_000, signal: AbortSignal.timeout(1_000) });

function json(text: string): Answering {
  return (_, response) => response.setHeader('content-type', 'application/json').end(text);
}

function brokenOff(...[request, response]: Parameters<Answering>): void {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' }).write('{');
  setImmediate(() => request.socket.destroy());
}
