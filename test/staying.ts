/** What a customer has set on a machine is looked at from inside it, after everything that a machine goes through. */
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runProgram } from '../src/platform/host/program.ts';
import { bootMs, type RealProduct, startRealProduct } from './machines.ts';
import { password as ordered, runningVps } from './orders.ts';
import { until } from './product.ts';

interface Guest {
  os: string;
  /** What its image is built from; the tests' images are called so. */
  recipe: string;
  /** Prints the name servers that it asks. */
  nameservers: string;
  takesUserData: boolean;
  bridge: string;
  network: number;
  /** Beyond the smallest order. */
  options: object;
}

const nameservers = ['192.0.2.54', '192.0.2.55'];

/** Calls the suite for one kind of guest: one machine goes through all of it. */
export function describeStaying(guest: Guest, skip: string | null): void {
  describe.skipIf(skip !== null)(`what was set on a machine of ${guest.os}`, { timeout: 4 * bootMs }, () => {
    let product: RealProduct;
    let id = 0;
    let addresses: string[] = [];
    let keyId = 0;
    let password = '';
    let images = '';

    const vps = (path: string) => `/dashboard/service/${id}/vps${path}`;
    const overview = async () => (await product.customer.get(vps('/overview'))).body.data.vps;
    const inside = (command: string, by?: string) => product.ssh(addresses[0] ?? '', command, by);
    const act = async (path: string, body: object = {}) => {
      const done = await product.act(id, 'POST', path, body);
      expect(done.action.error, path).toBeNull();
      return done;
    };
    const answers = () =>
      until(
        () => inside('echo up').catch(() => ''),
        (said) => said === 'up',
        bootMs,
      );

    async function expectAll(): Promise<void> {
      await answers();
      expect(await inside('hostname', password), 'the password that was set').toBe('stays.example.com');
      await expect(inside('true', ordered), 'the password of the order').rejects.toThrow();
      expect(await inside('grep -c ^ssh- /root/.ssh/authorized_keys'), 'the keys').toBe('1');
      const asked = () => inside(guest.nameservers);
      await expect.poll(asked, { timeout: 20_000, interval: 1_000 }).toContain(nameservers[0]);
      expect(await asked()).toContain(nameservers[1]);
      const present = await inside('ip -o addr show');
      for (const address of addresses) expect(present).toContain(` ${address}/`);
      if (guest.takesUserData) expect(await inside('cat /root/user-data'), 'user data').toBe('ran');
    }

    beforeAll(async () => {
      images = await imagesWith(guest);
      product = await startRealProduct(guest.bridge, guest.network, { IMAGES_DIR: images });
      const public_key = readFileSync(join(product.dataDir, 'id.pub'), 'utf8');
      const added = await product.customer.post('/dashboard/account/ssh-keys', {
        name: 'laptop',
        public_key,
      });
      keyId = added.body.data.ssh_key.id;
      const order = { ...guest.options, option6: guest.os };
      ({ serviceId: id } = await runningVps(product.child, product.customer, order, 2 * bootMs));
      addresses = (await overview()).ips.map((ip: { address: string }) => ip.address);
    }, 3 * bootMs);
    afterAll(async () => {
      await product?.stop();
      rmSync(images, { recursive: true, force: true });
    }, 60_000);

    it('at once after its delivery is there when its first boot has ended', async () => {
      ({ password } = await act('/reset-password'));
      await act('/access', { ssh_key_ids: [] });
      const settings = { hostname: 'stays.example.com', nameservers };
      expect((await product.customer.patch(vps('/settings'), settings)).status).toBe(200);
      await until(overview, ({ locked }) => locked === false, bootMs);
      const booted = '[ ! -d /run/cloud-init ] || [ -e /run/cloud-init/result.json ] && echo booted';
      await until(
        () => inside(booted, password).catch(() => ''),
        (said) => said === 'booted',
        bootMs,
      );
      expect(await inside('hostname', password)).toBe('stays.example.com');
      await expect(inside('true', ordered)).rejects.toThrow();
      await expect(inside('true'), 'a key that was taken away').rejects.toThrow();
      await act('/access', { ssh_key_ids: [keyId] });
    });

    it.runIf(guest.takesUserData)('by a reinstall comes with its user data, whenever that ran', async () => {
      password = 'Once-More-7';
      const user_data = '#!/bin/sh\nsleep 5\necho ran >> /root/user-data\n';
      await act('/reinstall', { os: guest.os, password, ssh_key_ids: [keyId], user_data });
      await expectAll();
    });

    it('stays after a restart', async () => {
      await act('/restart', { force: true });
      await expectAll();
    });

    it('stays after a snapshot has come back', async () => {
      await act('/snapshots', { name: 'kept' });
      await act('/snapshots/kept/restore');
      await expectAll();
    });

    it('stays after the rescue system', async () => {
      for (const rescue of [true, false]) {
        await product.customer.patch(vps('/settings'), { rescue });
        await act('/restart', { force: true });
        await answers();
      }
      await expectAll();
    });

    it('stays after it has grown, with the address that came along', async () => {
      const change = { option3: 2, option4: 2 };
      const upgrade = await product.customer.post(`/dashboard/services/${id}/upgrade-vps`, change);
      expect(upgrade.status, JSON.stringify(upgrade.body)).toBe(200);
      const { invoice_id: invoiceId } = upgrade.body.data;
      await product.customer.post(`/dashboard/invoices/${invoiceId}/pay`, { method: 'credit' });
      const grown = await until(
        overview,
        (seen) => seen.resources.cpu === 2 && !seen.locked && seen.state === 'running',
        bootMs,
      );
      addresses = grown.ips.map((ip: { address: string }) => ip.address);
      expect(addresses.length).toBeGreaterThan(1);
      await expectAll();
    });
  });
}

/** The tests' images, the guest's under the name that the product offers it by. */
async function imagesWith({ os, recipe }: Guest): Promise<string> {
  const built = process.env.INNKEEPER_TEST_IMAGES ?? '';
  const dir = mkdtempSync(join(tmpdir(), 'innkeeper-images-'));
  chmodSync(dir, 0o755); // machines' accounts read them
  await runProgram(['cp', '-al', `${built}/.`, dir]);
  if (os !== recipe) await runProgram(['cp', '-al', join(built, recipe), join(dir, os)]);
  return dir;
}
