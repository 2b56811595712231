/** A guest's secrets in a cluster that fails in the middle. */
import type { IncomingMessage } from 'node:http';
import { afterEach, beforeAll, expect, it } from 'vitest';
import type { Hypervisor } from '../contract.ts';
import { smallMachine } from '../simulator/testbed.ts';
import { type Answering, certificates, driverOf, type StandIn, standIn } from './standIn.testbed.ts';

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

const volumes = '/1.0/storage-pools/local/volumes/custom';

/** As much of a cluster as keeps profiles and volumes. `fails` says which requests it refuses, `GET /1.0`. */
function keeping(kept: Map<string, object>, fails: (asked: string) => boolean): Answering {
  return async (request, response) => {
    const path = request.url?.split('?')[0] ?? '';
    const answer = (status: number, metadata: unknown) => {
      response.writeHead(status, { 'content-type': 'application/json' });
      const refused = { type: 'error', error_code: status, error: 'refused' };
      response.end(JSON.stringify(status === 200 ? { type: 'sync', metadata } : refused));
    };
    const body = await bodyOf(request);
    if (fails(`${request.method} ${path}`)) return answer(400, null);
    const below = [...kept].filter(([at]) => at.startsWith(`${path}/`));
    if (request.method === 'POST') {
      const name = request.headers['x-incus-name'] ?? JSON.parse(body).name;
      kept.set(`${path}/${name}`, path === volumes ? { name } : JSON.parse(body));
    } else if (request.method === 'PUT') kept.set(path, { ...kept.get(path), ...JSON.parse(body) });
    else if (request.method === 'DELETE') kept.delete(path);
    else if (path === '/1.0/operations') return answer(200, {});
    else if (!kept.has(path) && below.length === 0) return answer(404, null);
    else return answer(200, kept.get(path) ?? below.map(([, each]) => each));
    answer(200, {});
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString('latin1');
}

const spec = smallMachine(1);
const identity = {
  hostname: 'test-1',
  nameservers: ['9.9.9.9'],
  passwordHash: '$6$salt$aVeryOwnHash',
  authorizedKeys: [],
  userData: null,
};

async function machineWithSecrets() {
  const own = { 'user.innkeeper.machine': spec.id, 'user.innkeeper.whole': 'yes' };
  const description = { slug: spec.image, boot: null, guest: 'cloud-init' };
  const properties = { 'innkeeper.slug': spec.image, 'innkeeper.description': JSON.stringify(description) };
  const kept = new Map<string, object>([
    [`/1.0/profiles/machine-${spec.id}`, { name: `machine-${spec.id}`, config: own, devices: {} }],
    [
      `/1.0/instances/${spec.id}`,
      { name: spec.id, status: 'Stopped', profiles: [`machine-${spec.id}`], location: 'none' },
    ],
    ['/1.0/images/a', { fingerprint: 'a', properties }],
  ]);
  const state = { kept, fails: (_asked: string): boolean => false };
  stand = await standIn(
    keys.cluster,
    keeping(kept, (asked) => state.fails(asked)),
  );
  driver = driverOf(keys, [stand.url]);
  await driver.writeIdentity(spec, identity);
  return state;
}

const secretsIn = (kept: Map<string, object>) =>
  [...kept].filter(([at, each]) => at.includes('.secret.') || JSON.stringify(each).includes('aVeryOwnHash'));

it.each(['DELETE /1.0/storage-pools', 'DELETE /1.0/profiles', `GET ${volumes}`, 'POST ', 'PUT '])(
  'are forgotten by the next try, where %s… failed in the first one',
  async (refused) => {
    const state = await machineWithSecrets();
    expect(secretsIn(state.kept).length).toBeGreaterThan(0);
    state.fails = (asked) => asked.startsWith(refused);
    await expect(driver.forgetSecrets(spec.id)).rejects.toThrow('refused');
    state.fails = () => false;
    await driver.forgetSecrets(spec.id);
    expect(secretsIn(state.kept)).toEqual([]);
    // What it reads from now on is there.
    const profile = JSON.stringify(state.kept.get(`/1.0/profiles/machine-${spec.id}`));
    const [, seed = ''] = /"user\.innkeeper\.seed":"([^"]+)"/.exec(profile) ?? [];
    expect(state.kept.has(`${volumes}/${seed}`)).toBe(true);
  },
);
