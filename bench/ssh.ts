import { copyFileSync, existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { imageStore } from '../src/drivers/hypervisor/images/store.ts';
import { type Acceleration, accelerationProbe } from '../src/drivers/hypervisor/qemu/acceleration.ts';
import { apiClient, type Client } from '../test/client.ts';
import { vpsCart } from '../test/orders.ts';
import { type Cpu, costSince, costText, cpuOf } from './cpu.ts';
import { handGuest, makeKey, signIn, size } from './guest.ts';
import type { House } from './house.ts';
import { interleave, nowMs, type Pair, ratiosOf, spreadOf } from './measure.ts';
import { openAccess } from './people.ts';
import { openTap, type Tap } from './qmpTap.ts';
import { type Figure, inTime } from './table.ts';

export interface SshOptions {
  rounds: number;
  /** Also what a warm start would save; it has no target. */
  warm: boolean;
  imagesDir: string;
}

const patienceMs = 120_000;

/**
 * What a customer waits for with a real machine: from paying to the first login that is accepted, against the same
 * guest started by hand; what its stop costs besides the guest; and what a warm start would save.
 */
export async function measureSsh(house: House, options: SshOptions): Promise<Figure[]> {
  const key = await makeKey();
  const { customer } = house.demo;
  const client = apiClient(`${house.url}/api`, {
    token: customer.api_key,
    organizationId: customer.organization_id,
  });
  const added = await client.post('/dashboard/account/ssh-keys', {
    name: 'bench',
    public_key: key.publicKey,
  });
  if (added.status !== 200) throw new Error(`the key was refused: ${JSON.stringify(added.body)}`);

  const qmp = await openTap(house.pid);
  const overhead: Overhead = { sent: [], seen: [] };
  const taken: Taken = { costs: [], startMs: [] };
  const order = ordering(house, client, key.file, taken, (id) => stopMeasured(client, id, qmp, overhead));
  const acceleration = await settleAcceleration(house, options.imagesDir);
  const byHand = await handGuest(key, options.imagesDir, acceleration);
  await order(); // bridge, rules and accounts are there from now on
  taken.costs.splice(0);
  taken.startMs.splice(0);
  const pairs = await interleave(options.rounds, order, byHand.cold);
  qmp.close();
  const guest = `tiny, ${size.memoryMib} MiB, ${size.diskGib} GiB`;
  const figures: Figure[] = [
    {
      name: 'Invoice paid → SSH login accepted',
      against: `the same guest (${guest}, tap on a bridge) by the bare QEMU command line, its disk, seed and tap made before`,
      value: ratiosOf(pairs),
      unit: 'ratio',
      target: { atMost: 1.15 },
      amounts: `${secondsOf(pairs)} (${acceleration}); CPU time an order, besides the guest: ${costText(taken.costs)}`,
      limit: 'the guest’s own boot; ours is the job’s steps, the disk, and packet rules before it',
    },
    {
      ...inTime(
        'Invoice paid → QEMU started',
        'a real machine',
        taken.startMs,
        'commits to disk, the password’s hash',
      ),
      target: { atMost: 60 },
    },
    inTime('HTTP request → QMP command sent', 'a real machine', overhead.sent, 'two commits to disk'),
    inTime('QEMU event → state visible over the API', 'a real machine', overhead.seen, 'QEMU’s own end'),
  ];
  if (!options.warm) return figures;
  await byHand.save();
  const starts = await interleave(options.rounds, byHand.warm, byHand.cold);
  figures.push({
    name: 'Warm start: a saved guest goes on, to SSH login',
    against: `the same guest (${guest}) booting, both by the bare QEMU command line`,
    value: ratiosOf(starts),
    unit: 'ratio',
    target: null,
    amounts: `${secondsOf(starts)} (${acceleration})`,
    limit: 'not offered: a saved guest has one size and one identity (docs/decisions/0017)',
  });
  return figures;
}

function secondsOf(pairs: readonly Pair[]): string {
  const median = (side: 'ours' | 'theirs') =>
    (spreadOf(pairs.map((pair) => pair[side])).median / 1000).toFixed(2);
  return `${median('ours')} s against ${median('theirs')} s`;
}

/**
 * The first machine of a host tries out the hardware, which takes seconds, once and for all: that is done here and told
 * the product.
 */
async function settleAcceleration({ dataDir }: House, imagesDir: string): Promise<Acceleration> {
  const { dir, boot } = await imageStore(imagesDir).find('tiny');
  if (!boot) throw new Error('the image tiny boots by its kernel');
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  const probe = accelerationProbe(imagesDir, log); // kept beside the image for the next run
  const acceleration = await probe.settle(async () => path.join(dir, boot.kernel));
  const known = path.join(imagesDir, 'acceleration.json');
  if (existsSync(known)) copyFileSync(known, path.join(dataDir, 'hypervisor/acceleration.json'));
  return acceleration;
}

/** What orders took: CPU time, and how long after the payment's request the machine's process was started. */
interface Taken {
  costs: Cpu[];
  startMs: number[];
}

/** Orders, pays, signs in; the clock runs from the payment's request. Then the machine is switched off. */
function ordering(
  house: House,
  client: Client,
  key: string,
  taken: Taken,
  switchOff: (serviceId: number) => Promise<void>,
): () => Promise<number> {
  return async () => {
    const ordered = await client.post(
      '/cart/checkout/invoice',
      vpsCart(house.demo, { password: 'Correct-Horse-1' }),
    );
    if (ordered.status !== 200) throw new Error(`the order was refused: ${JSON.stringify(ordered.body)}`);
    const {
      invoice_id: invoiceId,
      service_ids: [serviceId],
    } = ordered.body.data;
    const address = await addressOf(house, serviceId);
    const before = cpuOf(house);
    const began = nowMs();
    const beganAt = Date.now();
    const paid = await client.post(`/dashboard/invoices/${invoiceId}/pay`, { method: 'credit' });
    if (paid.status !== 200) throw new Error(`the payment was refused: ${JSON.stringify(paid.body)}`);
    await signIn(address, key);
    const took = nowMs() - began;
    taken.costs.push(costSince(before, cpuOf(house), 1));
    taken.startMs.push(processStartedAt(house, serviceId) - beganAt);
    await switchOff(serviceId);
    return took;
  };
}

/** When a running machine's process was started, by the time of day: its log is made just before. */
function processStartedAt({ dataDir }: House, serviceId: number): number {
  return statSync(path.join(dataDir, 'hypervisor', 'machines', `vps-${serviceId}`, 'qemu.log')).birthtimeMs;
}

async function addressOf(house: House, serviceId: number): Promise<string> {
  const access = await openAccess(house);
  const { rows } = await access.sql('select host(address) as address from addresses where service_id = $1', [
    serviceId,
  ]);
  await access.close();
  return (rows[0] as { address: string }).address;
}

interface Overhead {
  sent: number[];
  seen: number[];
}

/** Shuts the guest down by an action, and notes what the action took besides the guest. */
async function stopMeasured(client: Client, serviceId: number, qmp: Tap, overhead: Overhead): Promise<void> {
  await waitFor(client, serviceId, 'running');
  await sleep(500); // the guest hears its power button a moment after it lets people in
  await qmp.forget();
  const asked = nowMs();
  const { status, body } = await client.post(`/dashboard/service/${serviceId}/vps/stop`, {});
  if (status !== 200) throw new Error(`the stop was refused: ${JSON.stringify(body)}`);
  await waitFor(client, serviceId, 'stopped');
  const seen = nowMs();
  const { commandMs, eventMs } = await qmp.told();
  overhead.sent.push(commandMs - asked);
  overhead.seen.push(seen - eventMs);
}

/** Until an action has ended, nothing else is allowed. */
async function waitFor(client: Client, serviceId: number, state: 'running' | 'stopped'): Promise<void> {
  const deadline = nowMs() + patienceMs;
  for (;;) {
    const { status, body } = await client.get(`/dashboard/service/${serviceId}/vps/overview`);
    if (status !== 200) throw new Error(`the overview was refused: ${JSON.stringify(body)}`);
    const { vps } = body.data;
    if (vps.state === state && (state === 'stopped' || !vps.locked)) return;
    if (nowMs() > deadline) throw new Error(`the machine is ${vps.state} and stays it`);
    await sleep(2);
  }
}
