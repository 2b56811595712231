import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { GuestIdentity, Hypervisor, ImageSource, MachineEvent, MachineSpec } from './contract.ts';

/** What the suite needs to know of the driver it tests. */
export interface DriverUnderTest {
  hypervisor: Hypervisor;
  image: ImageSource;
  /** A machine of the smallest size, for the image. Another number: another machine. */
  spec(number: number): MachineSpec;
  identity: GuestIdentity;
  /** The driver again, as after a restart of the product: new object, same machines. */
  again(): Promise<Hypervisor>;
  /** The guest shuts itself down. */
  guestShutsDown(spec: MachineSpec): Promise<void>;
  /** The machine goes away by itself: crash, out of memory, somebody's kill. */
  lose(spec: MachineSpec): Promise<void>;
  /** What is left of a machine on the host, one line each. Empty: nothing. */
  leftovers(spec: MachineSpec): Promise<string[]>;
  /** Runs a command in the guest over SSH; null where there is no guest. */
  inGuest: ((spec: MachineSpec, command: string, signIn: 'key' | 'password') => Promise<string>) | null;
  /** Tidies up after the suite. */
  remove(): void;
  readyTimeoutMs: number;
  shutdownTimeoutMs: number;
}

/** A hostname that would do harm wherever text is taken for a command. */
export const hostileHostname = `a$(touch /owned)'";touch /owned`;

/**
 * What every driver must do. The tests follow one machine through its life, in order, since booting one is the
 * expensive part; `skip` is the reason why this host cannot run the suite, or null.
 */
export function describeHypervisor(
  name: string,
  make: () => Promise<DriverUnderTest>,
  skip: string | null = null,
): void {
  describe.skipIf(skip !== null)(`${name} keeps the hypervisor contract`, () => {
    let driver: DriverUnderTest;
    let hypervisor: Hypervisor;
    let spec: MachineSpec;
    let events: MachineEvent[] = [];

    const listen = () => hypervisor.watch((event) => events.push(event));
    const ready = () => hypervisor.waitUntilReady(spec, { timeoutMs: driver.readyTimeoutMs });
    const power = async () => (await hypervisor.inspect(spec.id)).power;
    const shutdown = () => hypervisor.shutdown(spec.id, { timeoutMs: driver.shutdownTimeoutMs });
    const lastEvent = () => events.at(-1);
    const eventually = (cause: MachineEvent['cause']) =>
      expect
        .poll(lastEvent, { timeout: driver.shutdownTimeoutMs })
        .toMatchObject({ id: spec.id, power: 'stopped', cause });
    const hasCode = (code: string, permanent: boolean) => expect.objectContaining({ code, permanent });
    async function restart(): Promise<void> {
      await hypervisor.close();
      hypervisor = await driver.again();
      events = [];
      listen();
      await hypervisor.prepare(() => undefined);
    }

    beforeAll(async () => {
      driver = await make();
      hypervisor = driver.hypervisor;
      spec = driver.spec(1);
      listen();
    }, 900_000);

    afterAll(async () => {
      await hypervisor?.destroy(spec.id);
      await hypervisor?.close();
      driver?.remove();
    }, 60_000);

    it('prepares the host and an image, as often as asked', { timeout: 900_000 }, async () => {
      const lines: string[] = [];
      for (const _ of [1, 2]) {
        await hypervisor.prepare((line) => lines.push(line));
        await Promise.all([1, 2].map(() => hypervisor.ensureImage(driver.image, (line) => lines.push(line))));
      }
      expect(lines.length).toBeGreaterThan(0);
      expect((await hypervisor.capacity()).memoryMib).toBeGreaterThan(spec.memoryMib);
      expect(await hypervisor.troubles()).toEqual([]);
      await hypervisor.mend();
    });

    it('keeps an image under its slug', async () => {
      const other = { slug: driver.image.slug, kind: 'build', recipe: 'of something else' } as const;
      const ensured = (image: ImageSource) => hypervisor.ensureImage(image, () => undefined);
      await expect(ensured(other)).rejects.toEqual(hasCode('image_rejected', true));
      await expect(ensured({ ...driver.image, slug: '../etc' })).rejects.toEqual(
        hasCode('spec_invalid', true),
      );
      await ensured(driver.image);
    });

    it('answers for a machine that is not there', async () => {
      const { id } = driver.spec(2);
      const deadline = { timeoutMs: 1_000 };
      expect(await hypervisor.inspect(id)).toEqual({ id, power: 'absent', startedAt: null });
      await hypervisor.destroy(id);
      await hypervisor.forgetSecrets(id);
      const absent = hasCode('machine_absent', true);
      await expect(hypervisor.start(driver.spec(2))).rejects.toEqual(absent);
      await expect(hypervisor.waitUntilReady(driver.spec(2), deadline)).rejects.toEqual(absent);
      await expect(hypervisor.shutdown(id, deadline)).rejects.toEqual(absent);
      await expect(hypervisor.powerOff(id)).rejects.toEqual(absent);
      await expect(hypervisor.reset(id)).rejects.toEqual(absent);
      expect(await hypervisor.list()).toEqual([]);
    });

    it('refuses what has no meaning, for good', async () => {
      const invalid = hasCode('spec_invalid', true);
      for (const id of ['', '../etc', 'A', '-a', 'a b', 'a'.repeat(41)]) {
        await expect(hypervisor.createDisk({ ...spec, id }), id).rejects.toEqual(invalid);
        await expect(hypervisor.destroy(id), id).rejects.toEqual(invalid);
      }
      const address = { ...spec.nic.addresses[0], address: '10.0.0.1 accept' };
      const bad = { ...spec, nic: { ...spec.nic, addresses: [address] } } as MachineSpec;
      await expect(hypervisor.start(bad)).rejects.toEqual(invalid);
      const hostname = 'two\nlines';
      await expect(hypervisor.writeIdentity(spec, { ...driver.identity, hostname })).rejects.toEqual(invalid);
      await expect(hypervisor.createDisk({ ...spec, image: 'none' })).rejects.toEqual(
        hasCode('image_unknown', true),
      );
    });

    it('makes a machine by steps that can each be repeated', async () => {
      for (const _ of [1, 2]) await hypervisor.createDisk(spec);
      const identity = { ...driver.identity, hostname: hostileHostname };
      for (const _ of [1, 2]) await hypervisor.writeIdentity(spec, identity);
      expect(await hypervisor.list()).toEqual([{ id: spec.id, power: 'stopped', startedAt: null }]);
      const own = spec.nic.addresses.map(({ address }) => address);
      expect((await hypervisor.inspect(spec.id)).addresses ?? own).toEqual(own);
      await expect(hypervisor.reset(spec.id)).rejects.toEqual(hasCode('not_running', false));
      await shutdown();
      await hypervisor.powerOff(spec.id);
      for (const _ of [1, 2]) await hypervisor.unplug(spec.id);
    });

    it('starts it once, however often it is asked, and says when it is ready', {
      timeout: 180_000,
    }, async () => {
      await Promise.all([hypervisor.start(spec), hypervisor.start(spec)]);
      await hypervisor.start(spec);
      await ready();
      await expect(hypervisor.unplug(spec.id)).rejects.toEqual(hasCode('not_stopped', true));
      expect(events).toEqual([{ id: spec.id, power: 'running', cause: 'host', at: expect.any(Date) }]);
      const { startedAt } = await hypervisor.inspect(spec.id);
      expect(Math.abs(Date.now() - (startedAt?.getTime() ?? 0))).toBeLessThan(180_000);
    });

    it('gives the guest its name as text, its addresses, and sign-in by key and by password', {
      timeout: 60_000,
    }, async () => {
      if (!driver.inGuest) return;
      const facts = await driver.inGuest(
        spec,
        'cat /proc/sys/kernel/hostname; ls /; ip addr show dev eth0',
        'key',
      );
      expect(facts).toContain(hostileHostname);
      expect(facts).not.toMatch(/^owned$/m);
      for (const { address, prefix } of spec.nic.addresses) expect(facts).toContain(`${address}/${prefix}`);
      expect(await driver.inGuest(spec, 'echo signed in', 'password')).toContain('signed in');
    });

    it('forgets secrets while the machine runs on', async () => {
      for (const _ of [1, 2]) await hypervisor.forgetSecrets(spec.id);
      expect(await power()).toBe('running');
    });

    it('resets it without losing it', { timeout: 180_000 }, async () => {
      const before = await hypervisor.inspect(spec.id);
      await hypervisor.reset(spec.id);
      // An engine may do it by starting the machine anew.
      expect(await hypervisor.inspect(spec.id)).toEqual({ ...before, startedAt: expect.any(Date) });
    });

    it('finds it again after a restart of the product, and hears of its end', {
      timeout: 180_000,
    }, async () => {
      const before = await hypervisor.list();
      await restart();
      expect(await hypervisor.list()).toEqual(before);
      await expect.poll(ready, { timeout: driver.readyTimeoutMs }).toBeUndefined();
      await driver.guestShutsDown(spec);
      await eventually('guest');
      expect(await power()).toBe('stopped');
    });

    it('boots again without the secrets, and shuts down when asked', { timeout: 180_000 }, async () => {
      await hypervisor.start(spec);
      await ready();
      const name = await driver.inGuest?.(spec, 'cat /etc/hostname', 'key');
      if (driver.inGuest) expect(name).toContain(hostileHostname);
      await shutdown();
      await eventually('host');
      expect(await power()).toBe('stopped');
    });

    it('keeps its deadlines: a booting guest is neither ready nor deaf for ever', {
      timeout: 60_000,
    }, async () => {
      await hypervisor.start(spec);
      const short = { timeoutMs: 5 };
      await expect(hypervisor.waitUntilReady(spec, short)).rejects.toEqual(hasCode('ready_timeout', false));
      await expect(hypervisor.shutdown(spec.id, short)).rejects.toEqual(hasCode('shutdown_timeout', false));
      expect(await power()).toBe('running');
      const signal = AbortSignal.abort(new Error('enough'));
      await expect(hypervisor.waitUntilReady(spec, { timeoutMs: 60_000, signal })).rejects.toThrow('enough');
    });

    it('tells of a machine that goes away by itself', { timeout: 60_000 }, async () => {
      await driver.lose(spec);
      await eventually('lost');
      expect(await power()).toBe('stopped');
      await expect(ready()).rejects.toEqual(hasCode('machine_died', false));
    });

    it('finds a machine stopped that died while nobody watched', { timeout: 60_000 }, async () => {
      await hypervisor.start(spec);
      await hypervisor.close();
      await driver.lose(spec);
      await restart();
      expect(await power()).toBe('stopped');
    });

    it('takes the power away, as often as asked', { timeout: 60_000 }, async () => {
      await hypervisor.start(spec);
      await Promise.all([hypervisor.powerOff(spec.id), hypervisor.powerOff(spec.id)]);
      expect(lastEvent()).toMatchObject({ power: 'stopped', cause: 'host' });
      expect(await power()).toBe('stopped');
    });

    it('destroys a running machine and leaves nothing', { timeout: 60_000 }, async () => {
      await hypervisor.start(spec);
      for (const _ of [1, 2]) await hypervisor.destroy(spec.id);
      expect(await hypervisor.inspect(spec.id)).toEqual({ id: spec.id, power: 'absent', startedAt: null });
      expect(await driver.leftovers(spec)).toEqual([]);
    });
  });
}
