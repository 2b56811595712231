import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { runningVps } from '../../../test/orders.ts';
import { newCustomer, type Person } from '../../../test/people.ts';
import { startTestProduct, type TestProduct, until } from '../../../test/product.ts';
import { settled, sql } from '../../../test/sql.ts';

let product: TestProduct;
let owner: Person;
let id: number;

beforeAll(async () => {
  const capacity = { cpuCores: 100, memoryMib: 1_000_000, diskGib: 10_000, acceleration: 'none' as const };
  product = await startTestProduct({ simulator: { capacity } });
});
afterAll(() => product.stop());
beforeEach(async () => {
  owner = await newCustomer(product, { creditMinor: 100_000 });
  ({ serviceId: id } = await runningVps(product, owner, { option1: 4 }));
});

const upgrade = (change: object) => owner.post(`/dashboard/services/${id}/upgrade-vps`, change);
const pay = (invoiceId: number) => owner.post(`/dashboard/invoices/${invoiceId}/pay`, { method: 'credit' });
const held = async () =>
  (
    await sql<{ memory_mib: number }>(product, 'select memory_mib from placements where service_id = $1', id)
  )[0];
const machine = async () =>
  (
    await sql<{ memory_mib: number }>(product, 'select memory_mib from machines where service_id = $1', id)
  )[0];
const busy = () =>
  sql(
    product,
    `insert into vps_actions (id, organization_id, service_id, command, status, initiator_type, created_at)
     values (floor(random() * 1e15), $1, $2, 'create_backup', 'running', 'system', now())`,
    ...[owner.organizationId, id],
  );
/** Lets go of what keeps the machine busy, while the resize is not to be tried for an hour. */
const postpone = async () => {
  // It may be at work just now, and comes back as soon as it has seen that the machine is busy.
  await until(
    () =>
      sql(
        product,
        `update jobs set run_at = now() + interval '1 hour' where name = 'vps.resize' and state = 'ready' returning id`,
      ),
    (jobs) => jobs.length > 0,
  );
  await sql(product, `delete from vps_actions where service_id = $1 and command = 'create_backup'`, id);
};
const idle = async () => {
  await sql(product, `delete from vps_actions where service_id = $1 and command = 'create_backup'`, id);
  await sql(product, `update jobs set run_at = '2000-01-01' where name = 'vps.resize' and state = 'ready'`);
  await settled(product);
};

describe('a machine whose smaller size waits', () => {
  it('keeps the room that a larger one is promised, until that is paid', async () => {
    await busy();
    expect((await upgrade({ option1: 1 })).body.data.effective).toBe('now');
    const { invoice_id: invoiceId } = (await upgrade({ option1: 8 })).body.data;
    expect(await held()).toEqual({ memory_mib: 8_192 });
    await idle();
    expect(await machine()).toEqual({ memory_mib: 1_024 });
    expect(await held()).toEqual({ memory_mib: 8_192 });
    await pay(invoiceId);
    await until(machine, (seen) => seen?.memory_mib === 8_192);
  });

  it('keeps the room that it still takes, whatever is asked for meanwhile', async () => {
    await busy();
    await upgrade({ option1: 1 });
    expect(await held()).toEqual({ memory_mib: 4_096 });
    const { invoice_id: invoiceId } = (await upgrade({ option1: 2 })).body.data;
    expect(await held()).toEqual({ memory_mib: 4_096 });
    await sql(product, `update invoices set expires_at = '2000-01-01' where id = $1`, invoiceId);
    await product.periodic('billing.expire');
    await until(
      async () =>
        (
          await sql(
            product,
            `select 1 from vps_upgrades where invoice_id = $1 and state = 'expired'`,
            invoiceId,
          )
        ).length,
      (n) => n === 1,
    );
    expect(await held()).toEqual({ memory_mib: 4_096 });
    await idle();
    expect(await held()).toEqual({ memory_mib: 1_024 });
  });

  it('gets it before its owner does anything else with it', async () => {
    await busy();
    await upgrade({ option1: 1 });
    await postpone();
    for (const [path, body] of [['restart'], ['stop'], ['snapshots', { name: 'keeps-it-busy' }]] as const) {
      const asked = await owner.post(`/dashboard/service/${id}/vps/${path}`, body ?? {});
      expect(asked.body, path).toMatchObject({ code: 'locked', message: expect.stringContaining('resize') });
    }
    const { vps } = (await owner.get(`/dashboard/service/${id}/vps/overview`)).body.data;
    expect(vps).toMatchObject({ locked: true, current_action: { command: 'resize', status: 'queued' } });
    expect(vps.actions.restart).toMatchObject({ allowed: false, code: 'locked' });
    await idle();
    expect(await machine()).toEqual({ memory_mib: 1_024 });
    expect((await owner.post(`/dashboard/service/${id}/vps/restart`, {})).status).toBe(200);
  });

  it('is switched off with force all the same', async () => {
    await busy();
    await upgrade({ option1: 1 });
    await postpone();
    expect((await owner.post(`/dashboard/service/${id}/vps/stop`, { force: true })).status).toBe(200);
    const power = async () => (await product.hypervisor.inspect(`vps-${id}`)).power;
    await until(power, (seen) => seen === 'stopped');
    await idle();
    expect(await machine()).toEqual({ memory_mib: 1_024 });
  });
});
