import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { watchChanges } from '../../../test/noted.ts';
import { until } from '../../../test/product.ts';
import { contents, sql } from '../../../test/sql.ts';
import { type ClusterBed, clusterBed, type NodeSeen } from './clusters.testbed.ts';

const changes = watchChanges();

let bed: ClusterBed;

beforeAll(async () => {
  bed = await clusterBed(['n1', 'n2']);
});
afterAll(() => bed.stop());

const post = (more: object) => bed.product.staff.post('/staff/clusters', bed.body(more));
const named = (name: string) => (node: NodeSeen) => node.name === name;

describe('a cluster that cannot be one', () => {
  it.each<[string, object, string]>([
    ['without TLS', { endpoints: ['http://192.0.2.1:8443'] }, 'must begin with https://'],
    ['with a path', { endpoints: ['https://192.0.2.1:8443/1.0'] }, 'must be a host and a port, nothing more'],
    ['with a password', { endpoints: ['https://a:b@192.0.2.1'] }, 'must be a host and a port, nothing more'],
    ['at no URL', { endpoints: ['n1'] }, 'must be a URL such as https://192.0.2.1:8443'],
    ['at two lines', { endpoints: ['https://a\nb:8443'] }, 'must be a URL such as https://192.0.2.1:8443'],
    ['pinned to nonsense', { server_certificate: 'abc' }, 'must be a certificate in PEM, or its SHA-256'],
    ['known by nonsense', { credential: { certificate: 'abc', key: 'abc' } }, 'must be a certificate in PEM'],
  ])('is refused in words: %s', async (_what, more, words) => {
    const { status, body } = await post(more);
    expect([status, body.code]).toEqual([400, 'invalid_request']);
    expect(body.details[0].message).toContain(words);
  });

  it('is refused with a key that is not of its certificate', async () => {
    const { ours, other } = bed.keys;
    const { body } = await post({ credential: { certificate: ours.certificate, key: other.key } });
    expect(body.details).toEqual([
      { field: 'credential.key', message: 'is not the key of this certificate' },
    ]);
    expect(await sql(bed.product, 'select id from clusters')).toEqual([]);
  });

  it.each<[string, () => string, RegExp]>([
    // Of this host only 127.0.0.1 may be a cluster's.
    ['is this host itself', () => 'https://[::1]:8443', /leads to this host itself/],
    ['presents another certificate', () => bed.stranger, /presents another certificate than the pinned one/],
    ['is not there', () => 'https://127.0.0.1:9', /nobody listens there/],
  ])('is told so by its check: it %s', async (_what, endpoint, words) => {
    const { id, check, fit } = await bed.add({ name: 'wrong', endpoints: [endpoint()] });
    expect([check.state, fit]).toEqual(['failed', false]);
    expect(check.problems[0]).toMatch(words);
    expect(bed.simulated.opened).toEqual([]);
    const { body } = await bed.product.staff.get('/staff/attention');
    expect(JSON.stringify(body)).toContain('wrong: ');
    expect((await bed.product.staff.delete(`/staff/clusters/${id}`)).status).toBe(200);
  });

  it('is told what it lacks, and runs nothing until it has that', async () => {
    bed.simulated.findings.problems = ['our certificate may not make machines in the project innkeeper'];
    const { id, check } = await bed.add();
    expect(check).toMatchObject({
      state: 'failed',
      version: '6.0.4',
      problems: bed.simulated.findings.problems,
    });
    bed.simulated.findings.problems = [];
    await bed.product.staff.post(`/staff/clusters/${id}/check`);
    expect(await bed.checked(id)).toMatchObject({ check: { state: 'ok', problems: [] }, fit: true });
  });
});

describe('a cluster', () => {
  const one = async () => (await bed.product.staff.get('/staff/clusters')).body.data.clusters[0];

  it('has each of its members become a node', { timeout: 40_000 }, async () => {
    const nodes = await bed.nodes((all) => all.length === 2);
    const { id } = await one();
    expect(nodes).toMatchObject([
      { name: 'ams1/n1', location: 'AMS', cluster_id: id, reachable: true, capacity: { cpu_cores: 8 } },
      { name: 'ams1/n2', location: 'AMS', cluster_id: id, reachable: true, memory_reserve_mib: 4_096 },
    ]);
    expect(await until(one, (now) => now.answers)).toMatchObject({ nodes: 2, machines: 0, trouble: null });
  });

  it('gets the operating systems that are on offer, and says how far each is', async () => {
    const image = await until(
      async () => (await bed.product.staff.get('/staff/images/tiny')).body.data.image,
      ({ clusters }) => clusters[0]?.state === 'ready',
    );
    expect(image.clusters).toMatchObject([{ name: 'ams1', progress: null, error: null }]);
  });

  it('is there once', async () => {
    const same = await post({ name: 'twice' });
    expect([same.status, same.body.code]).toEqual([409, 'conflict']);
    expect(same.body.message).toBe('The project innkeeper of this cluster is ams1 already');
    // Through another endpoint it is the same, by its certificate.
    expect((await post({ name: 'twice', endpoints: ['https://192.0.2.7:8443'] })).status).toBe(409);
    const name = await post({ project: 'other', endpoints: ['https://192.0.2.7:8443'] });
    expect(name.body.message).toBe('There is a cluster called ams1 already');
  });

  it('never shows the key that it lets us in with, and keeps it sealed', async () => {
    const { ours } = bed.keys;
    const secret = ours.key.split('\n')[1] ?? '';
    const answers = [
      await bed.product.staff.get('/staff/clusters'),
      await bed.product.staff.get('/staff/audit'),
    ];
    expect(JSON.stringify(answers.map(({ body }) => body))).not.toContain(secret);
    const tables = await contents(bed.product);
    expect(JSON.stringify(tables)).not.toContain(secret);
    expect(bed.simulated.opened.at(-1)?.key).toContain(secret);
  });

  it('has a member that joins, is renamed, leaves and comes back', { timeout: 60_000 }, async () => {
    const { members } = bed.simulated;
    const host = bed.simulated.members.get('n2');
    if (!host) throw new Error('there is no n2');
    members.set('n3', { ...host, address: 'https://n3:8443', cpuCores: 4 });
    const joined = (await bed.nodes((all) => all.length === 3)).find(named('ams1/n3'));
    expect(joined).toMatchObject({ capacity: { cpu_cores: 4 }, accepts_machines: true });
    members.delete('n2');
    members.set('n2b', host);
    const renamed = await bed.nodes((all) => all.some(named('ams1/n2b')));
    expect(renamed).toHaveLength(3);
    members.delete('n3');
    await bed.nodes((all) => all.length === 2);
    members.set('n3', { ...host, address: 'https://n3:8443', cpuCores: 4 });
    await bed.nodes((all) => all.some(named('ams1/n3')));
    const told = await sql<{ action: string }>(
      bed.product,
      `select action from journal where action like 'node.%'`,
    );
    const actions = told.map(({ action }) => action);
    expect(actions).toEqual(expect.arrayContaining(['node.joined', 'node.left', 'node.renamed']));
  });

  it('lets a member that joins before it has its storage keep as much for itself as any other', {
    timeout: 130_000, // longer than its three waits together, of which the one that lasts is to be named
  }, async () => {
    const { members } = bed.simulated;
    const host = members.get('n1');
    if (!host) throw new Error('there is no n1');
    const late = { ...host, address: 'https://n4:8443', hasPool: false };
    members.set('n4', late);
    const lacking = (await bed.nodes((all) => all.some(named('ams1/n4')))).find(named('ams1/n4'));
    expect(lacking).toMatchObject({ capacity: { memory_mib: 0 }, accepts_machines: false });
    late.hasPool = true;
    const nodes = await bed.nodes((all) =>
      all.some((node) => node.name === 'ams1/n4' && node.accepts_machines),
    );
    const { memory_reserve_mib, disk_reserve_gib } = nodes.find(named('ams1/n1'));
    expect(nodes.find(named('ams1/n4'))).toMatchObject({ memory_reserve_mib, disk_reserve_gib });
    members.delete('n4');
    await bed.nodes((all) => !all.some(named('ams1/n4')));
  });

  it('says of a member that is silent that it is, and of all when it is not reached', {
    timeout: 60_000,
  }, async () => {
    const member = bed.simulated.members.get('n1');
    if (!member) throw new Error('there is no n1');
    member.answers = false;
    const [silent] = await bed.nodes((all) => all.some((node) => !node.reachable));
    expect(silent.name).toBe('ams1/n1');
    member.answers = true;
    await bed.nodes((all) => all.every((node) => node.reachable));
    bed.simulated.isReachable = false;
    const lost = await until(
      async () => {
        bed.product.clock.travel(5_000);
        return one();
      },
      ({ trouble }) => trouble !== null,
    );
    expect(lost).toMatchObject({ answers: false, trouble: 'the cluster cannot be reached' });
    await bed.nodes((all) => all.every((node) => !node.reachable));
    bed.simulated.isReachable = true;
    await bed.nodes((all) => all.every((node) => node.reachable));
    expect(await one()).toMatchObject({ answers: true, trouble: null });
  });

  it('goes on as it is when it gets another name, and when what it is reached by is said once more', async () => {
    const { id, endpoints } = await one();
    const { server_certificate } = bed.body();
    const path = `/staff/clusters/${id}`;
    const renamed = await bed.product.staff.patch(path, { name: 'ams2', endpoints, server_certificate });
    expect(renamed.body.data.cluster).toMatchObject({ name: 'ams2', check: { state: 'ok' }, fit: true });
    expect((await bed.nodes(() => true)).map(({ name }) => name)).toEqual(['ams2/n1', 'ams2/n2b', 'ams2/n3']);
    await bed.product.staff.patch(path, { name: 'ams1' });
  });

  it('is driven with another key as soon as that was found to fit', { timeout: 40_000 }, async () => {
    const { id } = await one();
    const { other } = bed.keys;
    const changed = await bed.product.staff.patch(`/staff/clusters/${id}`, { credential: other });
    expect(changed.body.data.cluster).toMatchObject({ check: { state: 'checking' }, fit: false });
    expect(await bed.checked(id)).toMatchObject({ fit: true });
    const secret = other.key.split('\n')[1] ?? '';
    await until(
      async () => bed.simulated.opened,
      (all) => all.length === 1 && all[0]?.key.includes(secret) === true,
    );
  });

  it('is driven again by itself when it could not be reached as it was changed', {
    timeout: 40_000,
  }, async () => {
    const { id } = await one();
    bed.simulated.findings.problems = ['it cannot be reached for a moment'];
    await bed.product.staff.patch(`/staff/clusters/${id}`, { credential: bed.keys.ours });
    expect(await bed.checked(id)).toMatchObject({ fit: false, check: { state: 'failed' } });
    const told = async () =>
      (await sql(bed.product, `select id from journal where action = 'cluster.checked'`)).length;
    const before = await told();
    const { checked_at: first } = (await bed.read(id)).check;
    const again = async () => {
      bed.product.clock.travel(1_000);
      await bed.product.periodic('fleet.checkClusters');
      return bed.read(id);
    };
    await until(again, ({ check }) => check.checked_at !== first);
    expect(await told(), 'what is known is not told once more').toBe(before);
    bed.simulated.findings.problems = [];
    await until(again, ({ fit }) => fit);
    expect(await bed.read(id)).toMatchObject({ check: { state: 'ok', problems: [] } });
    expect(await told()).toBe(before + 1);
  });

  it('is looked at by itself every hour, and says that it is another version or lacks something, while it goes on', {
    timeout: 40_000,
  }, async () => {
    const { id } = await one();
    const told = async () =>
      sql<{ data: object }>(
        bed.product,
        `select data from journal where action = 'cluster.checked' order by id desc`,
      );
    const before = (await told()).length;
    const { checked_at: first } = (await bed.read(id)).check;
    const hourLater = async (minutes: number) => {
      bed.product.clock.travel(minutes * 60_000);
      await bed.product.periodic('fleet.checkClusters');
    };
    const looked = (since: string) =>
      until(
        () => bed.read(id),
        ({ check }) => check.checked_at !== since,
      );
    await hourLater(30);
    const waiting = await sql(
      bed.product,
      `select id from jobs where name = 'fleet.checkCluster' and finished_at is null`,
    );
    expect(waiting, 'half an hour is not long').toEqual([]);
    await hourLater(31);
    const { check: second } = await looked(first);
    expect((await told()).length, 'all is as it was').toBe(before);

    bed.simulated.findings.version = '6.23';
    await hourLater(61);
    await looked(second.checked_at);
    expect(await told()).toHaveLength(before + 1);
    expect((await told())[0]?.data).toMatchObject({ version: '6.23', problems: [] });

    bed.simulated.findings.problems = ['our certificate may not make machines in the project innkeeper'];
    const { check: third } = await bed.read(id);
    await hourLater(61);
    expect(await looked(third.checked_at)).toMatchObject({ fit: true, check: { state: 'failed' } });
    bed.simulated.findings.problems = [];
    const { check: fourth } = await bed.read(id);
    await hourLater(2);
    expect(await looked(fourth.checked_at)).toMatchObject({ fit: true, check: { state: 'ok' } });
  });

  it('is removed with its nodes, and leaves what it has', { timeout: 20_000 }, async () => {
    const { id } = await one();
    expect((await bed.product.staff.delete(`/staff/clusters/${id}`)).status).toBe(200);
    expect(await bed.nodes(() => true)).toEqual([]);
    await until(
      async () => bed.simulated.opened,
      (all) => all.length === 0,
    );
  });
});

describe('a change', () =>
  changes.leaveEntries(() => bed.product, ['addCluster', 'changeCluster', 'checkCluster', 'removeCluster']));
