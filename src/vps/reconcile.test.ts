import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { runningVps } from '../../test/orders.ts';
import { newCustomer, type Person } from '../../test/people.ts';
import { startTestProduct, type TestProduct, until } from '../../test/product.ts';
import { settled, sql } from '../../test/sql.ts';
import { HypervisorError, simulatorStore } from '../drivers/hypervisor/index.ts';
import { machineIdOf } from './machine.ts';
import { onMachineEvent, reconcileNode } from './reconcile.ts';

const store = simulatorStore();
let startsFail = false;
let isSlow = false;
const threeRepairs = ['vps.repaired', 'vps.repaired', 'vps.repaired'];
let product: TestProduct;
let customer: Person;
let id: number;
let nodeId: number;

beforeAll(async () => {
  product = await startTestProduct({
    simulator: {
      store,
      failure: (call) =>
        startsFail && call === 'start' ? new HypervisorError('start_failed', 'no memory left') : null,
    },
  });
  const { shutdown } = product.hypervisor;
  product.hypervisor.shutdown = async (machine, deadline) => {
    if (isSlow) throw new HypervisorError('shutdown_timeout', `${machine} still runs`);
    return shutdown(machine, deadline);
  };
  customer = await newCustomer(product, { creditMinor: 50_000 });
  const [node] = await sql<{ id: number }>(product, 'select id from nodes');
  nodeId = node?.id ?? 0;
});
beforeEach(async () => {
  startsFail = false;
  await product.periodic('fleet.watchNodes'); // after a jump of the clock nobody has seen the node for long
  ({ serviceId: id } = await runningVps(product, customer));
});
afterAll(() => product.stop());

async function state(): Promise<string> {
  return (await customer.get(`/dashboard/service/${id}/vps/overview`)).body.data.vps.state;
}

const isUp = () => store.machines.get(machineIdOf(id))?.startedAtMs != null;

async function journal(): Promise<string[]> {
  const rows = await sql<{ action: string }>(
    product,
    `select action from journal where subject_id = $1 and action in ('vps.repaired', 'vps.lost') order by id`,
    id,
  );
  return rows.map((row) => row.action);
}

/** Has `meanwhile` be done while the engine is asked for this machine and has not answered yet. */
async function whileAsked(meanwhile: () => Promise<unknown>): Promise<void> {
  const { inspect } = product.hypervisor;
  let asked = 0;
  let failure: unknown = null;
  product.hypervisor.inspect = async (machine) => {
    const report = await inspect(machine);
    asked += machine === machineIdOf(id) ? 1 : 0;
    // What fails here would be logged as the engine's failure.
    if (asked === 1 && machine === machineIdOf(id))
      await meanwhile().catch((error: unknown) => {
        failure = error;
      });
    return report;
  };
  try {
    await compare();
  } finally {
    product.hypervisor.inspect = inspect;
  }
  if (failure !== null) throw failure;
  expect(asked).toBeGreaterThan(0);
}

/** Compares the node with what is wanted, as happens every few seconds. */
const compare = () => reconcileNode(product.ctx, nodeId, product.hypervisor);

/** The machine's process is killed; resolves when the product has brought it back. */
async function loseAndWait(): Promise<void> {
  const before = (await journal()).length;
  product.hypervisor.lose(machineIdOf(id));
  await until(journal, (entries) => entries.length > before);
}

describe('a machine that hangs', () => {
  it('is shown as one that needs help, can be started anew with force, and is well when it answers', async () => {
    const hanging = {
      ...product.hypervisor,
      list: async () => (await product.hypervisor.list()).map((each) => ({ ...each, hangs: true })),
      inspect: async (machine: string) => ({ ...(await product.hypervisor.inspect(machine)), hangs: true }),
    };
    await reconcileNode(product.ctx, nodeId, hanging);
    await reconcileNode(product.ctx, nodeId, hanging);
    expect([await state(), await journal()]).toEqual(['error', ['vps.lost']]);
    const seen = (await customer.get(`/dashboard/service/${id}/vps/overview`)).body.data.vps;
    expect(seen.actions.restart).toMatchObject({ allowed: true });
    await compare();
    expect(await state()).toBe('running');
  });
});

describe('a machine of which its engine knows nothing right now', () => {
  it('stays as it was last seen, and nothing is started for it', async () => {
    const unknown = { power: 'unknown', startedAt: null } as const;
    const silent = {
      ...product.hypervisor,
      list: async () =>
        (await product.hypervisor.list()).map(({ id: machine }) => ({ id: machine, ...unknown })),
      inspect: async (machine: string) => ({ id: machine, ...unknown }),
    };
    for (const _ of [1, 2]) await reconcileNode(product.ctx, nodeId, silent);
    await settled(product);
    expect([isUp(), await state(), await journal()]).toEqual([true, 'running', []]);
  });
});

describe('a machine whose process was killed', () => {
  it('is started again, and the journal tells of it', async () => {
    await loseAndWait();
    expect([isUp(), await state(), await journal()]).toEqual([true, 'running', ['vps.repaired']]);
  });

  it('while nobody looked is found at the next comparison', async () => {
    const machine = store.machines.get(machineIdOf(id));
    if (machine) machine.startedAtMs = null;
    await compare();
    await settled(product);
    expect([isUp(), await state(), await journal()]).toEqual([true, 'running', ['vps.repaired']]);
  });

  it('is started three times within ten minutes, then flagged once for a person to look', async () => {
    for (let time = 0; time < 4; time += 1) await loseAndWait();
    await compare();
    await compare();
    expect([isUp(), await state()]).toEqual([false, 'error']);
    expect(await journal()).toEqual(['vps.repaired', 'vps.repaired', 'vps.repaired', 'vps.lost']);
    await customer.post(`/dashboard/service/${id}/vps/start`, {});
    await settled(product);
    expect([isUp(), await state()]).toEqual([true, 'running']);
  });

  it('now and then is started every time', async () => {
    for (let time = 0; time < 5; time += 1) {
      await loseAndWait();
      product.clock.travel(11 * 60_000);
    }
    expect([isUp(), await state()]).toEqual([true, 'running']);
  });
});

describe('machines that their node cannot start', () => {
  const starts = () =>
    sql(product, `select 1 from vps_actions where service_id = $1 and command = 'start'`, id).then(
      (rows) => rows.length,
    );
  const told = () =>
    sql<{ action: string }>(
      product,
      // Whether a node is heard of goes by real time, and clocks jump here.
      `select action from journal where action in ('node.failing', 'node.well') order by id`,
    ).then((rows) => rows.map((row) => row.action));
  const compareAndSettle = async () => {
    await compare();
    await settled(product);
  };

  it('are tried again with growing pauses, staff is told once, and they run when it can', async () => {
    const { serviceId: second } = await runningVps(product, customer);
    const before = await told();
    startsFail = true;
    for (const machine of [id, second]) product.hypervisor.lose(machineIdOf(machine));
    await until(starts, (count) => count > 0);
    await settled(product);
    for (let time = 0; time < 5; time += 1) await compareAndSettle();
    expect([await state(), await starts(), await journal()]).toEqual(['error', 1, []]);
    expect(await told()).toEqual([...before, 'node.failing']);

    for (let minute = 0; minute < 120; minute += 1) {
      product.clock.travel(60_000);
      await compareAndSettle();
    }
    expect(await starts()).toBeGreaterThan(9); // two hours of pauses of ten minutes at most
    expect(await starts()).toBeLessThan(25);
    startsFail = false;
    product.clock.travel(11 * 60_000);
    await compareAndSettle();
    expect([isUp(), await state(), await journal()]).toEqual([true, 'running', ['vps.repaired']]);
    await compareAndSettle();
    expect(await told()).toEqual([...before, 'node.failing', 'node.well']);
  });

  it('count as down once more only for what they died of themselves', async () => {
    for (let time = 0; time < 3; time += 1) await loseAndWait();
    startsFail = true;
    product.hypervisor.lose(machineIdOf(id));
    await until(journal, (entries) => entries.length > 3);
    expect([await state(), await journal()]).toEqual(['error', [...threeRepairs, 'vps.lost']]);
  });

  it('run again when the folder that was missing is there again, however many they were', async () => {
    const { serviceId: second } = await runningVps(product, customer);
    await customer.post(`/dashboard/service/${second}/vps/stop`, { force: true });
    await settled(product);
    const kept = new Map(store.machines);
    store.machines.clear();
    for (let time = 0; time < 4; time += 1) {
      await compareAndSettle();
      product.clock.travel(5_000);
    }
    expect([await state(), await journal()]).toEqual(['error', ['vps.lost']]);
    for (const [name, machine] of kept) store.machines.set(name, { ...machine, startedAtMs: null });
    await compareAndSettle();
    expect([isUp(), await state(), await journal()]).toEqual([true, 'running', ['vps.lost', 'vps.repaired']]);
    const seen = (await customer.get(`/dashboard/service/${second}/vps/overview`)).body.data.vps.state;
    expect([seen, store.machines.get(machineIdOf(second))?.startedAtMs]).toEqual(['stopped', null]);
  });
});

describe('a guest that takes longer to shut down than is waited for', () => {
  async function press(command: 'stop' | 'restart') {
    isSlow = true;
    const answer = await customer.post(`/dashboard/service/${id}/vps/${command}`, {});
    await settled(product);
    isSlow = false;
    const { action } = (
      await customer.get(`/dashboard/service/${id}/vps/history/${answer.body.data.action.id}`)
    ).body.data;
    expect(action.error).toMatchObject({ code: 'shutdown_timeout' });
  }

  it('for a restart is started again when it is down at last', async () => {
    await press('restart');
    product.hypervisor.guestShutsDown(machineIdOf(id));
    await until(journal, (entries) => entries.length > 0);
    expect([isUp(), await state(), await journal()]).toEqual([true, 'running', ['vps.repaired']]);
    product.hypervisor.guestShutsDown(machineIdOf(id)); // that one was its own wish
    await until(state, (seen) => seen === 'stopped');
    await compare();
    expect(isUp()).toBe(false);
  });

  it('for a stop stays down, also when nobody saw it go', async () => {
    await press('stop');
    const machine = store.machines.get(machineIdOf(id));
    if (machine) machine.startedAtMs = null;
    await compare();
    await settled(product);
    expect([isUp(), await state(), await journal()]).toEqual([false, 'stopped', []]);
  });

  it('and never does is its owner its own to shut down later', async () => {
    await press('restart');
    product.clock.travel(11 * 60_000);
    product.hypervisor.guestShutsDown(machineIdOf(id));
    await until(state, (seen) => seen === 'stopped');
    await compare();
    expect(isUp()).toBe(false);
  });
});

describe('a machine that its owner shut down', () => {
  it('from inside stays down', async () => {
    product.hypervisor.guestShutsDown(machineIdOf(id));
    await until(state, (seen) => seen === 'stopped');
    await compare();
    expect([isUp(), await state(), await journal()]).toEqual([false, 'stopped', []]);
    await customer.post(`/dashboard/service/${id}/vps/start`, {});
    await settled(product);
    expect(await state()).toBe('running');
  });

  it('through the API stays down', async () => {
    await customer.post(`/dashboard/service/${id}/vps/stop`, { force: true });
    await settled(product);
    await compare();
    expect([isUp(), await state(), await journal()]).toEqual([false, 'stopped', []]);
  });

  it('and that runs all the same is shown as running', async () => {
    await customer.post(`/dashboard/service/${id}/vps/stop`, { force: true });
    await settled(product);
    const machine = store.machines.get(machineIdOf(id));
    if (machine) machine.startedAtMs = Date.now();
    await compare();
    expect([isUp(), await state()]).toEqual([true, 'running']);
  });

  it('at the very moment of a comparison stays down', async () => {
    for (let time = 0; time < 5; time += 1) {
      const stop = customer.post(`/dashboard/service/${id}/vps/stop`, { force: true });
      await Promise.all([stop, ...Array.from({ length: 6 }, compare)]);
      await settled(product);
      await compare();
      expect([isUp(), await state(), await journal()]).toEqual([false, 'stopped', []]);
      await customer.post(`/dashboard/service/${id}/vps/start`, {});
      await settled(product);
    }
  });
});

describe('a machine that shuts itself down while an action is at work', () => {
  const wanted = async () =>
    (await sql<{ wanted: string }>(product, 'select wanted from machines where service_id = $1', id))[0]
      ?.wanted;
  const begin = (command: string) =>
    sql(
      product,
      `insert into vps_actions (id, organization_id, service_id, command, status, initiator_type, created_at)
       values (floor(random() * 1e15), $1, $2, $3, 'running', 'system', now())`,
      ...[customer.organizationId, id, command],
    );
  const end = () => sql(product, `delete from vps_actions where service_id = $1 and status = 'running'`, id);

  it('stays down after a backup', async () => {
    await begin('create_backup');
    product.hypervisor.guestShutsDown(machineIdOf(id));
    await until(wanted, (seen) => seen === 'stopped', 5_000);
    expect(await state()).toBe('running');
    await end();
    await compare();
    await settled(product);
    expect([isUp(), await state(), await journal()]).toEqual([false, 'stopped', []]);
  });

  it('is that action its own business when it changes power', async () => {
    await begin('restart');
    await sql(product, `update machines set state = 'restarting' where service_id = $1`, id);
    const event = { id: machineIdOf(id), power: 'stopped', cause: 'guest', at: new Date() } as const;
    await onMachineEvent(product.ctx, product.hypervisor, event);
    expect(await wanted()).toBe('running');
    await end();
  });
});

describe('how long a machine has been up', () => {
  it('counts from its last start, whichever action that was part of', async () => {
    const uptime = async () =>
      (await customer.get(`/dashboard/service/${id}/vps/overview`)).body.data.vps.uptime_s;
    product.clock.set(new Date());
    await customer.post(`/dashboard/service/${id}/vps/snapshots`, { name: 'before' });
    await settled(product);
    await sql(
      product,
      `update machines set started_at = now() - interval '1 hour' where service_id = $1`,
      id,
    );
    await customer.post(`/dashboard/service/${id}/vps/snapshots/before/restore`, {});
    await settled(product);
    await compare();
    expect(await uptime()).toBeLessThan(600);
  });
});

describe('a machine that is gone from its node', () => {
  it('is flagged once and not made anew', async () => {
    store.machines.delete(machineIdOf(id));
    await compare();
    await compare();
    expect([store.machines.has(machineIdOf(id)), await state(), await journal()]).toEqual([
      ...[false, 'error', ['vps.lost']],
    ]);
  });
});

describe('a machine that nobody ordered', () => {
  it('is left alone', async () => {
    await product.hypervisor.createDisk({
      id: 'somebody-elses',
      cpuCores: 1,
      memoryMib: 96,
      diskGib: 1,
      image: 'tiny',
      nic: {
        mac: '02:00:00:00:00:01',
        portMbps: 100,
        addresses: [{ family: 4, address: '10.77.0.250', prefix: 24, gateway: '10.77.0.1' }],
      },
    });
    await compare();
    expect(store.machines.has('somebody-elses')).toBe(true);
  });
});

/** It goes down by itself. */
function fail(): void {
  const machine = store.machines.get(machineIdOf(id));
  if (machine) machine.startedAtMs = null;
}

describe('while an engine is asked and says nothing', () => {
  it('nobody waits for what is held, and no transaction is open', async () => {
    fail();
    await whileAsked(async () => {
      await pause(300);
      const open = await sql(
        product,
        `select query from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'
           and xact_start < now() - interval '200 milliseconds'`,
      );
      expect(open).toEqual([]);
      const changed = await customer.patch(`/dashboard/services/${id}/note`, { note: 'meanwhile' });
      expect(changed.status).toBe(200);
    });
    await settled(product);
    expect(await state()).toBe('running');
  });

  it('what was done to the machine meanwhile counts, and not what the engine said before', async () => {
    fail();
    await whileAsked(async () => {
      expect((await customer.post(`/dashboard/service/${id}/vps/restart`, {})).status).toBe(200);
      await settled(product);
    });
    await settled(product);
    expect([await state(), isUp(), await journal()]).toEqual(['running', true, []]);
  });
});
