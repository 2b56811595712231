import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Hypervisor } from '../contract.ts';
import { destroy, end } from './standIn/machines.testbed.ts';
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

describe('a machine that goes between the list that has it and the look at it', () => {
  const id = 'test-46-1';
  const absence = (call: Promise<unknown>) =>
    expect(call).rejects.toMatchObject({ code: 'machine_absent', permanent: true });
  /** Goes, once its `what` is asked for, as by a call whose answer was lost; what it is asked then is refused. */
  function goAt(what: string): () => boolean {
    let isGone = false;
    bed.stand.meddle = (asked) => {
      const there = vm();
      if (isGone || there === undefined || !asked.endsWith(`/${there.vmid}/${what}`)) return false;
      isGone = true;
      if (there.running) end(bed.state, there, 'silent');
      destroy(bed.state, there);
      return false;
    };
    return () => isGone;
  }

  const calls: Record<string, { at: string[]; call(by: Hypervisor): Promise<unknown> }> = {
    destroying: { at: ['config', 'status/current', 'status/stop'], call: (by) => by.destroy(id) },
    inspecting: {
      at: ['config', 'status/current'],
      call: async (by) => expect((await by.inspect(id)).power).toBe('absent'),
    },
    starting: { at: ['config'], call: (by) => absence(by.start(bed.spec(1))) },
    'taking the power': { at: ['config', 'status/current'], call: (by) => absence(by.powerOff(id)) },
    'making it larger': { at: ['config', 'status/current'], call: (by) => absence(by.resize(large())) },
    'listing snapshots': { at: ['config', 'snapshot'], call: (by) => absence(by.listSnapshots(id)) },
  };
  it.each(Object.entries(calls))(
    'is not there, when %s, and no right is missed',
    { timeout: 60_000 },
    async (_what, { at, call }) => {
      for (const asked of at) {
        const by = open();
        await kept(by);
        await by.start(bed.spec(1));
        const isGone = goAt(asked);
        await call(by);
        bed.stand.meddle = null;
        expect(isGone()).toBe(true);
      }
    },
  );

  it('is still there when a node knew it late, and a right that is missing is said', async () => {
    const at = open();
    await made(at);
    let refused = 0;
    const refuse = (times: number) => {
      refused = 0;
      bed.stand.meddle = (asked, _, response) => {
        if (!/\/(config|status\/current)$/.test(asked) || refused === times) return false;
        refused += 1;
        response.writeHead(403, 'Permission check failed (/vms/9000, VM.Audit)').end();
        return true;
      };
    };
    refuse(2);
    expect(await at.inspect(id)).toMatchObject({ power: 'stopped' });
    expect(refused).toBe(2);
    refuse(Number.POSITIVE_INFINITY);
    const notLet = { code: 'host_not_ready', message: expect.stringMatching(/does not let us.*VM\.Audit/) };
    await expect(at.inspect(id)).rejects.toMatchObject(notLet);
    await expect(at.destroy(id)).rejects.toMatchObject(notLet);
    expect(bed.state.vms.size).toBe(1);
  });
});
