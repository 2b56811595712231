import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Hypervisor } from '../contract.ts';
import { type Answering, certificates, standIn } from '../incus/standIn.testbed.ts';
import { proxmoxClient } from './client.ts';
import { checkOptions, type ProxmoxOptions } from './options.ts';
import { fingerprintOf, type ProxmoxBed, proxmoxBed } from './testbed.ts';

let keys: Awaited<ReturnType<typeof certificates>>;
let bed: ProxmoxBed;
let closing: (() => unknown)[] = [];

beforeAll(async () => {
  keys = await certificates();
});
afterEach(async () => {
  for (const close of closing.reverse()) await close();
  closing = [];
});

/** A stand-in that is changed before a driver looks at it. */
async function cluster(change: (bed: ProxmoxBed) => void = () => undefined): Promise<ProxmoxBed> {
  bed = await proxmoxBed(43);
  closing.push(bed.remove);
  change(bed);
  return bed;
}

function open(more: Partial<ProxmoxOptions> = {}): Hypervisor {
  const driver = bed.open(more);
  closing.push(() => driver.close());
  return driver;
}

/** What `work` fails with at somebody who answers so. */
async function failureAt(
  answer: Answering,
  work = (at: Hypervisor): Promise<unknown> => at.prepare(() => undefined),
) {
  await cluster();
  const stand = await standIn(keys.cluster, answer);
  closing.push(stand.close);
  const driver = open({ endpoints: [stand.url], fingerprints: [fingerprintOf(keys.cluster)] });
  const failure = await work(driver).catch((error: unknown) => error);
  return { failure, asked: stand.asked };
}

const notNow = (message: RegExp) =>
  expect.objectContaining({
    code: 'host_not_ready',
    permanent: false,
    message: expect.stringMatching(message),
  });
const prepared = (driver: Hypervisor) => driver.prepare(() => undefined);

describe('where a cluster should be', () => {
  it('somebody with another certificate is told nothing, neither by a call nor by a console', async () => {
    await cluster();
    const driver = open({ fingerprints: [fingerprintOf(keys.other)] });
    const stranger = notNow(/cannot be reached.*another certificate/);
    await expect(prepared(driver)).rejects.toEqual(stranger);
    const client = proxmoxClient({ ...bed.options, fingerprints: [fingerprintOf(keys.other)] });
    await expect(client.socket('/nodes/n1/qemu/100/vncwebsocket', { port: 5_900 })).rejects.toEqual(stranger);
    expect(bed.stand.asked).toEqual([]);
  });

  it('each node may have a certificate of its own', async () => {
    await cluster();
    const both = [fingerprintOf(keys.other).replaceAll(':', '').toLowerCase(), ...bed.options.fingerprints];
    await prepared(open({ fingerprints: both }));
  });

  it.each<[string, Partial<ProxmoxOptions>, RegExp]>([
    ['no HTTPS', { endpoints: ['http://192.0.2.1:8006'] }, /an endpoint is an https URL/],
    ['a path', { endpoints: ['https://192.0.2.1/api2'] }, /a host and a port, nothing more/],
    ['no endpoint', { endpoints: [] }, /at least one endpoint/],
    ['no certificate', { fingerprints: [] }, /at least one certificate/],
    ['no fingerprint', { fingerprints: ['AA:BB'] }, /no SHA-256/],
    ['a user instead of a token', { tokenId: 'root@pam' }, /a token’s id/],
    ['a line break in the token', { tokenId: 'a@pve!b\nx: y' }, /a token’s id/],
    ['a password instead of a secret', { tokenSecret: 'geheim' }, /a token’s secret is a UUID/],
    ['numbers of the system', { vmids: { first: 1, last: 99 } }, /from? ?.*100 to 999999999|go from 100/],
    ['numbers in the wrong order', { vmids: { first: 200, last: 100 } }, /go from 100/],
    ['a storage with a slash', { storage: 'a/b' }, /no name of a storage/],
    ['a pool with a blank', { pool: 'a b' }, /no name of a pool/],
    ['a node with a dot', { node: 'n1.example' }, /no name of a node/],
    ['a bridge with a comma', { bridge: 'vmbr0,tag=7' }, /no name of a bridge/],
  ])('%s is refused before anything is sent', async (_what, wrong, message) => {
    await cluster();
    expect(() => bed.open(wrong)).toThrow(message);
    expect(bed.stand.asked).toEqual([]);
  });

  it('a secret that is none is not repeated', () => {
    expect(() => checkOptions({ ...bed.options, tokenSecret: 'geheim' })).not.toThrow(/geheim/);
  });

  it.each<[string, Answering, RegExp]>([
    [
      'HTML',
      (_, response) => response.setHeader('content-type', 'text/html').end('<p>Works!'),
      /no Proxmox VE/,
    ],
    [
      'an error in HTML',
      (_, response) => response.writeHead(404, { 'content-type': 'text/html' }).end('<p>Not here'),
      /no Proxmox VE.*404 text\/html/,
    ],
    ['half a JSON', json('{"data":{"vers'), /no JSON/],
    ['a number', json('7'), /no object/],
    ['no data', json('{}'), /without data/],
    ['another shape', json('{"data":[]}'), /the version is no object/],
    ['another type', json('{"data":{"version":9}}'), /the version is no text/],
    ['an answer that breaks off', brokenOff, /broke off/],
    [
      'another place',
      (_, response) => response.writeHead(302, { location: '/elsewhere' }).end(),
      /elsewhere/,
    ],
    [
      'a token that is not known',
      (_, response) => response.writeHead(401, 'invalid token').end(),
      /does not know our token/,
    ],
  ])('what answers with %s is not taken for one', async (_what, answer, message) => {
    const { failure, asked } = await failureAt(answer);
    expect(failure).toEqual(notNow(message));
    expect(asked).toEqual(['GET /api2/json/version']);
  });

  it('who repeats our secret has it repeated no further', async () => {
    const echo: Answering = (request, response) =>
      response
        .writeHead(500, { 'content-type': 'application/json' })
        .end(JSON.stringify({ data: null, message: `bad header: ${request.headers.authorization}` }));
    const { failure } = await failureAt(echo);
    expect(failure).toEqual(notNow(/bad header: PVEAPIToken=innkeeper@pve!product=\(secret\)/));
    const told: unknown[] = [];
    for (let each = failure; each instanceof Error; each = each.cause as Error)
      told.push(each.message, each.stack);
    expect(told.join('\n')).not.toContain(bed.options.tokenSecret);
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
    expect((await failureAt(endless)).failure).toEqual(notNow(/more than|in time/));
    expect(sent).toBeLessThan(2 ** 28);
  });

  it('silence lasts five seconds at most', { timeout: 20_000 }, async () => {
    const began = Date.now();
    expect((await failureAt(() => undefined)).failure).toEqual(notNow(/in time/));
    expect(Date.now() - began).toBeLessThan(6_500);
  });

  it('one endpoint of several is enough', async () => {
    await cluster();
    const dead = await standIn(keys.cluster, () => undefined);
    dead.close();
    expect(await open({ endpoints: [dead.url, bed.stand.url] }).troubles()).toEqual([]);
  });
});

describe('a cluster that is not fit', () => {
  const without =
    (path: string, ...rights: string[]) =>
    (at: ProxmoxBed) => {
      at.state.grants[path] = at.state.grants[path]?.filter((each) => !rights.includes(each)) ?? [];
    };
  const second = { name: 'n2', isOnline: true, bridges: ['vmbr0'] };

  it.each<[string, (at: ProxmoxBed) => unknown, RegExp]>([
    ['is too old', ({ state }) => (state.version = '8.4.1'), /Proxmox VE 8\.4\.1 is too old: it takes 9/],
    [
      'does not let us change cards and look at consoles',
      without('/pool/innkeeper', 'VM.Config.Network', 'VM.Console'),
      /^The token lacks VM\.Config\.Network, VM\.Console on \/pool\/innkeeper$/,
    ],
    [
      'lets us do nothing',
      ({ state }) => (state.grants = {}),
      /Sys\.Audit on \/; .*Sys\.Syslog on \/nodes; .*Pool\.Audit.*on \/pool\/innkeeper; .*on \/storage\/local-lvm; .*on \/storage\/files/,
    ],
    ['has no such pool', ({ state }) => (state.pools = ['others']), /no pool innkeeper/],
    ['has no such storage', ({ state }) => state.storages.shift(), /node n1 has no storage local-lvm/],
    [
      'keeps no images in the storage of files',
      ({ state }) => state.storages.splice(1, 1, { name: 'files', content: 'backup,iso', isShared: false }),
      /storage files on the node n1 is not meant for import/,
    ],
    [
      'has no such bridge on one of its nodes',
      ({ state }) => state.nodes.push({ ...second, bridges: ['vmbr7'] }),
      /node n2 has no bridge vmbr0/,
    ],
    ['does not filter', ({ state }) => (state.firewallIsOn = false), /firewall of the cluster is off/],
  ])('says so when it %s', async (_what, change, message) => {
    await cluster(change);
    await expect(prepared(open())).rejects.toEqual(notNow(message));
  });

  it('has no node of the name that was asked for', async () => {
    await cluster();
    await expect(prepared(open({ node: 'n7' }))).rejects.toEqual(notNow(/no node n7/));
  });

  it('is told apart from a newer one, which is said in the log', async () => {
    await cluster(({ state }) => (state.version = '10.0.2'));
    const warned: object[] = [];
    const quiet = () => undefined;
    await prepared(open({ log: { info: quiet, warn: (facts: object) => warned.push(facts), error: quiet } }));
    expect(warned).toContainEqual({ version: '10.0.2' });
  });

  it('starts nothing while it does not filter, in words', async () => {
    await cluster();
    const driver = open();
    const spec = bed.spec(1);
    await made(driver);
    bed.state.firewallIsOn = false;
    await expect(driver.start(spec)).rejects.toMatchObject({ code: 'network_failed', message: /firewall/ });
    expect((await driver.inspect(spec.id)).power).toBe('stopped');
    expect(await driver.troubles()).toEqual([expect.stringContaining('firewall')]);
  });

  it('that shows nothing any more is no cluster without machines', async () => {
    await cluster();
    const driver = open();
    await made(driver);
    // Without any right, and with that to see the pool alone.
    for (const rights of [[], ['Pool.Audit']]) {
      bed.state.grants['/pool/innkeeper'] = rights;
      await expect(driver.list()).rejects.toEqual(notNow(/does not show/));
      await expect(driver.inspect(bed.spec(1).id)).rejects.toEqual(notNow(/does not show/));
      await expect(driver.destroy(bed.spec(1).id)).rejects.toEqual(notNow(/does not show/));
    }
    expect(bed.vm(bed.spec(1).id)).toBeDefined();
  });

  it('whose nodes have names that no host has is told nothing below such a name', async () => {
    await cluster(({ state }) => state.nodes.push({ name: '../../access', isOnline: true, bridges: [] }));
    await expect(open().list()).rejects.toEqual(notNow(/the name of a node has another form/));
    expect(bed.stand.asked.filter((each) => each.includes('..'))).toEqual([]);
  });
});

/** Makes the first machine, ready to be started. */
async function made(driver: Hypervisor): Promise<void> {
  await driver.ensureImage({ slug: 'made', kind: 'build', recipe: 'made' }, () => undefined);
  await driver.createDisk(bed.spec(1));
  await driver.writeIdentity(bed.spec(1), bed.identity);
}

function json(text: string): Answering {
  return (_, response) => response.setHeader('content-type', 'application/json').end(text);
}

function brokenOff(...[request, response]: Parameters<Answering>): void {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' }).write('{');
  setImmediate(() => request.socket.destroy());
}
