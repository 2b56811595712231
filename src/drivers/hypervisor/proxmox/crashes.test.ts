import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Hypervisor } from '../contract.ts';
import { type ProxmoxBed, proxmoxBed } from './testbed.ts';

let bed: ProxmoxBed;
let drivers: Hypervisor[] = [];
const name = 'kept';

function open(): Hypervisor {
  const opened = bed.open();
  drivers.push(opened);
  return opened;
}

beforeEach(async () => {
  bed = await proxmoxBed(46);
  bed.state.taskMs = 8;
  await open().ensureImage({ slug: 'made', kind: 'build', recipe: 'made' }, () => undefined);
});
afterEach(async () => {
  for (const each of drivers) await each.close();
  drivers = [];
  bed.remove();
});

/** A call that changes something is lost: `asked`, before anything came of it; `answered`, when all came of it. */
type Lost = 'asked' | 'answered';

/** Loses the call of that number; tells whether there was one of it. */
function lose(nth: number, how: Lost): () => boolean {
  let count = 0;
  bed.stand.meddle = (what, request, response) => {
    if (what.startsWith('GET ') || count >= nth) return false;
    count += 1;
    if (count < nth) return false;
    if (how === 'answered') response.end = () => request.socket.destroy() as never;
    else request.socket.destroy();
    return how === 'asked';
  };
  return () => count >= nth;
}

const large = () => ({ ...bed.spec(1), diskGib: 2, cpuCores: 2 });
const made = async (at: Hypervisor) => {
  await at.createDisk(bed.spec(1));
  await at.writeIdentity(bed.spec(1), bed.identity);
};
const kept = async (at: Hypervisor) => {
  await made(at);
  await at.createSnapshot(bed.spec(1).id, name);
};

interface Step {
  before(at: Hypervisor): Promise<unknown>;
  step(at: Hypervisor): Promise<unknown>;
  /** What is so afterwards, besides one machine with one disk. */
  after(at: Hypervisor): Promise<unknown>;
  discs: number;
}

const snapshotNames = async (at: Hypervisor) =>
  (await at.listSnapshots(bed.spec(1).id)).map((each) => each.name);
const steps: Record<string, Step> = {
  'making a disk': {
    before: async () => undefined,
    step: (at) => at.createDisk(large()),
    after: async () => expect(vm()?.settings.scsi0).toContain('size=2G'),
    discs: 0,
  },
  'telling a guest who it is': {
    before: (at) => at.createDisk(bed.spec(1)),
    step: (at) => at.writeIdentity(bed.spec(1), bed.identity),
    after: (at) => at.start(bed.spec(1)),
    discs: 1,
  },
  'forgetting its secrets': {
    before: made,
    step: (at) => at.forgetSecrets(bed.spec(1).id),
    after: async () => expect([...bed.state.files.keys()].join()).not.toContain('-secret-'),
    discs: 1,
  },
  starting: {
    before: made,
    step: (at) => at.start(large()),
    after: async () => {
      expect(vm()?.running?.cpus).toBe(2);
      expect([...(vm()?.firewall.sets.get('ipfilter-net0') ?? [])]).toHaveLength(2);
    },
    discs: 1,
  },
  'taking the power': {
    before: (at) => made(at).then(() => at.start(bed.spec(1))),
    step: (at) => at.powerOff(bed.spec(1).id),
    after: async () => expect(vm()?.running).toBeNull(),
    discs: 1,
  },
  'making it larger': {
    before: made,
    step: (at) => at.resize(large()),
    after: async () =>
      expect(vm()?.settings).toMatchObject({ cores: '2', scsi0: expect.stringContaining('size=2G') }),
    discs: 1,
  },
  'keeping a snapshot': {
    before: made,
    step: (at) => at.createSnapshot(bed.spec(1).id, name),
    after: async (at) => expect(await snapshotNames(at)).toEqual([name]),
    discs: 1,
  },
  'going back to it': {
    before: (at) => kept(at).then(() => at.resize(large())),
    step: (at) => at.restoreSnapshot(bed.spec(1).id, name),
    after: async (at) => {
      await at.start(large());
      expect(vm()?.settings.scsi0).toContain('size=2G');
      expect(await snapshotNames(at)).toEqual([name]);
    },
    discs: 1,
  },
  'deleting it': {
    before: kept,
    step: (at) => at.deleteSnapshot(bed.spec(1).id, name),
    after: async (at) => expect(await snapshotNames(at)).toEqual([]),
    discs: 1,
  },
  'making the disk anew': {
    before: kept,
    step: (at) => at.rebuildDisk(large()),
    after: async (at) => {
      expect(await snapshotNames(at)).toEqual([]);
      expect(vm()?.settings.scsi0).toContain('size=2G');
    },
    discs: 1,
  },
};
const vm = () => bed.vm(bed.spec(1).id);
const discs = () => [...bed.state.files.keys()].filter((key) => key.includes(':iso/'));

describe('what was cut off anywhere is done by the same call of another process:', () => {
  for (const how of ['asked', 'answered'] as const)
    it.each(Object.entries(steps))(
      `%s, a call lost when it was ${how}`,
      { timeout: 120_000 },
      async (_what, each) => {
        let cuts = 0;
        for (let nth = 1; ; nth += 1) {
          const first = open();
          await each.before(first);
          const wasLost = lose(nth, how);
          await each.step(first).catch(() => undefined);
          bed.stand.meddle = null;
          const second = open();
          await each.step(second);
          await each.after(second);
          expect([bed.state.vms.size, bed.state.volumes.size, discs().length]).toEqual([1, 1, each.discs]);
          expect(Object.keys(vm()?.settings ?? {}).filter((key) => key.startsWith('unused'))).toEqual([]);
          await second.destroy(bed.spec(1).id);
          if (!wasLost()) break;
          cuts += 1;
        }
        expect(cuts).toBeGreaterThan(0);
        expect(bed.stand.refusedBySchema).toEqual([]);
      },
    );

  it.each(['asked', 'answered'] as const)(
    'destroying, a call lost when it was %s',
    { timeout: 120_000 },
    async (how) => {
      for (let nth = 1; ; nth += 1) {
        const first = open();
        await kept(first);
        await first.start(bed.spec(1));
        const wasLost = lose(nth, how);
        await first.destroy(bed.spec(1).id).catch(() => undefined);
        bed.stand.meddle = null;
        await open().destroy(bed.spec(1).id);
        expect([bed.state.vms.size, bed.state.volumes.size, discs().length]).toEqual([0, 0, 0]);
        if (!wasLost()) break;
      }
    },
  );
});
