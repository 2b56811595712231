/**
 * Shield as a whole: rules by the API, packets from a network in front of the host, a real machine, the kernel's packet filter. And
 * what stays so when the product is dead.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { reasonToSkip } from '../src/drivers/hypervisor/qemu/testbed.ts';
import { runAsRoot } from '../src/platform/host/program.ts';
import { bootMs, type RealProduct, startRealProduct } from './machines.ts';
import { runningVps } from './orders.ts';
import { until } from './product.ts';
import { edgeTable, type OutsideWorld, outsideWorld } from './world.ts';

const reason = await reasonToSkip('tiny');
if (reason !== null) console.warn(`Shield is not tested on real packets: ${reason}`);

const rulesPath = '/shield/v2/rules';
const applyPath = `${rulesPath}/apply`;
/** Of the kernel taking a trial back, and of the comparison once a minute, beside whatever else this machine does. */
const patienceMs = 120_000;
/** Of a trial, until which much happens that takes a few seconds there. */
const trialS = 30;

describe.skipIf(reason !== null)('a rule of Shield on real packets', { timeout: 3 * patienceMs }, () => {
  let product: RealProduct;
  let world: OutsideWorld;
  let address = '';

  beforeAll(async () => {
    product = await startRealProduct('ikshd', 86);
    world = await outsideWorld(86);
    await runningVps(product.child, product.customer, {}, bootMs);
    const { ips } = (await product.customer.get('/shield/v2/ips')).body.data;
    address = ips[0].address.replace('/32', '');
    await until(isOpen, Boolean, bootMs);
  }, bootMs + 120_000);
  // What a test that failed left: its rules, and maybe a product that was ended.
  beforeEach(async () => {
    if (product.child.isGone()) await product.start();
    await applied({ rules: [], destinations: [address] });
    await until(isOpen, Boolean);
  });
  afterAll(async () => {
    await product?.stop();
    await world?.close();
    await flush();
  });

  /** Of the two the second is there where bridged packets do not pass the first. */
  const flush = async () => {
    for (const family of ['inet', 'bridge'])
      await runAsRoot(['nft', 'delete', 'table', family, 'innkeeper_edge']).catch(() => undefined);
  };
  const isOpen = () => world.reaches(address, 22);
  const dropSsh = () => ({
    ...{ destination: address, action: 'deny', protocol: 6, order: 100 },
    destination_port: { match_type: 'eq', match_value: [22] },
  });
  const ruleOf = async (id: number) => (await product.customer.get(`${rulesPath}/${id}`)).body.data.rule;
  const made = async (body: object): Promise<number> => {
    const answer = await product.customer.post(rulesPath, body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    const { rule_id } = answer.body.data;
    await until(
      () => ruleOf(rule_id),
      (rule) => rule.enforced.active,
    );
    return rule_id;
  };
  const applied = async (body: object): Promise<number> => {
    const answer = await product.customer.post(applyPath, body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    return answer.body.data.apply_id;
  };
  const triedOut = async (): Promise<number> => {
    const id = await applied({ rules: [dropSsh()], confirm_within_s: trialS });
    await until(
      () => product.customer.get(`${applyPath}/${id}`),
      ({ body }) => body.data.apply.enforced.active,
    );
    expect(await isOpen()).toBe(false);
    return id;
  };
  const counted = (id: number, packets: number) =>
    until(
      () => ruleOf(id),
      ({ counters }) => counters.packets >= packets,
      patienceMs,
    );

  it('closes a port within a moment, and taken away opens it again', async () => {
    const id = await made(dropSsh());
    expect(await isOpen()).toBe(false);
    await product.customer.patch(`${rulesPath}/${id}/disable`);
    await until(isOpen, Boolean);
    await product.customer.patch(`${rulesPath}/${id}/enable`);
    await until(isOpen, (open) => !open);
    await product.customer.delete(`${rulesPath}/${id}`);
    await until(isOpen, Boolean);
  });

  it('counts every packet once, over changes of the policy too', async () => {
    const id = await made({
      ...{ destination: address, action: 'deny', protocol: 17, order: 5 },
      destination_port: { match_type: 'eq', match_value: [9] },
    });
    await world.sends(address, 9, { count: 700, bytes: 72 });
    // Another writing, which begins at zero.
    await made({ ...dropSsh(), order: 6 });
    await world.sends(address, 9, { count: 300, bytes: 72 });
    await world.sends(address, 10, { count: 50, bytes: 72 });
    const { counters, matched_packets } = await counted(id, 1_000);
    expect({ ...counters, matched_packets }).toEqual({
      ...{ packets: 1_000, bytes: 100_000, dropped_packets: 0, dropped_bytes: 0 },
      matched_packets: 1_000,
    });
  });

  it('that is tried out is taken back by the kernel while the product is dead', async () => {
    const id = await triedOut();
    const { apply } = (await product.customer.get(`${applyPath}/${id}`)).body.data;
    await product.child.end('SIGKILL');
    expect(await isOpen()).toBe(false);
    await until(isOpen, Boolean, patienceMs);
    // When it was promised: the kernel counts whole seconds, and an attempt to connect takes two of them.
    const lateMs = Date.now() - Date.parse(apply.confirm_until);
    expect(lateMs > -2_000 && lateMs < 15_000, `${lateMs} ms late`).toBe(true);
    await product.start();
    expect((await product.customer.get(`${applyPath}/${id}`)).body.data.apply.state).toBe('over');
    expect(await isOpen()).toBe(true);
  });

  it('that was tried out and confirmed stays, also when the product dies at once', async () => {
    const id = await triedOut();
    expect((await product.customer.post(`${applyPath}/${id}/confirm`)).body.data.apply.state).toBe(
      'confirmed',
    );
    await product.child.end('SIGKILL');
    await sleep((trialS + 1) * 1_000); // beyond the trial, of which nobody tells when nothing happens
    await product.start();
    await until(isOpen, (open) => !open, patienceMs);
  });

  it('stays as it was written when the product starts again, and counts on', async () => {
    const id = await made({
      ...{ destination: address, action: 'deny', protocol: 17, order: 5 },
      destination_port: { match_type: 'eq', match_value: [9] },
    });
    await world.sends(address, 9, { count: 40, bytes: 10 });
    await counted(id, 40);
    const { since } = (await ruleOf(id)).enforced;
    // Writings that are over are dropped in their turn, once what they counted is written down.
    const before = await until(
      edgeTable,
      (table) => table.match(/chain policy_\w+(?<!_later) \{/g)?.length === 1,
      patienceMs,
    );
    await product.child.end('SIGKILL');
    await world.sends(address, 9, { count: 25, bytes: 10 });
    await product.start();
    // What it counts is read in its turn, after the comparison at the start.
    expect((await counted(id, 65)).counters.packets).toBe(65);
    expect(await edgeTable()).toBe(before);
    expect((await ruleOf(id)).enforced.since).toBe(since);
  });

  it('that somebody flushed is there again within a minute or two', async () => {
    const id = await made(dropSsh());
    const { since } = (await ruleOf(id)).enforced;
    await flush();
    const { enforced } = await until(
      () => ruleOf(id),
      (rule) => rule.enforced.active && rule.enforced.since > since,
      patienceMs,
    );
    expect(enforced.error).toBeNull();
    expect(await isOpen()).toBe(false);
  });
});
