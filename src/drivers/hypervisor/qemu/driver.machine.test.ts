import { createSocket } from 'node:dgram';
import { appendFile, readdir, readFile, readlink, stat } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runAsRoot, runProgram } from '../../../platform/host/program.ts';
import { describeHypervisor } from '../conformance.ts';
import type { Hypervisor, MachineSpec } from '../contract.ts';
import { qemuHypervisor } from './driver.ts';
import { exists, machineFiles } from './files.ts';
import { reasonToSkip, type Testbed, testbed } from './testbed.ts';

const skip = await reasonToSkip('tiny');
if (skip) console.warn(`QEMU is not tested: ${skip}`);

describeHypervisor(
  'QEMU',
  async () => (await testbed(1, 'tiny', {})).underTest({ readyTimeoutMs: 60_000, shutdownTimeoutMs: 30_000 }),
  skip,
);

describe.skipIf(skip !== null)('a QEMU guest', () => {
  let bed: Testbed;
  let hypervisor: Hypervisor;
  let spec: MachineSpec;
  const own = () => ({ v4: spec.nic.addresses[0]?.address, v6: spec.nic.addresses[1]?.address });

  /** Runs a script in the guest that may cut its own network for a moment, and returns what it printed. */
  async function cutOff(script: string): Promise<string> {
    await bed.inGuest(
      spec,
      `rm -f /tmp/out; (${script}; mv /tmp/log /tmp/out) >/tmp/log 2>&1 </dev/null & exit`,
    );
    const read = () => bed.inGuest(spec, 'cat /tmp/out').catch(() => null);
    let printed: string | null = null;
    await expect
      .poll(
        async () => {
          printed = await read();
          return printed;
        },
        { timeout: 20_000 },
      )
      .not.toBeNull();
    return printed ?? '';
  }

  /** Has another product start a machine that is killed after that, or in the middle, once there is a QEMU. */
  async function killProduct(other: MachineSpec, when: 'during' | 'after'): Promise<void> {
    const program = `
      const { existsSync } = await import('node:fs');
      const { qemuHypervisor } = await import(process.argv[1]);
      const { options, spec, identity, pidFile, when } = JSON.parse(process.argv[2]);
      const log = { info() {}, warn() {}, error() {} };
      const hypervisor = qemuHypervisor({ ...options, log });
      await hypervisor.prepare(() => undefined);
      await hypervisor.createDisk(spec);
      await hypervisor.writeIdentity(spec, identity);
      const end = () => process.kill(process.pid, 'SIGKILL');
      if (when === 'during') setInterval(() => existsSync(pidFile) && end(), 0);
      await hypervisor.start(spec);
      end();`;
    const driver = new URL('./driver.ts', import.meta.url).href;
    const { pidFile } = machineFiles(bed.options, other.id);
    const facts = JSON.stringify({ ...bed, spec: other, pidFile, when });
    const argv = [process.execPath, '--input-type=module', '--eval', program, driver, facts];
    await expect(runProgram(argv)).rejects.toThrow('ended with null');
  }

  beforeAll(async () => {
    bed = await testbed(2, 'tiny', {});
    hypervisor = bed.open();
    await hypervisor.prepare(() => undefined);
    await hypervisor.ensureImage(bed.image, () => undefined);
    spec = bed.spec(1);
    await hypervisor.createDisk(spec);
    await hypervisor.writeIdentity(spec, bed.identity);
    await hypervisor.start(spec);
    // As long as everywhere under emulation: a set-up that fails is not tried again.
    await hypervisor.waitUntilReady(spec, { timeoutMs: 240_000 });
  }, 900_000);

  afterAll(async () => {
    await hypervisor?.destroy(spec.id);
    await hypervisor?.close();
    bed?.remove();
  });

  it('reaches its gateway from its own addresses', async () => {
    await bed.inGuest(spec, `ping -c 1 -W 5 ${gateway(4)} && ping -c 1 -W 5 ${gateway(6)}`);
  });

  it('reaches nobody with an IPv4 or IPv6 address that is not its own', { timeout: 60_000 }, async () => {
    const printed = await bed.inGuest(
      spec,
      `ip addr add 10.77.2.99/24 dev eth0; ip addr add fd77:2::99/64 dev eth0; sleep 2
       ping -c 2 -W 1 -I 10.77.2.99 ${gateway(4)}; ping -c 2 -W 1 -I fd77:2::99 ${gateway(6)}; true`,
    );
    expect(printed.match(/100% packet loss/g)).toHaveLength(2);
    expect(await answers(own().v4)).toBe(true);
    expect(await answers(own().v6)).toBe(true);
    // Asked who has the address, the guest answers; its answer must not arrive.
    for (const address of ['10.77.2.99', 'fd77:2::99']) {
      expect(await answers(address)).toBe(false);
      expect((await runProgram(['ip', 'neighbour', 'show', address])).stdout).not.toContain('lladdr');
    }
  });

  it('announces nobody else’s address in ARP', async () => {
    await bed.inGuest(
      spec,
      'arping -U -c 2 -I eth0 -s 10.77.2.98 10.77.2.98; arping -c 1 -w 1 -I eth0 -s 10.77.2.98 10.77.2.1; true',
    );
    expect((await runProgram(['ip', 'neighbour', 'show', '10.77.2.98'])).stdout).not.toContain('lladdr');
  });

  it('sends nothing from another MAC', { timeout: 60_000 }, async () => {
    const take = (mac: string) =>
      `ip link set eth0 down; ip link set eth0 address ${mac}; ip link set eth0 up`;
    const back = `ip -4 route add default via ${gateway(4)}; ip addr add ${own().v6}/64 dev eth0`;
    const printed = await cutOff(
      `${take('52:54:00:00:00:99')}; ping -c 2 -W 1 ${gateway(4)}; ${take(spec.nic.mac)}; ${back}; ping -c 1 -W 3 ${gateway(4)}`,
    );
    expect(printed).toMatch(/100% packet loss[\s\S]* 0% packet loss/);
  });

  it('is no DHCP server', async () => {
    const config = 'start 10.77.2.50\\nend 10.77.2.60\\ninterface eth0\\nlease_file /run/leases\\n';
    await bed.inGuest(
      spec,
      `printf '${config}' > /run/udhcpd.conf; touch /run/leases; udhcpd -S /run/udhcpd.conf`,
    );
    const received: Buffer[] = [];
    const relay = createSocket('udp4').on('message', (message) => received.push(message));
    await new Promise<void>((resolve) => relay.bind(67, gateway(4), resolve));
    const rules = async () => {
      relay.send(dhcpDiscover(gateway(4)), 67, own().v4); // again each time: the server may just be starting
      return (await runAsRoot(['nft', 'list', 'table', 'bridge', 'innkeeper_ikt2'])).stdout;
    };
    await expect.poll(rules, { timeout: 10_000 }).toMatch(/udp sport 67 counter packets [1-9]/);
    expect(received).toEqual([]);
    relay.close();
  });

  it('gets nowhere from a tap without rules', { timeout: 60_000 }, async () => {
    const { tap } = machineFiles(bed.options, spec.id);
    await runAsRoot(['nft', 'delete element bridge innkeeper_ikt2 guests', `{ "${tap}" : jump ${tap} }`]);
    expect(await answers(own().v4)).toBe(false);
    await hypervisor.start(spec); // puts the rules of a running machine in place again
    expect(await answers(own().v4)).toBe(true);
  });

  it('lives on when the product is killed, and is found by the next one', { timeout: 60_000 }, async () => {
    const other = bed.spec(2);
    await killProduct(other, 'after');
    const next = bed.open();
    await next.prepare(() => undefined);
    expect(await next.inspect(other.id)).toMatchObject({ power: 'running' });
    await next.destroy(other.id);
    await next.close();
  });

  it('goes on, plugged in, when the product was killed while its QEMU came up', {
    timeout: 150_000,
  }, async () => {
    const other = bed.spec(3);
    await killProduct(other, 'during');
    const next = bed.open();
    await next.prepare(() => undefined);
    await next.start(other);
    await next.waitUntilReady(other, { timeoutMs: 120_000 });
    expect(await bed.spoofs(other)).toBe(false);
    await next.destroy(other.id);
    await next.close();
  });

  it('does not seem to run, nor to have run, when its tap could not be plugged in', {
    timeout: 60_000,
  }, async () => {
    const other = bed.spec(4);
    const elsewhere = { ...bed.options, bridge: { ...bed.options.bridge, name: 'gone2' } };
    const files = machineFiles(elsewhere, other.id);
    const lost = qemuHypervisor(elsewhere);
    await lost.createDisk(other);
    await lost.writeIdentity(other, bed.identity);
    await expect(lost.start(other)).rejects.toMatchObject({ code: 'network_failed' });
    expect(await lost.inspect(other.id)).toMatchObject({ power: 'stopped' });
    expect(await exists(files.runDir)).toBe(false);
    expect(await exists(files.machineType)).toBe(false); // it was never started, so it may not be started slowly
    await lost.destroy(other.id);
    expect((await runProgram(['ip', '-o', 'link'])).stdout).not.toContain(files.tap);
    await lost.close();
  });

  it('cannot fill its host with what its QEMU prints', { timeout: 60_000 }, async () => {
    const { log, runDir, process } = machineFiles(bed.options, spec.id);
    const [pid] = (await readFile(process, 'utf8')).split(' ');
    const printed = `/proc/${pid}/fd/2`;
    expect(await readlink(printed)).toBe(log);
    expect(await readdir(runDir)).not.toContain('log'); // memory, which all of the host lives from
    await appendFile(printed, 'x'.repeat(3_000_000));
    const size = async () => (await stat(log)).size;
    await expect.poll(size, { timeout: 20_000 }).toBeLessThan(2 ** 20);
    await appendFile(printed, 'y');
    expect(await size()).toBe(1);
  });

  it('leaves no secret on the host once it is told to forget, nor in any command line', async () => {
    const files = machineFiles(bed.options, spec.id);
    const secret = bed.identity.passwordHash ?? '';
    const holds = async (path: string) =>
      (await runAsRoot(['grep', '-rlF', secret, path]).catch(() => ({ stdout: '' }))).stdout;
    expect(await holds(files.seed)).toContain(files.seed);
    await hypervisor.forgetSecrets(spec.id);
    expect(await holds(files.seed)).toBe('');
    expect((await runProgram(['ps', '-ewwo', 'args'])).stdout).not.toContain(secret);
  });

  it('runs under an account of its own when we are root', async () => {
    if (process.getuid?.() !== 0) return;
    const { pidFile } = machineFiles(bed.options, spec.id);
    const { stdout } = await runProgram([
      'ps',
      '-o',
      'user=',
      '-p',
      (await runProgram(['cat', pidFile])).stdout.trim(),
    ]);
    expect(Number(stdout)).toBeGreaterThanOrEqual(0x7000_0000);
  });

  it('has a disk of the size that was asked', async () => {
    expect(await bed.inGuest(spec, 'df -m / | tail -1')).toMatch(/ 9\d\d /);
  });

  function gateway(family: 4 | 6): string {
    return spec.nic.addresses.find((each) => each.family === family)?.gateway ?? '';
  }
});

/** Whether the SSH server at this address takes a connection within two seconds. */
function answers(host: string | undefined): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ host, port: 22, timeout: 2_000 });
    const finish = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('connect', () => finish(true));
    socket.once('timeout', () => finish(false));
    socket.once('error', () => finish(false));
  });
}

/** "Who gives me an address?", as a relay at `gateway` passes it on (RFC 2131): the answer goes to the relay. */
function dhcpDiscover(gateway: string): Buffer {
  const message = Buffer.alloc(300);
  message.set([1, 1, 6, 1, 0x11, 0x22, 0x33, 0x44]);
  message.set(gateway.split('.').map(Number), 24);
  message.set([0x52, 0x54, 0, 1, 2, 3], 28);
  message.set([0x63, 0x82, 0x53, 0x63, 53, 1, 1, 255], 236);
  return message;
}
