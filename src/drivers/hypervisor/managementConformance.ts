import type { Duplex } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HypervisorCapability } from './capabilities.ts';
import { refusesWhatItLacks } from './capabilityConformance.ts';
import { type DriverUnderTest, hostileHostname } from './conformance.ts';
import { type Hypervisor, HypervisorError, type MachineSpec } from './contract.ts';
import type { PortableDisk } from './portable.ts';
import { showsItsScreen } from './screenConformance.ts';

/** What the suite needs beyond {@link DriverUnderTest}. */
export interface ManagedDriverUnderTest extends DriverUnderTest {
  /** Another sign-in than that of the identity. */
  other: { passwordHash: string; authorizedKey: string };
  /** Password of the identity, in clear. */
  password: string;
  /** Whether the guest lets somebody in over SSH; null where there is no guest. */
  signsIn: ((spec: MachineSpec, as: SignIn) => Promise<boolean>) | null;
  /** Addresses that the running guest has, its link-local ones aside. */
  guestAddresses(spec: MachineSpec): Promise<string[]>;
  /** Makes the guest's agent stop answering, and answer again. */
  silence(spec: MachineSpec, silent: boolean): Promise<void>;
  /** Whether the guest gets through to the host with an address that is not its own; null where there is none. */
  spoofs: ((spec: MachineSpec) => Promise<boolean>) | null;
}

export type SignIn = 'key' | 'password' | 'other key' | 'other password';

/** What every driver must do beyond a machine's life, on one machine that boots four times. */
export function describeManagement(
  name: string,
  make: () => Promise<ManagedDriverUnderTest>,
  skip: string | null = null,
): void {
  describe.skipIf(skip !== null)(`${name} manages machines by contract`, () => {
    let driver: ManagedDriverUnderTest;
    let hypervisor: Hypervisor;
    let spec: MachineSpec;

    const inGuest = (command: string) => driver.inGuest?.(spec, command, 'key') ?? Promise.resolve(null);
    const hasCode = (code: string, permanent: boolean) => expect.objectContaining({ code, permanent });
    const can = (ability: HypervisorCapability) => hypervisor.capabilities.includes(ability);
    const names = async (kind: 'listSnapshots' | 'listBackups') =>
      (await hypervisor[kind](spec.id)).map((each) => each.name);
    const rootMib = async () => Number(await inGuest("df -m / | awk 'END { print $2 }'"));
    /** The machine as it was made, with the addresses of others of these numbers besides. */
    const withAddressesOf = (...numbers: number[]): MachineSpec => {
      const { nic } = driver.spec(1);
      const more = numbers.flatMap((number) => driver.spec(number).nic.addresses);
      return { ...spec, nic: { ...nic, addresses: [...nic.addresses, ...more] } };
    };
    async function hasItsAddresses(): Promise<void> {
      const own = spec.nic.addresses.map((each) => each.address);
      expect((await driver.guestAddresses(spec)).sort()).toEqual(own.sort());
      for (const primary of spec.nic.addresses) {
        const there = { ...spec, nic: { ...spec.nic, addresses: [primary] } };
        const reached = async () => driver.inGuest?.(there, 'echo reached', 'key').catch(String);
        if (driver.inGuest) await expect.poll(reached, { timeout: 20_000 }).toBe('reached\n');
      }
    }
    async function boot(): Promise<void> {
      await hypervisor.start(spec);
      await hypervisor.waitUntilReady(spec, { timeoutMs: driver.readyTimeoutMs });
      if (driver.spoofs) expect(await driver.spoofs(spec)).toBe(false);
    }
    /** Not synced where settling is what writes it. */
    const says = (word: string) => inGuest(`echo ${word} > /root/state${can('guest_agent') ? '' : '; sync'}`);
    const content = (word: string | null) => async () => {
      if (driver.inGuest) expect(await inGuest('cat /root/state')).toBe(`${word}\n`);
    };

    /** A test of abilities that an engine may lack; one that does is held to that at the end. */
    const needing =
      (...abilities: HypervisorCapability[]) =>
      (title: string, options: { timeout: number }, work: () => Promise<void>) =>
        it(title, options, async ({ skip }) => {
          skip(!abilities.every(can), `it has no ${abilities.join(' and ')}`);
          await work();
        });

    beforeAll(async () => {
      driver = await make();
      hypervisor = driver.hypervisor;
      spec = driver.spec(1);
      await hypervisor.prepare(() => undefined);
      await hypervisor.ensureImage(driver.image, () => undefined);
      await hypervisor.createDisk(spec);
      await hypervisor.writeIdentity(spec, driver.identity);
      spec = withAddressesOf(3);
      for (const _ of [1, 2]) await hypervisor.setAddresses(spec);
      await boot();
    }, 900_000);

    afterAll(async () => {
      await hypervisor?.destroy(spec.id);
      const left = await driver?.leftovers(spec);
      await hypervisor?.close();
      driver?.remove();
      expect(left).toEqual([]);
    }, 60_000);

    it('answers for machines and names that are not there', async () => {
      const other = driver.spec(2);
      const absent = hasCode('machine_absent', true);
      if (can('vnc')) await expect(hypervisor.openConsole(other.id, 'vnc')).rejects.toEqual(absent);
      if (can('vnc')) await expect(hypervisor.readScreen(other.id)).rejects.toEqual(absent);
      if (can('snapshots')) await expect(hypervisor.createSnapshot(other.id, 'a')).rejects.toEqual(absent);
      if (can('backups')) await expect(hypervisor.createBackup(other.id, 'a')).rejects.toEqual(absent);
      await expect(hypervisor.resize(other)).rejects.toEqual(absent);
      await expect(hypervisor.rebuildDisk(other)).rejects.toEqual(absent);
      await expect(hypervisor.setAddresses(other)).rejects.toEqual(absent);
      if (can('guest_agent')) {
        const { passwordHash } = driver.other;
        await expect(hypervisor.setPassword(other.id, passwordHash)).rejects.toEqual(absent);
      }
      await hypervisor.deleteSnapshot(spec.id, 'none');
      await hypervisor.deleteBackup(spec.id, 'none');
    });

    it('refuses what has no meaning', async () => {
      const invalid = hasCode('spec_invalid', true);
      for (const name of ['', '../x', '-d', 'a/b', 'a b', 'ä', 'a'.repeat(65)]) {
        if (can('snapshots'))
          await expect(hypervisor.createSnapshot(spec.id, name), name).rejects.toEqual(invalid);
        if (can('backups')) await expect(hypervisor.restoreBackup(spec, name), name).rejects.toEqual(invalid);
      }
      await expect(hypervisor.setPassword(spec.id, 'in clear')).rejects.toEqual(invalid);
      await expect(hypervisor.setHostname(spec.id, 'two\nlines')).rejects.toEqual(invalid);
      await expect(hypervisor.setAuthorizedKeys(spec.id, ['two\nlines'])).rejects.toEqual(invalid);
    });

    it('has the addresses that it was told of before its first boot', { timeout: 120_000 }, () =>
      hasItsAddresses(),
    );

    needing('guest_agent')(
      'gives the running guest more addresses, and takes others away',
      { timeout: 240_000 },
      async () => {
        for (const numbers of [[3, 4], [4]]) {
          spec = withAddressesOf(...numbers);
          await hypervisor.start(spec); // the packet rules
          for (const _ of [1, 2]) await hypervisor.setAddresses(spec);
          await hasItsAddresses();
        }
      },
    );

    needing('vnc')('shows the screen to several at once, and again', { timeout: 30_000 }, async () => {
      const screens = await Promise.all([1, 2].map(() => hypervisor.openConsole(spec.id, 'vnc')));
      for (const screen of screens) await reads(screen, /^RFB 003\.008\n/);
      for (const screen of screens) screen.destroy();
      const screen = await hypervisor.openConsole(spec.id, 'vnc');
      await reads(screen, /^RFB 003\.008\n/);
      screen.destroy();
    });

    needing('vnc')('shows what is on the screen as a picture', { timeout: 60_000 }, () =>
      showsItsScreen(hypervisor, spec.id),
    );

    needing('serial')(
      'lets somebody sign in over the serial line, while others look on',
      { timeout: 150_000 },
      async () => {
        const line = await hypervisor.openConsole(spec.id, 'serial');
        const onlooker = await hypervisor.openConsole(spec.id, 'serial');
        line.write('\n');
        await Promise.all([reads(line, /login: /, '\n'), reads(onlooker, /login: /)]);
        if (driver.inGuest) {
          line.write('root\n');
          await reads(line, /assword: /);
          line.write(`${driver.password}\n`);
          await reads(line, /[#$] /);
          line.write('echo signed $((40 + 2))\n');
          await reads(line, /signed 42/);
          line.write('exit\n');
        }
        line.destroy();
        onlooker.destroy();
        const again = await hypervisor.openConsole(spec.id, 'serial');
        again.write('\n');
        await reads(again, /login: /, '\n');
        again.destroy();
      },
    );

    it('counts what machines use', { timeout: 60_000 }, async () => {
      const sampled = async () => (await hypervisor.sample())[0];
      const before = await sampled();
      if (driver.inGuest) await inGuest('head -c 3000000 /dev/urandom > /root/noise; sync; rm /root/noise');
      else await delay(10);
      if (!before) throw new Error('no sample of a running machine');
      const written = driver.inGuest ? 2_900_000 : 0;
      // An engine may count every few seconds only.
      await expect
        .poll(async () => (await sampled())?.diskWrittenBytes, { timeout: 30_000 })
        .toBeGreaterThan(before.diskWrittenBytes + written);
      const after = await sampled();
      if (!after) throw new Error('no sample of a running machine');
      expect(after).toMatchObject({ id: spec.id, startedAt: before.startedAt });
      expect((await hypervisor.inspect(spec.id)).startedAt?.getTime()).toBeCloseTo(
        before.startedAt.getTime(),
        -4,
      );
      expect(after.memoryTotalBytes).toBe(spec.memoryMib * 2 ** 20);
      expect(after.memoryUsedBytes).toBeGreaterThan(0);
      expect(after.memoryUsedBytes).toBeLessThanOrEqual(after.memoryTotalBytes);
      for (const counter of ['cpuMs', 'diskWrittenBytes', 'netInBytes', 'netOutBytes'] as const)
        expect(after[counter], counter).toBeGreaterThan(before[counter]);
    });

    needing('guest_agent')(
      'changes password, keys and name of the running guest',
      { timeout: 90_000 },
      async () => {
        for (const _ of [1, 2]) {
          await hypervisor.setPassword(spec.id, driver.other.passwordHash);
          await hypervisor.setAuthorizedKeys(spec.id, [driver.other.authorizedKey]);
          for (const name of [hostileHostname, 'renamed']) await hypervisor.setHostname(spec.id, name);
        }
        if (driver.signsIn) {
          const signsIn = driver.signsIn;
          const allowed = async (as: SignIn) => [as, await signsIn(spec, as)];
          expect(
            await Promise.all((['key', 'password', 'other key', 'other password'] as const).map(allowed)),
          ).toEqual([
            ['key', false],
            ['password', false],
            ['other key', true],
            ['other password', true],
          ]);
        }
        await hypervisor.setAuthorizedKeys(spec.id, driver.identity.authorizedKeys);
        const named = await inGuest('ls -d /owned; hostname; cat /etc/hostname; grep ^127.0.1.1 /etc/hosts');
        if (driver.inGuest) expect(named).toBe('renamed\nrenamed\n127.0.1.1 renamed\n');
      },
    );

    needing('guest_agent', 'snapshots')(
      'says so when the agent is silent, and keeps the disk all the same',
      {
        timeout: 120_000,
      },
      async () => {
        await driver.silence(spec, true);
        const { passwordHash } = driver.other;
        await expect(hypervisor.setPassword(spec.id, passwordHash)).rejects.toEqual(
          hasCode('guest_silent', false),
        );
        const before = await driver.guestAddresses(spec);
        spec = withAddressesOf(5); // which the guest is to have after its next boot
        await expect(hypervisor.setAddresses(spec)).rejects.toEqual(hasCode('guest_silent', false));
        expect(await driver.guestAddresses(spec)).toEqual(before);
        await hypervisor.createSnapshot(spec.id, 'unsettled');
        await driver.silence(spec, false);
        await hypervisor.setPassword(spec.id, passwordHash);
        await hypervisor.deleteSnapshot(spec.id, 'unsettled');
      },
    );

    needing('snapshots')(
      'keeps a running machine’s disk as a snapshot, settled where the guest can be asked',
      {
        timeout: 90_000,
      },
      async () => {
        await says('one');
        const { consistent, ...made } = await hypervisor.createSnapshot(spec.id, 'one');
        expect(consistent ?? true).toBe(can('guest_agent'));
        expect(made).toMatchObject({ name: 'one', sizeBytes: expect.any(Number) });
        expect(Math.abs(made.createdAt.getTime() - Date.now())).toBeLessThan(10_000);
        expect(await hypervisor.createSnapshot(spec.id, 'one')).toEqual(made);
        expect(await hypervisor.listSnapshots(spec.id)).toEqual([made]);
        await says('two'); // writes again: nothing is held any more
      },
    );

    needing('snapshots', 'backups')(
      'keeps a running machine’s disk as a backup beside its snapshots',
      {
        timeout: 90_000,
      },
      async () => {
        const { consistent, ...kept } = await hypervisor.createBackup(spec.id, 'two');
        expect(consistent ?? true).toBe(can('guest_agent'));
        expect(await hypervisor.createBackup(spec.id, 'two')).toEqual(kept);
        expect(await hypervisor.listBackups(spec.id)).toEqual([kept]);
        await says('three');
        expect(await names('listSnapshots')).toEqual(['one']);
      },
    );

    needing('live_resize')(
      'grows the running machine’s disk, never shrinks it, and says that the rest needs a start',
      {
        timeout: 90_000,
      },
      async () => {
        const { diskGib } = spec;
        spec = { ...spec, diskGib: diskGib + 1 };
        for (const _ of [1, 2]) expect(await hypervisor.resize(spec)).toEqual({ restartNeeded: false });
        if (driver.inGuest) expect(await rootMib()).toBeGreaterThan(0.9 * 1024 * spec.diskGib);
        if (driver.spoofs) expect(await driver.spoofs(spec)).toBe(false);
        await expect(hypervisor.resize({ ...spec, diskGib })).rejects.toEqual(hasCode('spec_invalid', true));
        spec = { ...spec, cpuCores: spec.cpuCores + 1, memoryMib: spec.memoryMib + 32 };
        for (const _ of [1, 2]) expect(await hypervisor.resize(spec)).toEqual({ restartNeeded: true });
      },
    );

    it('wants a machine stopped before it takes its contents away', async () => {
      const running = hasCode('not_stopped', true);
      if (can('snapshots')) await expect(hypervisor.restoreSnapshot(spec.id, 'one')).rejects.toEqual(running);
      if (can('backups')) await expect(hypervisor.restoreBackup(spec, 'two')).rejects.toEqual(running);
      await expect(hypervisor.rebuildDisk(spec)).rejects.toEqual(running);
    });

    needing('serial')('ends every console when the machine goes away', { timeout: 30_000 }, async () => {
      const kinds = (['vnc', 'serial'] as const).filter(can);
      const consoles = await Promise.all(kinds.map((kind) => hypervisor.openConsole(spec.id, kind)));
      const ends = consoles.map(
        (each) => new Promise<void>((resolve) => each.resume().once('close', resolve)),
      );
      await hypervisor.powerOff(spec.id);
      await Promise.all(ends);
      const stopped = hasCode('not_running', false);
      await expect(hypervisor.openConsole(spec.id, 'serial')).rejects.toEqual(stopped);
      if (can('vnc')) await expect(hypervisor.readScreen(spec.id)).rejects.toEqual(stopped);
      if (can('guest_agent')) await expect(hypervisor.setHostname(spec.id, 'a')).rejects.toEqual(stopped);
      await hypervisor.setAddresses(spec);
      expect(await hypervisor.sample()).toEqual([]);
    });

    it('grows the stopped machine at once, and never shrinks its disk', { timeout: 30_000 }, async () => {
      await hypervisor.powerOff(spec.id);
      const { diskGib } = spec;
      spec = { ...spec, diskGib: diskGib + 1, cpuCores: spec.cpuCores + 1, memoryMib: spec.memoryMib + 32 };
      for (const _ of [1, 2]) expect(await hypervisor.resize(spec)).toEqual({ restartNeeded: false });
      await expect(hypervisor.resize({ ...spec, diskGib })).rejects.toEqual(hasCode('spec_invalid', true));
    });

    needing('snapshots')(
      'restores a snapshot from before the disk grew, with all the room and the new size',
      {
        timeout: 400_000,
      },
      async () => {
        await expect(hypervisor.restoreSnapshot(spec.id, 'none')).rejects.toEqual(
          hasCode('snapshot_absent', true),
        );
        await hypervisor.createSnapshot(spec.id, 'later');
        for (const _ of [1, 2]) await hypervisor.restoreSnapshot(spec.id, 'one');
        expect(await names('listSnapshots')).toEqual(['one', 'later']);
        await boot();
        await hasItsAddresses(); // also those that its agent did not take
        await content('one')();
        if (!driver.inGuest) return;
        const seen = await inGuest("nproc; awk '/MemTotal/ { print $2 }' /proc/meminfo");
        const [cores, memoryKib] = seen?.split('\n').map(Number) ?? [];
        expect(cores).toBe(spec.cpuCores);
        expect(memoryKib).toBeGreaterThan(0.7 * spec.memoryMib * 1024);
        await expect.poll(rootMib, { timeout: 20_000 }).toBeGreaterThan(0.9 * 1024 * spec.diskGib);
        const named = await inGuest('cat /etc/hostname');
        if (can('guest_agent')) expect(named).toBe('renamed\n'); // the host knows the new name too
      },
    );

    needing('snapshots')(
      'deletes snapshots in any order, running and stopped',
      { timeout: 60_000 },
      async () => {
        for (const _ of [1, 2]) await hypervisor.deleteSnapshot(spec.id, 'one');
        expect(await names('listSnapshots')).toEqual(['later']);
        await hypervisor.powerOff(spec.id);
        if (!can('backups')) return;
        await hypervisor.createBackup(spec.id, 'stopped');
        expect(await names('listBackups')).toEqual(['two', 'stopped']);
        // A cluster keeps its own form.
        const opened = await hypervisor.openBackup(spec.id, 'stopped').catch((error: unknown) => error);
        if (opened instanceof HypervisorError) return expect(opened).toMatchObject({ code: 'not_supported' });
        const { bytes, read, identity } = opened as PortableDisk;
        for (const _ of [1, 2]) {
          const content = Buffer.concat(await read().toArray());
          expect([content.length, content.toString('latin1', 0, 4)]).toEqual([bytes, 'QFI\xfb']);
        }
        if (identity !== null) expect(identity).toMatchObject({ instanceId: spec.id });
        await expect(hypervisor.openBackup(spec.id, 'never')).rejects.toEqual(
          expect.objectContaining({ code: 'snapshot_absent', permanent: true }),
        );
      },
    );

    needing('snapshots')(
      'makes the disk anew: contents and snapshots are gone, backups stay',
      {
        timeout: 60_000,
      },
      async () => {
        for (const _ of [1, 2]) await hypervisor.rebuildDisk(spec);
        expect(await names('listSnapshots')).toEqual([]);
        if (can('backups')) expect(await names('listBackups')).toEqual(['two', 'stopped']);
        await hypervisor.createSnapshot(spec.id, 'fresh');
      },
    );

    needing('rescue')('starts a rescue system beside the disk', { timeout: 400_000 }, async () => {
      const own = spec;
      spec = { ...own, boot: 'rescue' };
      await hypervisor.writeIdentity(spec, driver.identity);
      await boot();
      if (driver.inGuest) {
        const look =
          'mount -t ext4 /dev/vdc /mnt && ls -d /mnt/root /mnt/root/state; echo left > /mnt/left; umount /mnt';
        expect(await inGuest(`${look}; true`)).toBe('/mnt/root\n');
      }
      await hypervisor.powerOff(spec.id);
      spec = own;
    });

    needing('snapshots', 'backups')(
      'restores a backup over the disk, whose snapshots stay, or refuses it while there are any',
      { timeout: 400_000 },
      async () => {
        await expect(hypervisor.restoreBackup(spec, 'none')).rejects.toEqual(
          hasCode('snapshot_absent', true),
        );
        const failure = await hypervisor.restoreBackup(spec, 'two').then(
          () => null,
          (error: unknown) => error,
        );
        expect(await names('listSnapshots')).toEqual(['fresh']);
        if (failure !== null) {
          expect(failure).toEqual(hasCode('not_possible', true));
          await hypervisor.deleteSnapshot(spec.id, 'fresh');
        }
        await hypervisor.restoreBackup(spec, 'two');
        expect(await names('listBackups')).toEqual(['two', 'stopped']);
        await boot();
        await hasItsAddresses();
        await content('two')();
        if (driver.inGuest) expect(await inGuest('ls /left 2>/dev/null; true')).toBe('');
      },
    );

    needing('netboot')(
      'starts from the network',
      {
        timeout: 60_000,
      },
      async () => {
        await hypervisor.powerOff(spec.id);
        await hypervisor.start({ ...spec, boot: 'network' });
        expect((await hypervisor.inspect(spec.id)).power).toBe('running');
      },
    );

    it('refuses for good what it does not claim to do, and nothing changes', {
      timeout: 60_000,
    }, async () => {
      await hypervisor.powerOff(spec.id);
      await refusesWhatItLacks(hypervisor, spec);
    });
  });
}

/**
 * Reads until what has come matches. With `nudge` it is typed once a second meanwhile: what is typed before a
 * terminal listens is lost.
 */
async function reads(stream: Duplex, expected: RegExp, nudge?: string): Promise<void> {
  let text = '';
  const collect = (chunk: Buffer) => {
    text += chunk.toString('latin1');
  };
  stream.on('data', collect);
  const timer = setInterval(() => nudge && stream.write(nudge), 1_000);
  try {
    await expect.poll(() => text, { timeout: 60_000, interval: 20 }).toMatch(expected);
  } finally {
    clearInterval(timer);
    stream.off('data', collect);
  }
}
