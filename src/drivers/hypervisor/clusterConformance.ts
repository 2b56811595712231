import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Cluster } from './cluster.ts';
import type { GuestIdentity, ImageSource, MachineSpec } from './contract.ts';
import { writeEmptyQcow2 } from './formats/emptyQcow2.ts';
import type { PortableDisk } from './portable.ts';

/** A cluster with nothing of ours in it, for the suite. */
export interface ClusterUnderTest {
  cluster: Cluster;
  /** The same over connections of its own, as another process has it. */
  other: Cluster;
  /** Two members that answer. */
  members: readonly [string, string];
  image: ImageSource;
  identity: GuestIdentity;
  /** A machine of this number. */
  spec(number: number): MachineSpec;
  /** How long a machine takes until it is ready, at most. */
  readyTimeoutMs: number;
  /** What is another after every boot of the guest; null where there is no guest. */
  bootOf: ((spec: MachineSpec) => Promise<string>) | null;
  /** What the guest calls itself; null where there is no guest. */
  nameOf: ((spec: MachineSpec) => Promise<string>) | null;
  /** What is left of a machine in the cluster, a line each. */
  leftovers(spec: MachineSpec): Promise<string[]>;
  remove(): Promise<void>;
}

/** What every engine of many hosts must do, besides what it does as a hypervisor. */
export function describeCluster(
  name: string,
  make: () => Promise<ClusterUnderTest>,
  skip: string | null = null,
): void {
  describe.skipIf(skip !== null)(`${name} moves machines by contract`, () => {
    let bed: ClusterUnderTest;
    let cluster: Cluster;
    let [here, there] = ['', ''];
    let spec: MachineSpec;

    const listed = async () => (await cluster.list()).map(({ id, power, node }) => ({ id, power, node }));
    const hasCode = (code: string) => expect.objectContaining({ code, permanent: true });

    beforeAll(async () => {
      bed = await make();
      cluster = bed.cluster;
      [here, there] = bed.members;
      spec = bed.spec(1);
      await cluster.ensureImage(bed.image, () => undefined);
      await cluster.on(here).createDisk(spec);
      await cluster.on(here).writeIdentity(spec, bed.identity);
    }, 300_000);
    afterAll(async () => {
      await cluster?.close();
      await bed?.other.close();
      await bed?.remove();
    });

    it('brings a stopped machine to another member, again and again', { timeout: 120_000 }, async () => {
      for (const live of [false, false, true]) await cluster.move(spec.id, there, { live });
      expect(await listed()).toEqual([{ id: spec.id, power: 'stopped', node: there }]);
      await cluster.move(spec.id, here, { live: true });
      expect(await listed()).toEqual([{ id: spec.id, power: 'stopped', node: here }]);
    });

    it('refuses in words what it cannot do, and the machine stays as it is', async () => {
      await expect(cluster.move(bed.spec(2).id, there, { live: false })).rejects.toEqual(
        hasCode('machine_absent'),
      );
      await expect(cluster.move(spec.id, 'nobody', { live: false })).rejects.toEqual(hasCode('spec_invalid'));
      expect(await listed()).toEqual([{ id: spec.id, power: 'stopped', node: here }]);
    });

    it('brings a machine that ran to another member with what its guest knows', {
      timeout: 400_000,
    }, async () => {
      await cluster.on(here).start(spec);
      await cluster.on(here).waitUntilReady(spec, { timeoutMs: bed.readyTimeoutMs });
      await cluster.on(here).powerOff(spec.id);
      await cluster.on(here).createSnapshot(spec.id, 'kept');
      await cluster.move(spec.id, there, { live: false });
      const copies = await cluster.on(there).listSnapshots(spec.id);
      expect(copies.map(({ name: copy }) => copy)).toEqual(['kept']);
      // With one an engine may move a machine only while it is off.
      await cluster.on(there).deleteSnapshot(spec.id, 'kept');
      await cluster.on(there).start(spec);
      await cluster.on(there).waitUntilReady(spec, { timeoutMs: bed.readyTimeoutMs });
      expect(await listed()).toEqual([{ id: spec.id, power: 'running', node: there }]);
      expect(await bed.nameOf?.(spec)).toBe(bed.nameOf ? bed.identity.hostname : undefined);
    });

    it('moves a machine that runs only live, and leaves it where it is where it cannot', {
      timeout: 400_000,
    }, async () => {
      await expect(cluster.move(spec.id, here, { live: false })).rejects.toEqual(hasCode('not_stopped'));
      const boot = await bed.bootOf?.(spec);
      const heard: unknown[] = [];
      await bed.other.listen();
      const forget = bed.other.watch((event) => heard.push(event));
      const moving = cluster.move(spec.id, here, { live: true });
      const movesLive = cluster.moves.includes('live');
      if (movesLive) await moving;
      else await expect(moving).rejects.toEqual(hasCode('not_possible'));
      const node = movesLive ? here : there;
      expect(await listed()).toEqual([{ id: spec.id, power: 'running', node }]);
      expect(await bed.bootOf?.(spec)).toBe(boot);
      forget();
      expect(heard, 'it never went down').toEqual([]);
    });

    it('makes a machine anew from a backup that lies on another member, and hands its backups over', {
      timeout: 400_000,
    }, async () => {
      const anew = { ...spec, id: `${spec.id}-2` };
      const from = { of: spec.id, name: 'kept' };
      if (!cluster.capabilities.includes('backups')) {
        await expect(cluster.recover(anew, here, from)).rejects.toEqual(hasCode('not_supported'));
        return;
      }
      const [{ node = '' } = {}] = await cluster.list();
      const other = node === here ? there : here;
      await cluster.on(node).powerOff(spec.id);
      await expect(cluster.recover(anew, other, from)).rejects.toEqual(hasCode('snapshot_absent'));
      const kept = await cluster.on(node).createBackup(spec.id, 'kept');
      expect(kept.node).toBe(other);
      expect(await listed(), 'what is kept is no machine').toEqual([{ id: spec.id, power: 'stopped', node }]);
      for (const _ of [1, 2]) await cluster.recover(anew, other, from);
      for (const _ of [1, 2]) await cluster.handOver(spec.id, anew.id);
      expect(await cluster.on(node).listBackups(spec.id)).toEqual([]);
      expect(await cluster.on(other).listBackups(anew.id)).toEqual([kept]);
      expect(await listed()).toEqual([
        { id: spec.id, power: 'stopped', node },
        { id: anew.id, power: 'stopped', node: other },
      ]);
      await cluster.on(other).writeIdentity(anew, { ...bed.identity, hostname: 'anew' });
      await cluster.on(other).start(anew);
      await cluster.on(other).waitUntilReady(anew, { timeoutMs: bed.readyTimeoutMs });
      expect(await bed.nameOf?.(anew)).toBe(bed.nameOf ? 'anew' : undefined);
      await cluster.on(other).destroy(anew.id);
      expect(await bed.leftovers(anew)).toEqual([]);
      await cluster.on(node).start(spec);
    });

    it('makes a machine of a disk that another engine has had, and keeps nothing of its way', {
      timeout: 200_000,
    }, async () => {
      const come = { ...spec, id: `${spec.id}-3` };
      const disk = await diskFromElsewhere(come, 'there-before');
      await expect(cluster.importMachine({ ...come, image: 'never-made' }, here, disk)).rejects.toEqual(
        hasCode('image_unknown'),
      );
      for (const _ of [1, 2]) await cluster.importMachine(come, here, disk);
      expect(await listed()).toContainEqual({ id: come.id, power: 'stopped', node: here });
      await cluster.on(here).writeIdentity(come, { ...bed.identity, hostname: 'come' });
      await cluster.on(here).destroy(come.id);
      expect(await bed.leftovers(come)).toEqual([]);
    });

    it('gives what was moved its name and its end where it is', { timeout: 200_000 }, async () => {
      await cluster.on(there).powerOff(spec.id);
      await cluster.on(there).writeIdentity(spec, { ...bed.identity, hostname: 'another' });
      await cluster.on(there).start(spec);
      expect(await listed()).toMatchObject([{ id: spec.id, power: 'running' }]);
      await cluster.on(here).destroy(spec.id);
      expect(await bed.leftovers(spec)).toEqual([]);
    });
  });
}

/** An empty disk that stands alone, of half the size. */
async function diskFromElsewhere(spec: MachineSpec, instanceId: string): Promise<PortableDisk> {
  const dir = await mkdtemp(join(tmpdir(), 'ikd-'));
  try {
    const file = join(dir, 'disk.qcow2');
    await writeEmptyQcow2(file, spec.diskGib * 2 ** 29, null);
    const content = await readFile(file);
    const identity = {
      guest: 'cloud-init' as const,
      nic: spec.nic,
      hostname: 'elsewhere',
      nameservers: [],
      instanceId,
    };
    return { bytes: content.length, read: () => Readable.from([content]), identity };
  } finally {
    await rm(dir, { recursive: true });
  }
}
