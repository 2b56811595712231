import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { runningVps } from '../../../test/orders.ts';
import { newCustomer, newMember, type Person, signedIn, staffHere } from '../../../test/people.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { settled } from '../../../test/sql.ts';
import { type EventStream, openStream } from '../../../test/stream.ts';
import { HypervisorError } from '../../drivers/hypervisor/index.ts';
import { checkedPng, pngOf } from '../../drivers/hypervisor/png.ts';
import { machineIdOf } from '../machine.ts';
import { screenWatch } from './screen.ts';

let product: TestProduct;
let owner: Person;
let id: number;
let path: string;
beforeAll(async () => {
  product = await startTestProduct();
  owner = await newCustomer(product, { creditMinor: 50_000 });
  ({ serviceId: id } = await runningVps(product, owner));
  path = `/dashboard/service/${id}/vps/screen`;
});
afterEach(() => vi.restoreAllMocks());
afterAll(() => product.stop());

const face = ({ status, body }: { status: number; body: { code?: string } }) => [status, body.code];
const picture = (shade: number) => pngOf({ width: 1, height: 1 }, Buffer.alloc(3, shade));
const shows = (what: (machine: string) => Promise<Buffer>) =>
  vi.spyOn(product.hypervisor, 'readScreen').mockImplementation(what);

/** The picture, by whoever sends these headers. */
async function read(headers: Record<string, string> = {}) {
  const identity = { token: owner.key, 'x-organization-id': String(owner.organizationId) };
  const answer = await fetch(`${product.url}/api${path}`, { headers: { ...identity, ...headers } });
  return { answer, bytes: Buffer.from(await answer.arrayBuffer()) };
}

describe('the screen of a machine', () => {
  it('is a picture that no browser makes anything else of, and one that is known is not sent again', async () => {
    const { answer, bytes } = await read();
    expect(answer.status).toBe(200);
    expect(checkedPng(bytes)).toEqual({ width: 320, height: 200 });
    const header = (name: string) => answer.headers.get(name);
    expect(header('content-type')).toBe('image/png');
    expect(header('cache-control')).toBe('private, no-cache');
    expect(header('x-content-type-options')).toBe('nosniff');
    expect(header('content-security-policy')).toContain('sandbox');
    const known = { 'if-none-match': header('etag') ?? '' };
    const same = await read(known);
    expect([same.answer.status, same.bytes.length]).toEqual([304, 0]);
    expect(
      (await owner.patch(`/dashboard/service/${id}/vps/settings`, { hostname: 'other.example.com' })).status,
    ).toBe(200);
    await expect.poll(async () => (await read(known)).answer.status).toBe(200);
    await settled(product);
  });

  it('is seen by who may open the console, and by nobody else', async () => {
    const { organizationId } = owner;
    const viewer = await newMember(product, organizationId, 'viewer');
    expect(face(await viewer.get(path))).toEqual([403, 'permission_denied']);
    expect((await (await newMember(product, organizationId, 'technical')).get(path)).status).toBe(200);
    expect((await (await newCustomer(product)).get(path)).status).toBe(403);
    expect((await product.nobody.get(path)).status).toBe(401);
    const support = await staffHere(product, 'support');
    const wish = { reason: 'They ask why it hangs', read_only: false };
    const { token } = (await support.post(`/staff/users/${owner.userId}/impersonate`, wish)).body.data;
    const { answer, bytes } = await read({ token });
    expect([answer.status, JSON.parse(bytes.toString()).code]).toEqual([403, 'impersonation_refused']);
    const person = await signedIn(product, owner);
    const { token: key } = (
      await person.post('/dashboard/account/api-keys', { name: 'Reads', scopes: ['vps.read'] })
    ).body.data;
    expect((await read({ token: key })).answer.status).toBe(403);
  });

  it('is said to be out of reach where the machine does not show it, in words that name no host', async () => {
    shows(async () => {
      throw new HypervisorError('screen_failed', 'no picture of the screen of vps-1 on node-3');
    });
    const hangs = await owner.get(path);
    expect(face(hangs)).toEqual([503, 'unavailable']);
    expect(JSON.stringify(hangs.body)).not.toContain('node-3');
    shows(async () => {
      throw new HypervisorError('not_running', 'vps-1 is not running');
    });
    expect(face(await owner.get(path))).toEqual([409, 'action_not_allowed']);
  });
});

describe('who watches a machine', () => {
  const opened: EventStream[] = [];
  const looks: { machine: string; at: number }[] = [];
  let shade = 1;
  let elsewhere: Person & { id: number };
  /** Between two looks. Who does not count it looks sooner: most wait for two of them and more. */
  const { everyMs } = screenWatch;
  const pausesFor = (ms: number) => Object.assign(screenWatch, { everyMs: ms });
  afterAll(() => pausesFor(everyMs));
  beforeAll(async () => {
    pausesFor(0);
    const other = await newCustomer(product, { creditMinor: 50_000 });
    elsewhere = { ...other, id: (await runningVps(product, other)).serviceId };
  });
  beforeEach(() => {
    looks.length = 0;
    shows(async (machine) => {
      looks.push({ machine, at: performance.now() });
      return picture(shade);
    });
  });
  afterEach(() => {
    for (const stream of opened.splice(0)) stream.close();
  });
  const follow = async (token: string, watch = `&watch=vps:${id}`) => {
    const stream = await openStream(
      `${product.url}/api/dashboard/events?organization_id=${owner.organizationId}${watch}`,
      { token },
    );
    opened.push(stream);
    return stream;
  };
  const told = ({ events }: EventStream) => events.filter(({ event }) => event === 'vps.screen');
  const asked = (service = id) => looks.filter(({ machine }) => machine === machineIdOf(service));
  /** Somebody else watches a machine of theirs, and it has been looked at twice meanwhile. */
  const twoLooksElsewhere = async () => {
    const before = asked(elsewhere.id).length;
    opened.push(
      await openStream(
        `${product.url}/api/dashboard/events?organization_id=${elsewhere.organizationId}&watch=vps:${elsewhere.id}`,
        { token: elsewhere.key },
      ),
    );
    await expect.poll(() => asked(elsewhere.id).length, { timeout: 20_000 }).toBeGreaterThan(before + 1);
  };
  const twoLooks = { timeout: 20_000, interval: 50 };

  it('is told when its screen has changed, and not as long as it has not', async () => {
    const stream = await follow(owner.key);
    await expect.poll(() => told(stream).length, twoLooks).toBe(1);
    expect(told(stream)[0]).toMatchObject({
      ...{ id: null, data: { subject: { type: 'vps', id }, timestamp: expect.stringMatching(/Z$/) } },
    });
    const before = asked().length;
    await expect.poll(() => asked().length, twoLooks).toBeGreaterThan(before + 1);
    expect(told(stream)).toHaveLength(1);
    shade += 1;
    await expect.poll(() => told(stream).length, twoLooks).toBe(2);
  });

  it('shares one look in four seconds with all others who do', async () => {
    pausesFor(everyMs);
    const streams = [await follow(owner.key), await follow(owner.key), await follow(owner.key)];
    for (const stream of streams) await expect.poll(() => told(stream).length, twoLooks).toBe(1);
    await expect.poll(() => asked().length, { timeout: 20_000 }).toBeGreaterThan(2);
    const pauses = asked().map(({ at }, nth, all) => at - (all[nth - 1]?.at ?? 0));
    expect(Math.min(...pauses.slice(1))).toBeGreaterThanOrEqual(4_000);
    pausesFor(0);
  });

  it('hears nothing of it who may open no console, and for them alone nobody looks', async () => {
    const viewer = await newMember(product, owner.organizationId, 'viewer');
    const support = await staffHere(product, 'support');
    const wish = { reason: 'They ask why it hangs', read_only: false };
    const { token } = (await support.post(`/staff/users/${owner.userId}/impersonate`, wish)).body.data;
    const streams = [await follow(viewer.key), await follow(token), await follow(owner.key, '')];
    await twoLooksElsewhere();
    expect([asked().length, ...streams.map((stream) => told(stream).length)]).toEqual([0, 0, 0, 0]);
  });

  it('is not looked at for an organization that staff has blocked, until it is not', async () => {
    const at = `/staff/organizations/${owner.organizationId}`;
    expect((await product.staff.post(`${at}/block`, { reason: 'A complaint' })).status).toBe(200);
    const stream = await follow(owner.key);
    await twoLooksElsewhere();
    expect([asked().length, told(stream).length]).toEqual([0, 0]);
    expect(face(await owner.get(path))).toEqual([403, 'organization_blocked']);
    await product.staff.post(`${at}/unblock`);
    await expect.poll(() => told(stream).length, twoLooks).toBe(1);
  });

  it('is told nothing of a machine that is off, and when there is something to be seen again, be it the same', async () => {
    const stream = await follow(owner.key);
    await expect.poll(() => told(stream).length, twoLooks).toBe(1);
    await owner.post(`/dashboard/service/${id}/vps/stop`, { force: true });
    await settled(product);
    await twoLooksElsewhere();
    expect(told(stream)).toHaveLength(1);
    const off = await owner.get(path);
    expect(face(off)).toEqual([409, 'action_not_allowed']);
    expect(off.body.message).toBe('The machine is stopped; a screen needs a running machine');
    await owner.post(`/dashboard/service/${id}/vps/start`);
    await expect.poll(() => told(stream).length, twoLooks).toBe(2);
    await settled(product);
  });
});
