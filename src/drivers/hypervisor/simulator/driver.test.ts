import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { describeHypervisor } from '../conformance.ts';
import { HypervisorError } from '../contract.ts';
import { simulatedHypervisor } from './driver.ts';
import { simulatorStore, storeInFile } from './store.ts';
import { smallMachine, someIdentity } from './testbed.ts';

describeHypervisor('the simulator', async () => {
  const store = simulatorStore();
  const delaysMs = { boot: 400, shutdown: 100, start: 10 };
  let current = simulatedHypervisor({ store, delaysMs });
  return {
    hypervisor: current,
    image: { slug: 'tiny', kind: 'build', recipe: 'tiny' },
    spec: smallMachine,
    identity: someIdentity,
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
    await hypervisor.createDisk(smallMachine(1));
    await hypervisor.writeIdentity(smallMachine(1), someIdentity);
    await expect(hypervisor.start(smallMachine(1))).rejects.toMatchObject({ code: 'start_failed' });
    await hypervisor.start(smallMachine(1));
    expect((await hypervisor.inspect('test-1')).power).toBe('running');
  });

  it('keeps a node in a file', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'innkeeper-simulator-'));
    const file = join(dir, 'node.json');
    const hypervisor = simulatedHypervisor({ store: storeInFile(file) });
    await hypervisor.ensureImage({ slug: 'tiny', kind: 'build', recipe: 'tiny' }, () => undefined);
    await hypervisor.createDisk(smallMachine(1));
    expect(await simulatedHypervisor({ store: storeInFile(file) }).list()).toMatchObject([{ id: 'test-1' }]);
    rmSync(dir, { recursive: true });
  });
});
