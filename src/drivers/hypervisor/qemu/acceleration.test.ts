import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { accelerationProbe } from './acceleration.ts';

let dir: string;
let device: string;
let failure: string | null;
let boots: number;
let said: string[];
const kernel = async () => 'a kernel';

/** As after a start of the product, on a host whose KVM the test has in its hands. */
function start() {
  const say = (level: string) => (_: object, message: string) => said.push(`${level}: ${message}`);
  const log = { info: say('info'), warn: say('warn'), error: say('error') };
  return accelerationProbe(dir, log, {
    device,
    boot: async () => {
      boots++;
      return failure;
    },
  });
}
const plugIn = () => writeFileSync(device, '');
const pullOut = () => rmSync(device);

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'innkeeper-kvm-'));
  device = join(dir, 'kvm');
  [failure, boots, said] = [null, 0, []];
  plugIn();
});
afterEach(() => rmSync(dir, { recursive: true }));

describe('hardware acceleration', () => {
  it('is tried once, with a kernel, and remembered', async () => {
    expect(await start().known()).toBe('emulation');
    expect(await start().settle(kernel)).toBe('hardware');
    const later = start();
    expect([await later.known(), await later.settle(kernel), await later.lost(kernel)]).toEqual([
      'hardware',
      'hardware',
      null,
    ]);
    expect(boots).toBe(1);
  });

  it('that never worked on a node is said loud at each start, once, and is nothing that was lost', async () => {
    failure = 'nested';
    expect(await start().settle(kernel)).toBe('emulation');
    said = [];
    const later = start();
    for (const _ of [1, 2]) expect(await later.lost(kernel)).toBeNull();
    await later.settle(kernel);
    expect(said).toEqual([expect.stringMatching(/^warn: MACHINES RUN UNDER EMULATION/)]);
    pullOut();
    expect(await start().lost(kernel)).toBeNull();
    expect(boots).toBe(1);
  });

  it('that is gone at a later start is lost, and found again when it is back', async () => {
    await start().settle(kernel);
    pullOut();
    const later = start();
    expect(await later.lost(kernel)).toContain('is not there');
    expect([await later.known(), await later.settle(kernel)]).toEqual(['emulation', 'emulation']);
    expect(said.at(-1)).toMatch(/^error: KVM has worked/);
    plugIn();
    expect(await later.lost(kernel)).toBeNull();
    expect(await later.settle(kernel)).toBe('hardware');
  });

  it('that goes while the product runs is not believed in at the next start of a machine', async () => {
    const probe = start();
    await probe.settle(kernel);
    pullOut();
    expect(await probe.settle(kernel)).toBe('emulation');
    expect(await probe.lost(kernel)).toContain('is not there');
  });

  it('that failed a machine is tried anew, and lost where it fails the kernel too', async () => {
    const probe = start();
    await probe.settle(kernel);
    await probe.doubt();
    failure = 'the kernel ended early';
    expect(await probe.lost(kernel)).toBe(failure);
    expect(await probe.lost(kernel)).toBe(failure);
    expect(boots).toBe(2); // a node in trouble does not boot kernels all the time
    expect(JSON.parse(readFileSync(join(dir, 'acceleration.json'), 'utf8')).proven).toBe(true);
    failure = null;
    expect(await start().lost(kernel)).toBeNull();
  });

  it('is known to have worked from what an earlier version wrote', async () => {
    await start().settle(kernel);
    const file = join(dir, 'acceleration.json');
    const { proven: _, ...before } = JSON.parse(readFileSync(file, 'utf8'));
    writeFileSync(file, JSON.stringify(before));
    pullOut();
    expect(await start().lost(kernel)).toContain('is not there');
  });
});
