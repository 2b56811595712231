import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Hypervisor, MachineEvent } from '../contract.ts';
import type { ProxmoxOptions } from './options.ts';
import { broadcast } from './standIn/calls.testbed.ts';
import { bareVm, end, start } from './standIn/machines.testbed.ts';
import { beginTask, type Vm } from './standIn/state.testbed.ts';
import { type ProxmoxBed, proxmoxBed } from './testbed.ts';

let bed: ProxmoxBed;
let driver: Hypervisor;
let drivers: Hypervisor[] = [];

function open(more: Partial<ProxmoxOptions> = {}): Hypervisor {
  const opened = bed.open(more);
  drivers.push(opened);
  return opened;
}

beforeEach(async () => {
  bed = await proxmoxBed(44);
  driver = open();
  await driver.ensureImage({ slug: 'made', kind: 'build', recipe: 'made' }, () => undefined);
});
afterEach(async () => {
  for (const each of drivers) await each.close();
  drivers = [];
  expect(bed.stand.refusedBySchema).toEqual([]);
  bed.remove();
});

async function made(number = 1): Promise<Vm> {
  const spec = bed.spec(number);
  await driver.createDisk(spec);
  await driver.writeIdentity(spec, bed.identity);
  return bed.vm(spec.id) as Vm;
}

const changes = () => bed.stand.asked.filter((each) => !each.startsWith('GET '));
const noted = (vm: Vm) => vm.settings.description ?? '';

describe('what is not ours in a cluster', () => {
  const theirs = (vmid: number, settings: Record<string, string>, pool: string | null = null): Vm => {
    const vm = bareVm(vmid, 'n1', settings, pool);
    bed.state.vms.set(vmid, vm);
    return vm;
  };

  it('is neither listed nor taken away, in our pool or in our range', async () => {
    bed.state.grants['/vms'] = ['VM.Audit'];
    theirs(100, { name: 'web' }, 'innkeeper');
    theirs(9_000, { name: 'theirs' });
    expect(await driver.list()).toEqual([]);
    await driver.destroy('web');
    await driver.destroy('theirs');
    expect(bed.state.vms.size).toBe(2);
    expect(await driver.troubles()).toEqual([expect.stringMatching(/number 9000, .* somebody else on n1/)]);
  });

  it('keeps its number: a machine of ours takes another, and where none is left that is said', async () => {
    const narrow = open({ vmids: { first: 9_000, last: 9_001 } });
    theirs(9_000, { name: 'hidden' }); // which we are not shown
    await narrow.createDisk(bed.spec(1));
    expect(bed.vm(bed.spec(1).id)?.vmid).toBe(9_001);
    await expect(narrow.createDisk(bed.spec(2))).rejects.toMatchObject({
      code: 'no_space',
      message: 'no number from 9000 to 9001 is free',
    });
    expect(bed.state.vms.get(9_000)?.settings).toEqual({ name: 'hidden' });
  });

  it.each<[string, (vm: Vm) => void, RegExp]>([
    ['a copy of ours under another name', (vm) => (vm.settings.name = 'Copy-of-it'), /is named Copy-of-it/],
    [
      'one that says it is ours outside of the pool',
      (vm) => (vm.pool = null),
      /is not in the pool innkeeper/,
    ],
    [
      'a second one that says that it is the same',
      (vm) => {
        const { node, settings, pool } = vm;
        theirs(9_050, { ...settings }, pool).node = node;
      },
      /is there besides/,
    ],
    [
      'one with a number that is not ours to give',
      (vm) => {
        bed.state.vms.delete(vm.vmid);
        bed.state.vms.set(500, { ...vm, vmid: 500 });
      },
      /number 500 on n1 .* not ours to give/,
    ],
  ])('%s is left alone, in words', async (_what, change, message) => {
    const vm = await made();
    bed.state.grants['/vms'] = ['VM.Audit'];
    change(vm);
    const before = changes().length;
    const refused = expect.objectContaining({
      code: 'disk_failed',
      permanent: true,
      message: expect.stringMatching(message),
    });
    for (const call of [
      () => driver.createDisk(bed.spec(1)),
      () => driver.start(bed.spec(1)),
      () => driver.powerOff(bed.spec(1).id),
      () => driver.destroy(bed.spec(1).id),
    ])
      await expect(call()).rejects.toEqual(refused);
    expect(changes()).toHaveLength(before);
  });
});

describe('a machine whose node is silent', () => {
  const unknown = () => ({ id: bed.spec(1).id, power: 'unknown', startedAt: null, node: 'n1' });
  beforeEach(async () => {
    await made();
    await driver.start(bed.spec(1));
    bed.state.nodes.push({ name: 'n2', isOnline: true, bridges: ['vmbr0'] });
  });

  it('is unknown, neither absent nor stopped, and nothing is done to it', async () => {
    (bed.state.nodes[0] as { isOnline: boolean }).isOnline = false;
    expect(await driver.list()).toEqual([unknown()]);
    expect(await driver.inspect(bed.spec(1).id)).toEqual(unknown());
    expect(await driver.troubles()).toEqual(['The node n1 does not answer']);
    const before = changes().length;
    await expect(driver.powerOff(bed.spec(1).id)).rejects.toMatchObject({
      code: 'host_not_ready',
      permanent: false,
    });
    await expect(driver.destroy(bed.spec(1).id)).rejects.toMatchObject({ code: 'host_not_ready' });
    expect(changes()).toHaveLength(before);
  });

  it('is unknown also for as long as the others have not noticed', async () => {
    bed.stand.meddle = (what, _request, response) => {
      if (!what.startsWith('GET /nodes/n1/qemu')) return false;
      response.writeHead(595, 'Connection refused').end();
      return true;
    };
    expect(await driver.list()).toEqual([unknown()]);
    expect(await driver.inspect(bed.spec(1).id)).toEqual(unknown());
  });

  it('tells nobody that it stopped', async () => {
    const events: MachineEvent[] = [];
    driver.watch((event) => events.push(event));
    await driver.prepare(() => undefined);
    (bed.state.nodes[0] as { isOnline: boolean }).isOnline = false;
    const asked = bed.stand.asked.length;
    await expect.poll(() => bed.stand.asked.length).toBeGreaterThan(asked + 3);
    expect(events).toEqual([]);
  });
});

describe('a copy that somebody made of a machine', () => {
  it('on a node that falls silent keeps nothing from the machine, and is not taken for it', async () => {
    const vm = await made();
    bed.state.nodes.push({ name: 'n2', isOnline: true, bridges: ['vmbr0'] });
    const copy = bareVm(100, 'n2', { ...vm.settings, name: 'copy' }, 'innkeeper');
    bed.state.vms.set(100, copy);
    broadcast(bed.state);
    const [node] = bed.state.nodes.slice(-1);
    if (node) node.isOnline = false;
    expect(await driver.inspect(bed.spec(1).id)).toMatchObject({ power: 'stopped', node: 'n1' });
    expect(await driver.list()).toMatchObject([{ power: 'stopped', node: 'n1' }]);
    await driver.start(bed.spec(1));
    expect(bed.vm(bed.spec(1).id)?.running).toBeTruthy();
    expect(copy.running).toBeNull();
    // The other way round it is unknown: nothing is done to what may be the copy.
    [vm.node, copy.node] = ['n2', 'n1'];
    expect((await driver.inspect(bed.spec(1).id)).power).toBe('unknown');
    await expect(driver.powerOff(bed.spec(1).id)).rejects.toMatchObject({ waits: true });
  });
});

describe('what nodes tell that cannot be', () => {
  /** Answers in the place of a node that is asked for its machines. */
  const tells = (data: (told: Record<string, unknown>[]) => unknown) => {
    bed.stand.meddle = (what, _request, response) => {
      if (!/^GET \/nodes\/n1\/qemu(\?|$)/.test(what)) return false;
      const { end: send } = response;
      response.end = ((text: string) => {
        const told = JSON.parse(text) as { data: Record<string, unknown>[] };
        const body = JSON.stringify({ data: data(told.data) });
        return send.call(response, body, 'utf8');
      }) as never;
      return false;
    };
  };

  it('is no figure of a chart and no traffic, and takes none from the other machines', async () => {
    for (const number of [1, 2]) {
      await made(number);
      await driver.start(bed.spec(number));
    }
    const { sample } = driver;
    tells((all) =>
      all.map((each) => (each.name === bed.spec(1).id ? { ...each, netin: 2 ** 64, mem: 'nan' } : each)),
    );
    expect((await sample()).map(({ id }) => id)).toEqual([bed.spec(2).id]);
    bed.stand.meddle = null;
    expect(await sample()).toHaveLength(2);
  });

  it('leaves its machines unknown, and keeps nobody else’s from being told of', async () => {
    await made();
    for (const odd of ['nothing', { vmid: 'x' }, [{ vmid: 'x' }]]) {
      tells(() => odd);
      expect(await driver.list()).toMatchObject([{ id: bed.spec(1).id, power: 'unknown' }]);
    }
  });
});

describe('a task', () => {
  it('of which nothing is heard any more is judged by its object soon, and not waited for as long as it may take', async () => {
    await made();
    const hasty = open({ quietMs: 200 });
    bed.stand.meddle = (what, _request, response) => {
      if (!/^GET .*\/tasks\/.*\/status$/.test(what)) return false;
      response.writeHead(595, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ data: null, message: 'no route to host' }));
      return true;
    };
    await hasty.start(bed.spec(1));
    bed.state.failing = (type) => (type === 'qmshutdown' || type === 'qmstop' ? 'it does not' : null);
    await expect(hasty.powerOff(bed.spec(1).id)).rejects.toMatchObject({ code: 'host_not_ready' });
    expect(bed.vm(bed.spec(1).id)?.running).toBeTruthy();
  });

  it('that fails says why, as the last line of its log does', async () => {
    await made();
    bed.state.failing = (type) => (type === 'qmstart' ? 'start failed: QEMU exited with code 1' : null);
    await expect(driver.start(bed.spec(1))).rejects.toMatchObject({
      code: 'start_failed',
      message: 'start failed: QEMU exited with code 1',
    });
    bed.state.failing = () => null;
    await driver.start(bed.spec(1));
  });

  it('without room says so in words for customers', async () => {
    bed.state.failing = (type) => (type === 'qmconfig' ? 'lvcreate error: insufficient free space' : null);
    await expect(driver.createDisk(bed.spec(1))).rejects.toMatchObject({ code: 'no_space' });
  });

  it('that nobody knows any more is judged by what it was about', async () => {
    await made();
    bed.stand.meddle = (what, _request, response) => {
      if (!/^GET .*\/tasks\/.*qmstart.*\/status$/.test(decodeURIComponent(what))) return false;
      const errors = { upid: 'no such task' };
      response.writeHead(400, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ data: null, message: 'Parameter verification failed.', errors }));
      return true;
    };
    // It has not come so far yet, however late we look, and the next try finds it so.
    bed.state.taskMs = 3_000;
    await expect(driver.start(bed.spec(1))).rejects.toMatchObject({ code: 'machine_died', permanent: false });
    await expect.poll(() => bed.vm(bed.spec(1).id)?.running).toBeTruthy();
    await driver.start(bed.spec(1));
  });

  it('whose beginning was not heard of is not begun a second time', async () => {
    let lost = 0;
    bed.stand.meddle = (what, request, response) => {
      if (what !== 'POST /nodes/n1/qemu' || lost > 0) return false;
      lost += 1;
      response.end = () => request.socket.destroy() as never; // it is done, and its answer is lost
      return false;
    };
    await driver.createDisk(bed.spec(1)).catch(() => undefined);
    await driver.createDisk(bed.spec(1));
    expect(lost).toBe(1);
    expect([...bed.state.vms.values()].map(({ settings }) => settings.name)).toEqual([bed.spec(1).id]);
    expect(bed.state.volumes.size).toBe(1);
  });

  it('is begun once by two processes that make the same machine', async () => {
    const other = open();
    await Promise.all([driver, other].map((each) => each.createDisk(bed.spec(1)).catch(() => undefined)));
    await driver.createDisk(bed.spec(1));
    expect(bed.state.vms.size).toBe(1);
    expect(bed.state.volumes.size).toBe(1);
  });

  it('that holds a machine does not keep its power', async () => {
    const vm = await made();
    await driver.start(bed.spec(1));
    vm.lock = 'backup';
    beginTask(bed.state, { node: 'n1', type: 'vzdump', vmid: vm.vmid }, async (task) => {
      while (!task.cancelled) await new Promise((resolve) => setTimeout(resolve, 5));
      vm.lock = null;
      throw new Error('interrupted by signal');
    });
    await driver.powerOff(bed.spec(1).id);
    expect(vm.running).toBeNull();
  });
});

describe('what a guest is told', () => {
  it('stands on a disc of its own, and its secrets nowhere else in clear', async () => {
    const vm = await made();
    const discs = () => [...bed.state.files.keys()].filter((key) => key.includes(':iso/'));
    expect(discs()).toEqual([expect.stringMatching(/innkeeper-test-44-1-secret-/)]);
    expect(noted(vm)).not.toMatch(/\$6\$|ssh-ed25519/);
    await driver.setAddresses({
      ...bed.spec(1),
      nic: { ...bed.spec(1).nic, addresses: bed.spec(2).nic.addresses },
    });
    await driver.start(bed.spec(1));
    await expect.poll(() => vm.running?.guest.passwordHash).toBe(bed.identity.passwordHash);
    const sealed = noted(vm);
    await driver.forgetSecrets(bed.spec(1).id);
    expect(discs()).toEqual([expect.stringMatching(/innkeeper-test-44-1-seed-/)]);
    expect(noted(vm).length).toBeLessThan(sealed.length);
    const left = [...bed.state.files]
      .filter(([key]) => key.includes(':iso/'))
      .map(([, file]) => file.toString('latin1'));
    expect(left.join()).not.toMatch(/\$6\$|ssh-ed25519/);
  });

  it('is not guessed at when more was to be read than can be kept', async () => {
    await driver.createDisk(bed.spec(1));
    await driver.writeIdentity(bed.spec(1), { ...bed.identity, userData: incompressible(60_000) });
    const moved = { ...bed.spec(1), nic: { ...bed.spec(1).nic, addresses: bed.spec(2).nic.addresses } };
    await expect(driver.setAddresses(moved)).rejects.toMatchObject({
      code: 'host_not_ready',
      message: /first boot/,
    });
    await driver.forgetSecrets(bed.spec(1).id);
    await driver.setAddresses(moved);
  });

  it('comes from the machine’s own notes, also after a snapshot brought its settings back', async () => {
    const vm = await made();
    await driver.createSnapshot(bed.spec(1).id, 'before');
    await driver.forgetSecrets(bed.spec(1).id);
    const larger = { ...bed.spec(1), cpuCores: 3, memoryMib: 128, diskGib: 2 };
    await driver.resize(larger);
    await driver.restoreSnapshot(bed.spec(1).id, 'before');
    await driver.start(larger);
    expect(vm.settings).toMatchObject({
      cores: '3',
      memory: '128',
      scsi0: expect.stringContaining('size=2G'),
    });
    expect(vm.settings.ide2).toContain('innkeeper-test-44-1-seed-');
  });
});

describe('packet rules', () => {
  it('hold a guest to its addresses, and follow them', async () => {
    const vm = await made();
    await driver.start(bed.spec(1));
    const allowed = () => [...(vm.firewall.sets.get('ipfilter-net0') ?? [])].sort();
    expect(allowed()).toEqual(['127.77.44.1', 'fd77:44::1']);
    expect(vm.firewall.options).toMatchObject({
      enable: '1',
      ipfilter: '1',
      macfilter: '1',
      dhcp: '0',
      radv: '0',
    });
    expect(vm.settings.net0).toBe('virtio=52:54:00:77:44:01,bridge=vmbr0,firewall=1,rate=12.5');
    await driver.start({ ...bed.spec(1), nic: { ...bed.spec(1).nic, addresses: bed.spec(2).nic.addresses } });
    expect(allowed()).toEqual(['127.77.44.2', 'fd77:44::2']);
  });
});

describe('since when a machine runs', () => {
  it('is the same for whoever asks, also when somebody else started it', async () => {
    const vm = await made();
    const spec = bed.spec(1);
    await driver.start(spec);
    const first = (await driver.inspect(spec.id)).startedAt;
    for (const _ of [1, 2, 3]) expect((await open().list())[0]?.startedAt).toEqual(first);
    await driver.prepare(() => undefined);
    const pid = vm.running?.pid;
    end(bed.state, vm, 'silent');
    await expect.poll(async () => (await driver.inspect(spec.id)).power).toBe('stopped');
    await open().start(spec);
    expect(vm.running?.pid).not.toBe(pid);
    vm.settings.tags = `innkeeper;machine-${spec.id}`; // as after a start by hand
    await expect.poll(() => vm.settings.tags).toContain(`run-${vm.running?.pid}-`);
  });
});

describe('what happens while nobody looks', () => {
  const events: string[] = [];
  beforeEach(async () => {
    events.length = 0;
    await made();
    await driver.start(bed.spec(1));
    driver.watch(({ power, cause }) => events.push(`${power} ${cause}`));
    await driver.prepare(() => undefined);
  });
  const vm = () => bed.vm(bed.spec(1).id) as Vm;

  it('is told: off and on again, and who ended it', async () => {
    end(bed.state, vm(), 'by the engine');
    start(bed.state, vm());
    await expect.poll(() => events).toEqual(['stopped guest', 'running host']);
    end(bed.state, vm(), 'silent');
    await expect.poll(() => events.slice(2)).toEqual(['stopped lost']);
  });

  it('is told as lost where the journal may not be read', async () => {
    bed.state.grants['/nodes'] = ['Sys.Audit'];
    end(bed.state, vm(), 'by the engine');
    await expect.poll(() => events).toEqual(['stopped lost']);
  });

  it('is no end of a machine that was moved while it ran', async () => {
    bed.state.nodes.push({ name: 'n2', isOnline: true, bridges: ['vmbr0'] });
    vm().node = 'n2';
    (vm().running as { pid: number }).pid += 1;
    const pid = vm().running?.pid;
    await expect.poll(() => vm().settings.tags).toContain(`run-${pid}-`);
    expect(events).toEqual([]);
  });

  it('is said once in the log while the cluster cannot be asked', async () => {
    const warned: string[] = [];
    const log = {
      info: () => undefined,
      warn: (_: object, words: string) => warned.push(words),
      error: () => undefined,
    };
    const other = open({ log });
    await other.prepare(() => undefined);
    bed.stand.meddle = (_what, request) => {
      request.socket.destroy();
      return true;
    };
    const asked = bed.stand.asked.length;
    await expect.poll(() => bed.stand.asked.length).toBeGreaterThan(asked + 8);
    expect(warned).toEqual(['What happens to machines of a cluster is not to be seen now']);
    bed.stand.meddle = null;
  });
});

describe('several nodes', () => {
  const image = { slug: 'made', kind: 'build', recipe: 'made' } as const;
  const images = () =>
    [...bed.state.files.keys()].filter((key) => key.includes(':import/')).map((key) => key.split(' ')[0]);
  beforeEach(() => {
    bed.state.nodes.push({ name: 'n2', isOnline: true, bridges: ['vmbr0'] });
  });

  it('each get an image of their own, or all of them one where they share the storage', async () => {
    expect(images()).toEqual(['n1']);
    await driver.ensureImage(image, () => undefined);
    expect(images()).toEqual(['n1', 'n2']);
    bed.state.files.clear();
    (bed.state.storages[1] as { isShared: boolean }).isShared = true;
    await driver.ensureImage(image, () => undefined);
    expect(images()).toEqual(['n1']);
  });

  it('one that was asked for gets the machine, and only where it has the image', async () => {
    const there = open({ node: 'n2' });
    await expect(there.createDisk(bed.spec(1))).rejects.toMatchObject({ code: 'image_unknown' });
    await there.ensureImage(image, () => undefined);
    await there.createDisk(bed.spec(1));
    expect((await driver.inspect(bed.spec(1).id)).node).toBe('n2');
    expect((await driver.capacity()).cpuCores).toBe(32);
    expect((await there.capacity()).cpuCores).toBe(16);
  });

  it('a machine that somebody moved is followed, and has its disc where it is', async () => {
    const vm = await made();
    vm.node = 'n2';
    expect(await driver.list()).toEqual([
      { id: bed.spec(1).id, power: 'stopped', startedAt: null, node: 'n2' },
    ]);
    await driver.start(bed.spec(1));
    await driver.waitUntilReady(bed.spec(1), { timeoutMs: 10_000 });
    expect(vm.running?.guest.hostname).toBe('guest');
    expect(vm.running?.guest.passwordHash).toBe(bed.identity.passwordHash);
  });
});

/** Letters in no order, always the same. */
function incompressible(length: number): string {
  let state = 1;
  return Array.from({ length }, () => {
    state = (state * 48_271) % 2_147_483_647;
    return String.fromCharCode(33 + (state % 90));
  }).join('');
}
