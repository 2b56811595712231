import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { SimulatedMachine } from '../src/drivers/hypervisor/index.ts';
import { order, pay, running } from './crash/scenarios.ts';
import { openWorld, type World } from './crash/world.ts';
import { until } from './product.ts';
import { sql } from './sql.ts';

const tenMinutesMs = 600_000;

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world?.stop());

type Store = { images: string[]; machines: [string, SimulatedMachine][] };

function changeStore(change: (machines: Map<string, SimulatedMachine>) => void): void {
  const file = path.join(world.dataDir, 'simulator.json');
  const store = JSON.parse(readFileSync(file, 'utf8')) as Store;
  const machines = new Map(store.machines);
  change(machines);
  writeFileSync(file, JSON.stringify({ ...store, machines: [...machines] }));
}

/** As if everything that was written had been written ten minutes earlier. */
async function letTenMinutesPass(): Promise<void> {
  await sql(world, `update machines set started_at = started_at - interval '10 minutes'`);
  await sql(
    world,
    `update jobs set run_at = run_at - interval '10 minutes', created_at = created_at - interval '10 minutes'`,
  );
  changeStore((machines) => {
    for (const machine of machines.values()) {
      if (machine.startedAtMs !== null) machine.startedAtMs -= tenMinutesMs;
      machine.bootedAtMs -= tenMinutesMs;
    }
  });
}

it('adopts what ran while the control plane was down, repairs what went down, flags what is gone', {
  timeout: 180_000,
}, async () => {
  const untouched = await running(world);
  const killed = await running(world);
  const gone = await running(world);
  const interrupted = await order(world);

  const machineOf = ({ serviceId }: { serviceId: number }) => `vps-${serviceId}`;
  const overview = async ({ serviceId }: { serviceId: number }) =>
    (await world.customer.get(`/dashboard/service/${serviceId}/vps/overview`)).body.data.vps;
  const told = (action: string) =>
    sql<{ subject_id: number }>(world, 'select subject_id from journal where action = $1', action);

  world.crashAt('vps.provision/boot: after do'); // one machine is being made when the power goes
  await pay(world, interrupted);
  await until(
    async () => world.deaths,
    (deaths) => deaths === 1,
  );
  await world.settle();

  await world.die(async () => {
    await letTenMinutesPass();
    changeStore((machines) => {
      const machine = machines.get(machineOf(killed));
      if (machine) machine.startedAtMs = null;
      machines.delete(machineOf(gone));
    });
  });
  const startedMs = Date.now();

  await until(
    () => Promise.all([told('vps.repaired'), told('vps.lost')]),
    ([repaired, lost]) => repaired.length > 0 && lost.length > 0,
    30_000,
  );
  const noticedMs = Date.now() - startedMs;
  console.log(`noticed ${noticedMs} ms after the start`);
  expect(await told('vps.repaired')).toEqual([{ subject_id: killed.serviceId }]);
  expect(await told('vps.lost')).toEqual([{ subject_id: gone.serviceId }]);
  expect(await overview(killed)).toMatchObject({ state: 'running' });
  expect(await overview(gone)).toMatchObject({ state: 'error' });
  expect(await overview(interrupted)).toMatchObject({ state: 'running' });
  const adopted = await overview(untouched);
  expect(adopted.state).toBe('running');
  expect(adopted.uptime_s).toBeGreaterThanOrEqual(600);

  const wrong = await world.audit(['a machine in a state that should pass']);
  expect(wrong).toEqual([`the machine ${machineOf(gone)} is not on the node`]);
});
