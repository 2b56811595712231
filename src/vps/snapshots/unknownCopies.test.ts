import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { runningVps } from '../../../test/orders.ts';
import { startTestProduct, type TestProduct } from '../../../test/product.ts';
import { settled, sql } from '../../../test/sql.ts';

const msPerMinute = 60_000;

let product: TestProduct;
let id: number;
let machine: string;

beforeAll(async () => {
  product = await startTestProduct();
  id = (await runningVps(product, product.customer)).serviceId;
  machine = `vps-${id}`;
});
afterAll(() => product.stop());

const snapshots = () => `/dashboard/service/${id}/vps/snapshots`;
const listed = async () =>
  (await product.customer.get(snapshots())).body.data.snapshots.map((each: { name: string }) => each.name);

/** How the machine's list is after the database was restored from before its copies were made. */
const forgotten = () => sql(product, 'delete from vps_snapshots where service_id = $1', id);

async function lastAction() {
  await settled(product);
  const { body } = await product.customer.get(`/dashboard/service/${id}/vps/history`);
  const { command, status, error } = body.data.actions[0];
  return { command, status, error };
}

const refused = (command: string, name: string) => ({
  command,
  status: 'error',
  error: { code: 'conflict', message: expect.stringContaining(`has a copy called ${name} already, made `) },
});

describe('a copy that the database does not know', () => {
  it('is ours when it was made since it was asked for, as by a version of the product without this question', async () => {
    const list = product.hypervisor.listSnapshots.bind(product.hypervisor);
    const asked = vi.spyOn(product.hypervisor, 'listSnapshots').mockImplementationOnce(async (...of) => {
      await product.hypervisor.createSnapshot(machine, 'begun-before');
      return list(...of);
    });
    await product.customer.post(snapshots(), { name: 'begun-before' });
    expect(await lastAction()).toMatchObject({ command: 'create_snapshot', status: 'success' });
    expect(asked).toHaveBeenCalled();
    asked.mockRestore();
    expect(await listed()).toEqual(['begun-before']);
    await product.customer.delete(`${snapshots()}/begun-before`);
    expect(await lastAction()).toMatchObject({ command: 'delete_snapshot', status: 'success' });
  });

  it('is not handed out as a snapshot of now, and stays', async () => {
    await product.customer.post(snapshots(), { name: 'before-upgrade' });
    expect(await lastAction()).toMatchObject({ status: 'success' });
    const [old] = await product.hypervisor.listSnapshots(machine);
    await forgotten();
    product.clock.travel(2 * msPerMinute);
    await product.customer.post(snapshots(), { name: 'before-upgrade' });
    expect(await lastAction()).toMatchObject(refused('create_snapshot', 'before-upgrade'));
    expect(await listed()).toEqual([]);
    expect(await product.hypervisor.listSnapshots(machine)).toEqual([old]);
    await product.customer.post(snapshots(), { name: 'another' });
    expect(await lastAction()).toMatchObject({ status: 'success' });
    expect(await listed()).toEqual(['another']);
  });

  it('is not handed out as the backup of the night, and stays', async () => {
    const auto_backup = { enabled: true, hour: 0, keep: 7 };
    await product.customer.patch(`/dashboard/service/${id}/vps/settings`, { auto_backup });
    await product.periodic('vps.backups');
    expect(await lastAction()).toMatchObject({ command: 'create_backup', status: 'success' });
    const [old] = await product.hypervisor.listBackups(machine);
    await forgotten();
    product.clock.travel(2 * msPerMinute);
    await sql(product, 'update machines set backed_up_at = null where service_id = $1', id);
    await product.periodic('vps.backups');
    expect(await lastAction()).toMatchObject(refused('create_backup', old?.name ?? ''));
    expect(await listed()).toEqual([]);
    expect(await product.hypervisor.listBackups(machine)).toEqual([old]);
  });
});
