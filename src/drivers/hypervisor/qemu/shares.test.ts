import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { limitsOf } from './limits.ts';
import { machineShares, type ShareHost } from './shares.ts';

const installation = '0f3c9a2e-1111-4222-8333-444455556666';

describe('how machines share their host', () => {
  let root: string;
  let process: ChildProcess;
  let pid: number;
  const warnings: object[] = [];
  const commands: string[][] = [];
  const log = { info() {}, warn: (facts: object) => void warnings.push(facts), error: console.error };
  const host = (change: Partial<ShareHost> = {}): ShareHost => ({
    ...{ mounts: join(root, 'mountinfo'), systemd: join(root, 'no-systemd'), isRoot: true },
    run: async (argv) => {
      commands.push([...argv]);
      return { stdout: '', stderr: '' };
    },
    ...change,
  });
  const tree = () => join(root, 'cgroup');
  const all = () => join(tree(), 'innkeeper-0f3c9a2e');
  const read = (file: string) => readFile(join(all(), file), 'utf8');

  beforeEach(async () => {
    warnings.length = 0;
    commands.length = 0;
    root = await mkdtemp(join(tmpdir(), 'shares-'));
    await mkdir(tree());
    await writeFile(
      join(root, 'mountinfo'),
      `25 20 0:22 / ${tree()} rw,nosuid shared:4 - cgroup2 cgroup2 rw\n`,
    );
    await writeFile(join(tree(), 'cgroup.controllers'), 'cpuset cpu io memory hugetlb pids\n');
    // Its size is read from its command line, as a QEMU's is.
    process = spawn('bash', ['-c', 'read', 'qemu', '-smp', '4', '-m', 'size=8192M']);
    pid = process.pid ?? 0;
  });
  afterEach(async () => {
    process.kill();
    await rm(root, { recursive: true });
  });

  it('without systemd: a folder for all, and one for each with its limits', async () => {
    const shares = machineShares(log, host());
    await shares.prepare(installation);
    expect(await readFile(join(tree(), 'cgroup.subtree_control'), 'utf8')).toBe('+cpu +memory +pids +io');
    expect([await read('cpu.weight'), await read('io.weight')]).toEqual(['50', 'default 50']);
    await shares.take('vps-7', pid);
    const files = (await readdir(join(all(), 'vps-7'))).sort();
    const values = await Promise.all(files.map(async (file) => [file, await read(`vps-7/${file}`)]));
    expect(Object.fromEntries(values)).toEqual({
      'cgroup.procs': String(pid),
      'cpu.max': '450000 100000',
      'cpu.weight': '400',
      'io.weight': 'default 400',
      'memory.max': String((8192 + 512 + 512) * 2 ** 20),
      'memory.oom.group': '1',
      'pids.max': '260',
    });
    expect(warnings).toEqual([]);
  });

  it('a group without a process goes with its machine, or at the next start', async () => {
    const shares = machineShares(log, host());
    await shares.prepare(installation);
    for (const left of ['vps-7', 'vps-8']) await mkdir(join(all(), left)); // the kernel's go with their files
    await shares.giveBack('vps-7');
    expect(await readdir(all())).not.toContain('vps-7');
    await shares.prepare(installation);
    expect(await readdir(all())).not.toContain('vps-8');
  });

  it('a controller that the kernel lacks is left out', async () => {
    await writeFile(join(tree(), 'cgroup.controllers'), 'cpu memory\n');
    const shares = machineShares(log, host());
    await shares.prepare(installation);
    await shares.take('vps-7', pid);
    expect(await readdir(join(all(), 'vps-7'))).not.toContain('io.weight');
    expect(await readdir(join(all(), 'vps-7'))).not.toContain('pids.max');
    expect(await read('cgroup.subtree_control')).toBe('+cpu +memory');
  });

  it('with systemd: a scope for each in a slice for all, and nothing by hand', async () => {
    const shares = machineShares(log, host({ systemd: root }));
    await shares.prepare(installation);
    await shares.take('vps-7', pid);
    await shares.giveBack('vps-7');
    expect(commands.map((argv) => argv.join(' '))).toEqual([
      'systemctl set-property --runtime innkeeper.slice CPUWeight=50 IOWeight=50',
      expect.stringContaining('GetUnit s init.scope'),
      expect.stringContaining(
        `StartTransientUnit ssa(sv)a(sa(sv)) innkeeper-0f3c9a2e-vps-7-${pid}.scope fail 10 Description s Innkeeper's machine vps-7 Slice s innkeeper.slice PIDs au 1 ${pid} Before as 1 innkeeper.service CollectMode s inactive-or-failed CPUWeight t 400 CPUQuotaPerSecUSec t 4500000 MemoryMax t 9663676416 TasksMax t 260 IOWeight t 400 0`,
      ),
    ]);
    expect(await readdir(tree())).toEqual(['cgroup.controllers']);
  });

  it('with systemd: the scope of a machine that runs already gets its limits anew', async () => {
    const run: ShareHost['run'] = async (argv) => {
      commands.push([...argv]);
      if (argv.includes('StartTransientUnit')) throw new Error('Unit x.scope was already loaded');
      return { stdout: '', stderr: '' };
    };
    const shares = machineShares(log, host({ systemd: root, run }));
    await shares.prepare(installation);
    await shares.take('vps-7', pid);
    expect(commands.at(-1)?.join(' ')).toContain(`vps-7-${pid}.scope true 5 CPUWeight t 400`);
    expect(warnings).toEqual([]);
  });

  it.each([
    ['an ordinary user', { isRoot: false }, 'not started as root'],
    ['systemd does not answer', { systemd: '/', run: () => Promise.reject(new Error('no bus')) }, 'no bus'],
  ])('%s: said once in words, and machines run', async (_name, change, reason) => {
    const shares = machineShares(log, host(change));
    await shares.prepare(installation);
    await shares.take('vps-7', pid);
    await shares.giveBack('vps-7');
    expect(warnings).toEqual([{ reason: expect.stringContaining(reason) }]);
  });

  it('a kernel with version 1 alone: said once in words, and machines run', async () => {
    await writeFile(join(tree(), 'cgroup.controllers'), 'hugetlb\n');
    const shares = machineShares(log, host());
    await shares.prepare(installation);
    await shares.take('vps-7', pid);
    expect(warnings).toEqual([{ reason: expect.stringContaining('version 2') }]);
  });

  it('a group that cannot be made is said, and the machine runs', async () => {
    const shares = machineShares(log, host());
    await shares.prepare(installation);
    await writeFile(join(all(), 'vps-7'), 'not a folder');
    await shares.take('vps-7', pid);
    expect(warnings).toEqual([{ machine: 'vps-7', error: expect.any(Error) }]);
  });

  it('the largest machine has values that the kernel takes', () => {
    expect(limitsOf({ cpuCores: 1024, memoryMib: 2 ** 24 })).toMatchObject({ weight: 10_000, tasks: 1280 });
  });
});
