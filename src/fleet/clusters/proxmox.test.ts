import { afterAll, beforeAll, expect, it } from 'vitest';
import { runningVps } from '../../../test/orders.ts';
import { newCustomer, type Person } from '../../../test/people.ts';
import { startTestProduct, type TestProduct, until } from '../../../test/product.ts';
import { contents, settled, sql } from '../../../test/sql.ts';
import { tokenId, tokenSecret } from '../../drivers/hypervisor/proxmox/standIn/state.testbed.ts';
import {
  fingerprintOf,
  makeImage,
  type ProxmoxBed,
  proxmoxBed,
  reasonWithoutGuests,
} from '../../drivers/hypervisor/proxmox/testbed.ts';

/** The product beside what stands in for a Proxmox VE cluster of two nodes, over HTTPS. */
const reason = await reasonWithoutGuests();
if (reason !== null) console.warn(`Clusters of Proxmox VE are not tested: ${reason}`);
const network = 51;
let bed: ProxmoxBed;
let product: TestProduct;
let customer: Person;
let id: number;

beforeAll(async () => {
  bed = await proxmoxBed(network);
  bed.state.nodes.push({ name: 'n2', isOnline: true, bridges: ['vmbr0'] });
  await makeImage(bed.options.imagesDir, { slug: 'tiny', kind: 'build', recipe: 'tiny' });
  await makeImage(bed.options.imagesDir, { slug: 'debian', kind: 'build', recipe: 'debian-12' });
  product = await startTestProduct({
    env: {
      ...{ CLUSTER_ALLOW: '127.0.0.1', SECRET_KEY: Buffer.alloc(32, 7).toString('base64') },
      ...{ NETWORK4: `10.77.${network}.0/24`, IMAGES_DIR: bed.options.imagesDir },
    },
  });
  // Guests that stand in answer SSH on addresses of this host, which nobody may have as a pool.
  await sql(
    product,
    `update addresses set address = '127.0.0.0'::inet + (address - '10.0.0.0'::inet) where family(address) = 4`,
  );
  await sql(
    product,
    `update address_pools set network = set_masklen('127.0.0.0'::inet + (host(network)::inet - '10.0.0.0'::inet), 24)::cidr,
       gateway = '127.0.0.0'::inet + (gateway - '10.0.0.0'::inet) where family = 4`,
  );
  customer = await newCustomer(product, { creditMinor: 50_000 });
});
afterAll(async () => {
  await product?.stop();
  bed?.remove();
});

const body = (more: object = {}) => ({
  ...{ name: 'pve', engine: 'proxmox', location: 'AMS', endpoints: [bed.stand.url] },
  server_certificate: bed.options.fingerprints.join('\n'),
  credential: { token_id: tokenId, token_secret: tokenSecret },
  ...{ project: 'innkeeper', pool: 'local-lvm', files: 'files', bridge: 'vmbr0' },
  ...more,
});
const post = (more: object) => product.staff.post('/staff/clusters', body(more));
const one = async () => (await product.staff.get('/staff/clusters')).body.data.clusters[0];
const checked = () => until(one, ({ check }) => check.state !== 'checking');
const overview = async () => (await customer.get(`/dashboard/service/${id}/vps/overview`)).body.data.vps;
const settledAs = (state: string) => until(overview, (seen) => seen.state === state && !seen.locked);

it.each<[string, object, string, string]>([
  ['no storage for files', { files: undefined }, 'files', 'must be given for a cluster of proxmox'],
  [
    'numbers the wrong way round',
    { vmids: { first: 200, last: 150 } },
    'vmids.last',
    'must not be below the first',
  ],
  ['no token', { credential: {} }, 'credential.token_id', 'must be given for a cluster of proxmox'],
  [
    'what another engine wants',
    { credential: { token_id: tokenId, token_secret: tokenSecret, key: 'k' } },
    'credential.key',
    'has no meaning for a cluster of proxmox',
  ],
  [
    'a token that is none',
    { credential: { token_id: 'root', token_secret: tokenSecret } },
    'credential.token_id',
    'must look like user@realm!name',
  ],
])('a cluster with %s is refused in words', async (_what, more, field, message) => {
  const { status, body: answer } = await post(more);
  expect([status, answer.details]).toEqual([400, [{ field, message }]]);
});

it.skipIf(reason !== null)(
  'is told right by right what its token lacks, and runs nothing until it has that',
  async () => {
    const before = bed.state.grants;
    bed.state.grants = { ...before, '/pool/innkeeper': ['Pool.Audit'], '/storage/files': [] };
    expect((await post({})).status).toBe(200);
    const { check, fit } = await checked();
    expect([check.state, fit]).toEqual(['failed', false]);
    expect(check.problems).toEqual([
      expect.stringMatching(/^The token lacks VM\.Allocate, .* on \/pool\/innkeeper$/),
      'The token lacks Datastore.Allocate, Datastore.AllocateTemplate, Datastore.Audit on /storage/files',
    ]);
    bed.state.grants = before;
    await product.staff.post(`/staff/clusters/${(await one()).id}/check`);
    expect(await checked()).toMatchObject({
      check: { state: 'ok', version: '9.1.4', tested: 'tested', problems: [] },
      vmids: { first: 1_000_000, last: 1_999_999 },
      ...{ fit: true, our_fingerprint: null, token_id: tokenId, fingerprints: [expect.any(String)] },
    });
  },
);

it.skipIf(reason !== null)(
  'has nodes on which machines are ordered, stopped, started and ended',
  { timeout: 120_000 },
  async () => {
    const nodes = await until(
      async () => (await product.staff.get('/staff/nodes?sort=name')).body.data.nodes,
      (all) => all.length === 3,
    );
    expect(nodes.slice(1)).toMatchObject([
      { name: 'pve/n1', reachable: true, capacity: { cpu_cores: expect.any(Number) } },
      { name: 'pve/n2', reachable: true },
    ]);
    await product.staff.patch(`/staff/nodes/${nodes[0].id}`, { state: 'draining' });
    await until(
      async () => (await product.staff.get('/staff/images/tiny')).body.data.image,
      ({ clusters }) => clusters[0]?.state === 'ready',
    );
    ({ serviceId: id } = await runningVps(product, customer, {}, 60_000));
    const machine = bed.vm(`vps-${id}`);
    expect(machine?.vmid).toBeGreaterThanOrEqual(1_000_000);
    await settled(product);
    await customer.post(`/dashboard/service/${id}/vps/stop`);
    await settledAs('stopped');
    expect(bed.vm(`vps-${id}`)?.running).toBeNull();
    await customer.post(`/dashboard/service/${id}/vps/start`);
    await settledAs('running');
    expect(bed.stand.refusedBySchema).toEqual([]);
  },
);

it.skipIf(reason !== null)('keeps the token’s secret sealed, and shows it nowhere', async () => {
  const answers = [await product.staff.get('/staff/clusters'), await product.staff.get('/staff/audit')];
  expect(JSON.stringify(answers.map((each) => each.body))).not.toContain(tokenSecret);
  expect(JSON.stringify(await contents(product))).not.toContain(tokenSecret);
});

it.skipIf(reason !== null)(
  'whose node went away has its machines unknown, and nobody else’s',
  { timeout: 120_000 },
  async () => {
    const at = bed.vm(`vps-${id}`)?.node;
    const node = bed.state.nodes.find(({ name }) => name === at);
    if (!node) throw new Error('the machine is nowhere');
    node.isOnline = false;
    await until(overview, ({ host_silent_since }) => host_silent_since !== null, 60_000);
    const { body: seen } = await product.staff.get('/staff/nodes?sort=name');
    expect(seen.data.nodes.filter(({ reachable }: { reachable: boolean }) => !reachable)).toMatchObject([
      { name: `pve/${at}` },
    ]);
    node.isOnline = true;
    await until(overview, ({ host_silent_since }) => host_silent_since === null, 60_000);
    expect(await overview()).toMatchObject({ state: 'running' });
  },
);

it.skipIf(reason !== null)('takes another token without a word lost, and a second certificate', async () => {
  const { id: cluster, fingerprints } = await one();
  const second = fingerprintOf(
    (await import('../../../test/clusters.ts').then((all) => all.certificates())).other,
  );
  const changed = await product.staff.patch(`/staff/clusters/${cluster}`, {
    server_certificate: `${fingerprints[0]}\n${second}`,
    credential: { token_id: tokenId, token_secret: tokenSecret },
  });
  expect(changed.status).toBe(200);
  expect(await checked()).toMatchObject({
    check: { state: 'ok' },
    fingerprints: [fingerprints[0], second.replaceAll(':', '').toLowerCase()],
  });
});
