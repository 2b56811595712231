import { X509Certificate } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { incusCluster } from './driver.ts';
import { certificates, driverOf, optionsOf, type StandIn, speaking, standIn } from './standIn.testbed.ts';

const gib = 2 ** 30;

let keys: Awaited<ReturnType<typeof certificates>>;
let stands: StandIn[] = [];
let close: () => Promise<void> = async () => undefined;

beforeAll(async () => {
  keys = await certificates();
});
afterEach(async () => {
  await close();
  for (const stand of stands) stand.close();
  stands = [];
});

interface Playing {
  /** What the pool is made of. */
  pool?: string;
  /** Whether what a member says of its own address leads to it. */
  isReached?: boolean;
  /** What is answered otherwise, by path. */
  instead?: Record<string, unknown>;
}

const refusal = (error_code: number, error: string) => () => ({ type: 'error', error_code, error });

const counted = (name: string, bytes: number) =>
  `incus_disk_read_bytes_total{device="root",name="${name}",project="innkeeper",type="virtual-machine"} ${bytes}\n`;

/** Two members that answer with one certificate, each counting its own machine alone. Returns where the first one is: the only endpoint. */
async function twoMembers({ pool = 'dir', isReached = true, instead = {} }: Playing = {}): Promise<string> {
  const members = ['n1', 'n2'].map((server_name) => ({
    server_name,
    status: 'Online',
    message: '',
    url: '',
  }));
  const machine = (name: string, location: string) => {
    const state = { status: 'Running', started_at: '2026-01-02T03:04:05Z' };
    return {
      name,
      status: 'Running',
      profiles: [`machine-${name}`],
      config: {},
      devices: {},
      location,
      state,
    };
  };
  const profile = (name: string) => ({
    ...{ name: `machine-${name}`, devices: {} },
    config: { 'user.innkeeper.machine': name },
  });
  for (const [nth, name] of ['n1', 'n2'].entries()) {
    const kinds = [
      { name: 'dir', version: '1', remote: false },
      { name: 'ceph', version: '17', remote: true },
    ];
    const environment = {
      ...{ server: 'incus', server_version: '6.0.4', server_clustered: true, server_name: name },
      storage_supported_drivers: kinds,
    };
    const extensions = ['custom_volume_iso', 'disk_io_bus_virtio_blk', 'instance_state_started_at'];
    const own = {
      'features.profiles': 'true',
      'features.images': 'true',
      'features.storage.volumes': 'true',
    };
    const answer = speaking({
      '/1.0': { auth: 'trusted', api_extensions: extensions, environment },
      '/1.0/cluster/members': members,
      '/1.0/projects/innkeeper': { config: { ...own, 'user.innkeeper.filter': '1' } },
      '/1.0/storage-pools/local': { driver: pool },
      '/1.0/storage-pools/local/resources': { space: { total: 90 * gib } },
      '/1.0/networks/br0': {},
      '/1.0/resources': { cpu: { total: 8 }, memory: { total: 16 * gib } },
      '/1.0/profiles': [profile('test-1'), profile('test-2')],
      'POST /1.0/profiles': {},
      'DELETE /1.0/profiles/innkeeper-probe': {},
      '/1.0/instances': [machine('test-1', 'n1'), machine('test-2', 'n2')],
      ...instead,
    });
    const stand = await standIn(keys.cluster, (request, response) => {
      if (!request.url?.startsWith('/1.0/metrics') || '/1.0/metrics' in instead)
        return answer(request, response);
      response.end(counted(`test-${nth + 1}`, 4_096 * (nth + 1)));
    });
    stands.push(stand);
    // Nobody listens at the port 9 of this host.
    const [member] = members.filter(({ server_name }) => server_name === name);
    if (member) member.url = isReached || nth === 0 ? stand.url : 'https://127.0.0.1:9';
  }
  return stands[0]?.url ?? '';
}

async function machinesCounted(endpoint: string): Promise<string[]> {
  const driver = driverOf(keys, [endpoint]);
  close = () => driver.close();
  return (await driver.sample()).map(({ id, diskReadBytes }) => `${id} ${diskReadBytes}`);
}

async function cluster(endpoint: string) {
  const opened = incusCluster(optionsOf(keys, [endpoint]));
  close = () => opened.close();
  return opened;
}

describe('a member that no endpoint was named of', () => {
  it('is asked for what its machines use at the address that it has among members', async () => {
    expect(await machinesCounted(await twoMembers())).toEqual(['test-1 4096', 'test-2 8192']);
    expect((await (await cluster(stands[0]?.url ?? '')).look()).notes).toEqual([]);
  });

  it('is told of where that address leads nowhere, and the others are counted', async () => {
    const endpoint = await twoMembers({ isReached: false });
    expect(await machinesCounted(endpoint)).toEqual(['test-1 4096']);
    const { problems, notes } = await (await cluster(endpoint)).look();
    expect(problems).toEqual([]);
    expect(notes).toEqual([
      expect.stringMatching(
        /^n2 itself is not reached from here \(https:\/\/127\.0\.0\.1:9\): its machines have no charts/,
      ),
    ]);
  });
});

it('a member that knows ZFS tells of no memory that nobody uses: its cache counts as used, and gives way', async () => {
  const kinds = [{ name: 'zfs', version: '2', remote: false }];
  const environment = {
    ...{ server: 'incus', server_version: '6.0.4', server_clustered: true, server_name: 'n1' },
    storage_supported_drivers: kinds,
  };
  const extensions = ['custom_volume_iso', 'disk_io_bus_virtio_blk', 'instance_state_started_at'];
  const endpoint = await twoMembers({
    instead: { '/1.0': { auth: 'trusted', api_extensions: extensions, environment } },
  });
  const [first] = await (await cluster(endpoint)).nodes();
  expect(first?.free).toEqual({ memoryMib: null, diskGib: 90 });
});

it('a member tells what nobody uses of it', async () => {
  const endpoint = await twoMembers({
    instead: {
      '/1.0/resources': { cpu: { total: 8 }, memory: { total: 16 * gib, used: 12 * gib } },
      '/1.0/storage-pools/local/resources': { space: { total: 90 * gib, used: 91 * gib } },
    },
  });
  const nodes = await (await cluster(endpoint)).nodes();
  expect(nodes.map(({ free }) => free)).toEqual([
    { memoryMib: 4_096, diskGib: 0 },
    { memoryMib: 4_096, diskGib: 0 },
  ]);
});

describe('the pool of a cluster', () => {
  const roomOf = async (pool: string) =>
    (await (await cluster(await twoMembers({ pool }))).nodes()).map(({ capacity }) => capacity?.diskGib);

  it('is a member’s own where it lies on its disks', async () => {
    expect(await roomOf('dir')).toEqual([90, 90]);
  });

  it('is promised once where members share it', async () => {
    expect(await roomOf('ceph')).toEqual([45, 45]);
    const driver = driverOf(keys, [stands[0]?.url ?? '']);
    expect((await driver.capacity()).diskGib).toBe(90);
    await driver.close();
  });
});

describe('a look at a cluster', () => {
  const target = (request: { url?: string }) =>
    new URL(request.url ?? '', 'https://n1').searchParams.get('target');
  const onlyOnFirst = (request: { url?: string }) =>
    target(request) === 'n2' ? refusal(404, 'not found')() : { type: 'sync', metadata: { driver: 'dir' } };
  const rented = {
    name: 'web',
    status: 'Running',
    profiles: ['default'],
    config: {},
    devices: {},
    location: 'n1',
  };

  it.each<[string, Record<string, unknown>, RegExp]>([
    [
      'we may not see what members have',
      { '/1.0/resources': refusal(403, 'not authorized') },
      /may not see what members have \(resources\): .*not authorized/,
    ],
    [
      'we may not see what machines use',
      { '/1.0/metrics': refusal(403, 'not authorized') },
      /may not see what machines use \(metrics\): .*not authorized/,
    ],
    [
      'we may not make machines',
      { 'POST /1.0/profiles': refusal(403, 'not authorized') },
      /may not make machines in the project innkeeper: .*not authorized/,
    ],
    [
      'the project does not allow what machines are made with',
      { 'POST /1.0/profiles': refusal(400, 'Invalid value "false" for config "security.secureboot"') },
      /may not make machines in the project innkeeper: .*security\.secureboot/,
    ],
    [
      'our certificate is kept to projects',
      { '/1.0/certificates': { restricted: true } },
      /restricted there, so we are not told why a machine went down/,
    ],
    [
      'others run machines in the project',
      { '/1.0/instances': [rented] },
      /the project innkeeper is not ours alone: it has web/,
    ],
    [
      'the project shares its images with others',
      {
        '/1.0/projects/innkeeper': {
          config: {
            ...{ 'features.profiles': 'true', 'features.storage.volumes': 'true' },
            ...{ 'features.images': 'false', 'user.innkeeper.filter': '1' },
          },
        },
      },
      /keeps no things of its own: set features\.images to true/,
    ],
    [
      'one member has no such pool',
      { '/1.0/storage-pools/local': onlyOnFirst },
      /^There is no storage pool local on n2$/,
    ],
    ['one member has no such bridge', { '/1.0/networks/br0': onlyOnFirst }, /^There is no bridge br0 on n2$/],
  ])('says that %s', async (_what, instead, words) => {
    const fingerprint = new X509Certificate(keys.ours.certificate).fingerprint256;
    const own = `/1.0/certificates/${fingerprint.replaceAll(':', '').toLowerCase()}`;
    const { '/1.0/certificates': certificate, ...others } = instead;
    const endpoint = await twoMembers({ instead: certificate ? { [own]: certificate } : others });
    expect((await (await cluster(endpoint)).look()).problems).toEqual([expect.stringMatching(words)]);
  });

  it('keeps a member that lacks the pool from taking machines, and no other one', async () => {
    const endpoint = await twoMembers({ instead: { '/1.0/storage-pools/local': onlyOnFirst } });
    const nodes = await (await cluster(endpoint)).nodes();
    expect(nodes.map(({ troubles, capacity }) => [troubles, capacity?.diskGib])).toEqual([
      [[], 90],
      [['There is no storage pool local on n2'], undefined],
    ]);
  });
});
