/** The VPS manager on a real guest: each thing it says it did is looked at from inside the machine. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { bootMs, type RealProduct, startRealProduct } from '../../test/machines.ts';
import { runningVps } from '../../test/orders.ts';
import { until } from '../../test/product.ts';
import { reasonToSkip } from '../drivers/hypervisor/qemu/testbed.ts';
import { pixelsOf } from '../drivers/hypervisor/screenConformance.ts';

const reason = await reasonToSkip('tiny');
if (reason !== null) console.warn(`The VPS manager is not tested on real machines: ${reason}`);

let product: RealProduct;
let id = 0;
let address = '';
let keyId = 0;
/** What machines that start from the network asked for, and from where. */
const asked: { path: string; from: string }[] = [];
const bootServer = createServer((request, response) => {
  asked.push({ path: decodeURIComponent(request.url ?? ''), from: request.socket.remoteAddress ?? '' });
  response.end('#!ipxe\nshell\n');
});
let bought: { address: string; family: 4 | 6 }[] = [];

describe.skipIf(reason !== null)('the VPS manager on a real guest', { timeout: bootMs }, () => {
  beforeAll(async () => {
    await once(bootServer.listen(0, '0.0.0.0'), 'listening');
    const { port } = bootServer.address() as AddressInfo;
    product = await startRealProduct('ikvps', 79, {
      NETBOOT_URL: `http://10.79.0.1:${port}/menu.ipxe?mac=\${net0/mac}`,
    });
    const public_key = readFileSync(join(product.dataDir, 'id.pub'), 'utf8');
    const added = await product.customer.post('/dashboard/account/ssh-keys', { name: 'laptop', public_key });
    keyId = added.body.data.ssh_key.id;
    ({ serviceId: id } = await runningVps(
      product.child,
      product.customer,
      { domain: 'vm.example.com' },
      bootMs,
    ));
    const { vps } = (await product.customer.get(`/dashboard/service/${id}/vps/overview`)).body.data;
    address = vps.ips[0].address;
  }, bootMs);
  afterAll(async () => {
    bootServer.close();
    await product.stop();
  }, 60_000);

  const vps = (path: string) => `/dashboard/service/${id}/vps${path}`;
  const inside = (command: string, password?: string) => product.ssh(address, command, password);
  /** So many pixels of the picture of its screen are not black. */
  const litPixels = async () => {
    const { demo, url } = product.child;
    const headers = {
      token: demo.customer.api_key,
      'x-organization-id': String(demo.customer.organization_id),
    };
    const answer = await fetch(`${url}/api${vps('/screen')}`, { headers });
    expect(answer.status).toBe(200);
    const { pixels } = pixelsOf(Buffer.from(await answer.arrayBuffer()));
    return pixels.reduce((lit, value, at) => lit + (at % 3 === 1 && value > 0x40 ? 1 : 0), 0);
  };
  const answers = () =>
    until(
      () => inside('echo up').catch(() => ''),
      (said) => said === 'up',
      bootMs,
    );

  it('changes the password without a reboot', async () => {
    const { action, password } = await product.act(id, 'POST', '/reset-password');
    expect(action.error).toBeNull();
    expect(await inside('hostname', password)).toBe('vm.example.com');
    await expect(inside('true', 'Canary-Pass-1')).rejects.toThrow();
  });

  it('replaces the keys without a reboot', async () => {
    expect((await product.act(id, 'POST', '/access', { ssh_key_ids: [] })).action.error).toBeNull();
    await expect(inside('true')).rejects.toThrow();
    await product.act(id, 'POST', '/access', { ssh_key_ids: [keyId] });
    expect(await inside('echo back')).toBe('back');
  });

  it('shows the screen as RFB and as a picture, and lets in over the serial line', async () => {
    const screen = await openConsole('vnc');
    await screen.waitFor(/^RFB 003\.\d{3}\n/);
    screen.socket.close();

    // What its firmware has written, as the tiny system's own console is the serial line.
    await expect.poll(litPixels).toBeGreaterThan(100);

    const { password } = await product.act(id, 'POST', '/reset-password');
    const { socket, waitFor } = await openConsole('serial');
    socket.send('\n');
    await waitFor(/login: ?$/);
    socket.send('root\n');
    await waitFor(/[Pp]assword: ?$/);
    socket.send(`${password}\n`);
    await waitFor(/# /);
    socket.send('echo in-$((40+2))\n');
    await waitFor(/in-42/);
    socket.close();
  });

  it('brings a file back from a snapshot', async () => {
    await inside('echo precious > /root/file; sync');
    const made = await product.act(id, 'POST', '/snapshots', { name: 'before' });
    expect(made.action.error).toBeNull();
    await inside('rm /root/file; sync');
    expect((await product.act(id, 'POST', '/snapshots/before/restore')).action.error).toBeNull();
    await answers();
    expect(await inside('cat /root/file')).toBe('precious');
    expect((await product.act(id, 'DELETE', '/snapshots/before')).action.error).toBeNull();
  });

  it('gives the running guest the addresses that were bought', async () => {
    const booted = await inside('cat /proc/sys/kernel/random/boot_id');
    await payUpgrade({ option4: 2, option5: 1 });
    bought = await until(
      async () => (await product.customer.get(vps('/overview'))).body.data.vps.ips.slice(1),
      (ips) => ips.length === 2,
      bootMs,
    );
    expect(bought.map((ip) => ip.family)).toEqual([4, 6]);
    await answerThere();
    expect(await inside('cat /proc/sys/kernel/random/boot_id')).toBe(booted);
    expect(await inside('ip -6 route')).toMatch(/^default via /m);
  });

  it('grows the machine for real once the upgrade is paid', async () => {
    const before = await sizes();
    await payUpgrade({ option2: 12, option3: 2 });
    await until(
      async () => (await product.customer.get(vps('/overview'))).body.data.vps,
      (seen) => seen.resources.cpu === 2 && !seen.locked && seen.state === 'running',
      bootMs,
    );
    await answers();
    await answerThere();
    const after = await sizes();
    expect(after.cores).toBe(2);
    expect(after.diskKib).toBeGreaterThan(before.diskKib + 1_500_000);
  });

  it('draws charts from what the guest really does', async () => {
    const points = await until(
      async () => (await product.customer.get(vps('/charts?period=hour'))).body.data.points,
      (seen) => seen.length >= 2,
      60_000,
    );
    expect(points.at(-1).maxmem).toBeGreaterThan(500_000_000);
    expect(points.some((point: { cpu: number }) => point.cpu > 0)).toBe(true);
  });

  it('reinstalls: the old contents are gone, addresses stay, the new password and name count', async () => {
    await inside('echo old > /root/old; sync');
    const body = {
      os: 'tiny',
      password: 'Fresh-Start-9',
      ssh_key_ids: [keyId],
      hostname: 'fresh.example.com',
    };
    expect((await product.act(id, 'POST', '/reinstall', body)).action.error).toBeNull();
    await answers();
    expect(await inside('hostname; ls /root')).toBe('fresh.example.com');
    expect(await inside('hostname', 'Fresh-Start-9')).toBe('fresh.example.com');
  });

  it('starts from the network with its own address, and from its disk again', async () => {
    const { body } = await product.customer.patch(vps('/settings'), { boot_order: 'network' });
    expect(body.data.settings.boot_order).toBe('network');
    expect((await product.act(id, 'POST', '/restart', { force: true })).action.error).toBeNull();
    await until(
      async () => asked,
      (seen) => seen.length > 0,
      60_000,
    );
    const { mac } = (await product.customer.get(vps('/ips'))).body.data.ips[0];
    expect(asked[0]).toEqual({ path: `/menu.ipxe?mac=${mac}`, from: address });
    await product.customer.patch(vps('/settings'), { boot_order: 'disk' });
    expect((await product.act(id, 'POST', '/restart', { force: true })).action.error).toBeNull();
    await answers();
  });

  it('takes a new hostname to the running guest', async () => {
    await product.customer.patch(vps('/settings'), { hostname: 'renamed.example.com' });
    await until(
      () => inside('hostname'),
      (name) => name === 'renamed.example.com',
      30_000,
    );
  });

  async function payUpgrade(change: object) {
    const upgrade = await product.customer.post(`/dashboard/services/${id}/upgrade-vps`, change);
    expect(upgrade.status, JSON.stringify(upgrade.body)).toBe(200);
    const { invoice_id: invoiceId } = upgrade.body.data;
    if (invoiceId === null) return;
    await product.customer.post(`/dashboard/invoices/${invoiceId}/pay`, { method: 'credit' });
  }

  async function answerThere() {
    for (const { address } of bought)
      await until(
        () => product.ssh(address, 'echo there').catch(() => ''),
        (said) => said === 'there',
        60_000,
      );
  }

  async function sizes() {
    const [cores = '', diskKib = ''] = (await inside("nproc; df -k / | tail -1 | awk '{print $2}'")).split(
      '\n',
    );
    return { cores: Number(cores), diskKib: Number(diskKib) };
  }

  async function openConsole(type: string) {
    const answer = await product.customer.get(vps(`/console?type=${type}`));
    const { pathname } = new URL(answer.body.data.wss_url);
    const socket = new WebSocket(product.child.url.replace('http', 'ws') + pathname);
    let seen = '';
    // Before it is open: the first bytes may come with the opening.
    socket.on('message', (data) => {
      seen += data.toString();
    });
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
    const waitFor = (text: RegExp) =>
      until(
        async () => seen,
        (all) => text.test(all),
        60_000,
      );
    return { socket, waitFor };
  }
});
