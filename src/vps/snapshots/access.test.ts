import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runningVps } from '../../../test/orders.ts';
import { startTestProduct, type TestProduct, until } from '../../../test/product.ts';
import { sql } from '../../../test/sql.ts';
import { simulatorStore } from '../../drivers/hypervisor/index.ts';

const store = simulatorStore();
let product: TestProduct;
let id: number;
let vps: string;
let laptop: number;
let phone: number;

beforeAll(async () => {
  product = await startTestProduct({ simulator: { store } });
  ({ serviceId: id } = await runningVps(product, product.customer));
  vps = `/dashboard/service/${id}/vps`;
  laptop = await addKey('laptop', 'IOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl');
  phone = await addKey('phone', 'IOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJm');
});
afterAll(() => product.stop());

async function addKey(name: string, end: string): Promise<number> {
  const public_key = `ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA${end}`;
  const answer = await product.customer.post('/dashboard/account/ssh-keys', { name, public_key });
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body.data.ssh_key.id;
}

async function act(path: string, body: unknown = {}) {
  const answer = await product.customer.post(`${vps}/${path}`, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return ended(answer.body.data.action.id);
}

async function ended(actionId: number) {
  const { body } = await until(
    () => product.customer.get(`${vps}/history/${actionId}`),
    ({ body }) => ['success', 'error'].includes(body.data?.action.status),
  );
  return body.data.action;
}

async function shown(): Promise<string[]> {
  const { keys } = (await product.customer.get(`${vps}/access`)).body.data;
  return keys.filter((key: { installed: boolean }) => key.installed).map((key: { name: string }) => key.name);
}

const inGuest = () => store.machines.get(`vps-${id}`)?.guest?.authorizedKeys.length;

describe('a copy that comes back', () => {
  it('shows the keys that came back with it, and says what of the access is of then', async () => {
    await act('access', { ssh_key_ids: [laptop] });
    await act('snapshots', { name: 'with-laptop' });
    await act('access', { ssh_key_ids: [phone] });
    expect(await shown()).toEqual(['phone']);
    const restored = await act('snapshots/with-laptop/restore');
    expect(await shown()).toEqual(['laptop']);
    expect(restored.note).toMatch(/keys .* are those of the time of the copy.*The password is the one of/);
  });

  it('has the keys of today again where that was asked for, as the machine has', async () => {
    await act('access', { ssh_key_ids: [phone, laptop] });
    const restored = await act('snapshots/with-laptop/restore', { keep_keys: true });
    expect(restored).toMatchObject({
      status: 'success',
      note: expect.stringMatching(/keys of today are back/),
    });
    expect([await shown(), inGuest()]).toEqual([['laptop', 'phone'], 2]);
  });

  it('cannot have them while the machine is stopped, and says so before anything is lost', async () => {
    await act('stop', { force: true });
    const refused = await product.customer.post(`${vps}/snapshots/with-laptop/restore`, { keep_keys: true });
    expect([refused.status, refused.body.code]).toEqual([409, 'action_not_allowed']);
    expect(refused.body.message).toContain('without keep_keys');
    expect((await act('snapshots/with-laptop/restore')).status).toBe('success');
    expect(await shown()).toEqual(['laptop']);
    await act('start');
  });

  it('from a time when nobody wrote its keys down says that', async () => {
    await act('access', { ssh_key_ids: [phone] });
    await sql(product, 'update vps_snapshots set access = null where service_id = $1', id);
    const restored = await act('snapshots/with-laptop/restore');
    expect(restored.note).toMatch(/was not written down/);
    expect(await shown()).toEqual(['phone']);
  });
});

describe('an action that builds an image', () => {
  it('says so, how far it is and how long that takes, and nothing more of it afterwards', async () => {
    const { ensureImage } = product.hypervisor;
    let goOn = () => {};
    const built = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    product.hypervisor.ensureImage = async (image, progress) => {
      progress('Building the image debian-12 (1 of 3): unpacking /srv/x');
      progress('Building the image debian-12 (2 of 3): packing the kernel');
      await built;
      await ensureImage(image, progress);
    };
    const asked = await product.customer.post(`${vps}/reinstall`, { os: 'debian' });
    const { id: actionId } = asked.body.data.action;
    const seen = await until(
      async () => (await product.customer.get(`${vps}/overview`)).body.data.vps.current_action,
      (action) => action?.note?.includes('2 of 3'),
    );
    expect(seen.note).toMatch(/^Debian is being built .*step 2 of 3\. .*three minutes/);
    expect(seen.note).not.toContain('srv');
    goOn();
    expect(await ended(actionId)).toMatchObject({ status: 'success', note: null });
    product.hypervisor.ensureImage = ensureImage;
  });
});
