import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { describeHypervisor } from '../conformance.ts';
import { HypervisorError, type MachineSpec } from '../contract.ts';
import { simulatedHypervisor } from './driver.ts';
import { simulatorStore, storeInFile } from './store.ts';

const spec = (number: number): MachineSpec => ({
  id: `test-${number}`,
  cpuCores: 1,
  memoryMib: 64,
  diskGib: 1,
  image: 'tiny',
  nic: {
    mac: `52:54:00:00:00:0${number}`,
    portMbps: 100,
    addresses: [{ family: 4, address: `10.0.0.${number}`, prefix: 24, gateway: '10.0.0.254' }],
  },
});
const identity = {
  hostname: 'a',
  passwordHash: '$6$a$b',
  authorizedKeys: [],
  nameservers: [],
  userData: null,
};

describeHypervisor('the simulator', async () => {
  const store = simulatorStore();
  const delaysMs = { boot: 400, shutdown: 100, start: 10 };
  let current = simulatedHypervisor({ store, delaysMs });
  return {
    hypervisor: current,
    image: { slug: 'tiny', kind: 'build', recipe: 'tiny' },
    spec,
    identity,
    again: async () => {
      current = simulatedHypervisor({ store, delaysMs });
      return current;
    },
    guestShutsDown: async ({ id }) => current.guestShutsDown(id),
    lose: async ({ id }) => current.lose(id),
    leftovers: async ({ id }) => [...store.machines.keys()].filter((each) => each === id),
    inGuest: null,
    remove: () => undefined,
    readyTimeoutMs: 1_000,
    shutdownTimeoutMs: 1_000,
  };
});

describe('the simulator', () => {
  it('fails where it is told to, and works when the call is repeated', async () => {
    let failures = 1;
    const failure = (call: string) =>
      call === 'start' && failures-- > 0 ? new HypervisorError('start_failed', 'no memory left') : null;
    const hypervisor = simulatedHypervisor({ failure });
    await hypervisor.ensureImage({ slug: 'tiny', kind: 'build', recipe: 'tiny' }, () => undefined);
    await hypervisor.createDisk(spec(1));
    await hypervisor.writeIdentity(spec(1), identity);
    await expect(hypervisor.start(spec(1))).rejects.toMatchObject({ code: 'start_failed' });
    await hypervisor.start(spec(1));
    expect((await hypervisor.inspect('test-1')).power).toBe('running');
  });

  it('keeps a node in a file', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'innkeeper-simulator-'));
    const file = join(dir, 'node.json');
    const hypervisor = simulatedHypervisor({ store: storeInFile(file) });
    await hypervisor.ensureImage({ slug: 'tiny', kind: 'build', recipe: 'tiny' }, () => undefined);
    await hypervisor.createDisk(spec(1));
    expect(await simulatedHypervisor({ store: storeInFile(file) }).list()).toMatchObject([{ id: 'test-1' }]);
    rmSync(dir, { recursive: true });
  });
});
