import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { auditHost, bridgeOf, endMachines, processId } from './host.ts';
import { order, pay, refund, scenarioOf } from './scenarios.ts';
import { expectFailed, failpointsOf } from './sweep.ts';
import { openWorld, type World } from './world.ts';

const machinesOff = process.env.INNKEEPER_TEST_MACHINES === 'off' || !process.env.INNKEEPER_TEST_IMAGES;
if (machinesOff) console.log('Killing the product while it makes a real machine is NOT tested here.');

const bridge = bridgeOf(String(process.pid));

// The simulator has every failpoint; here are those at which something of a machine comes into being or goes.
describe.skipIf(machinesOff)('with real machines, kill -9', { timeout: 3_600_000 }, () => {
  let world: World;
  beforeAll(async () => {
    world = await openWorld({
      env: {
        HYPERVISOR: 'qemu',
        IMAGES_DIR: process.env.INNKEEPER_TEST_IMAGES ?? '',
        BRIDGE: bridge,
        NETWORK4: '10.91.0.0/24',
        NETWORK6: 'fd91:0:0:91::/64',
        NAT: 'off',
      },
    });
  }, 300_000);
  afterAll(async () => {
    await world?.stop(() => endMachines(world, bridge));
  });

  const failing = 'vps.provision/forget';

  async function clean(): Promise<void> {
    expect(await world.audit()).toEqual([]);
    expect(await auditHost(world, bridge)).toEqual([]);
  }

  it('after a step leaves one machine, and at any step of the way back none', async () => {
    const failpoints = await failpointsOf(world, scenarioOf('pay'));
    await clean();
    const making = failpoints.filter((name) =>
      /^vps\.provision\/(disk|identity|boot|ready): after do$/.test(name),
    );
    const back = ['disk', 'machine'].flatMap((step) => [
      `vps.provision/${step}: before undo`,
      `vps.provision/${step}: after undo`,
    ]);
    const took: Record<string, number> = {};
    for (const failpoint of [...making, ...back]) {
      const given = await order(world);
      const deaths = world.deaths;
      // Every order ends as a failed delivery, so that the host does not fill up with machines.
      world.failAt(failing);
      world.crashAt(failpoint);
      await pay(world, given);
      await world.settle();
      world.failAt(null);
      expect([failpoint, world.deaths - deaths]).toEqual([failpoint, 1]);
      await expectFailed(world, given);
      await clean();
      await refund({ reason: 'test' })(world, given);
      await world.settle();
      await clean();
      took[failpoint] = world.recovery.settledMs;
    }
    console.log(`recovered in ms: ${JSON.stringify(took)}`);
  });

  it('a retry after the failure makes the machine, and one only', async () => {
    const given = await order(world);
    world.failAt('vps.provision/ready');
    await pay(world, given);
    await world.settle();
    world.failAt(null);
    await expectFailed(world, given);
    await clean();
    world.crashAt('vps.provision/boot: after do');
    expect((await world.staff.post(`/staff/services/${given.serviceId}/retry`)).status).toBe(200);
    await world.settle();
    const { body } = await world.customer.get(`/dashboard/services/${given.serviceId}`);
    expect(body.data.service.status).toBe('active');
    await clean();
  });

  it('of the control plane alone leaves machines running, and a QEMU killed meanwhile is started again', async () => {
    const given = await scenarioOf('restart').arrange(world);
    const id = `vps-${(given as { serviceId: number }).serviceId}`;
    await world.settle();
    const before = await processId(world, id);
    await world.die(async () => undefined);
    await world.settle();
    expect(await processId(world, id)).toBe(before);
    await world.die(async () => void process.kill(before ?? 0, 'SIGKILL'));
    const startedMs = Date.now();
    let now: number | null = null;
    while (now === null || now === before) {
      if (Date.now() - startedMs > 30_000) throw new Error('not repaired within 30 s');
      await new Promise((resolve) => setTimeout(resolve, 200));
      now = await processId(world, id);
    }
    console.log(`a QEMU killed while nobody watched ran again ${Date.now() - startedMs} ms after the start`);
  });
});
