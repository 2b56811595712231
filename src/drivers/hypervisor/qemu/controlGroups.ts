import { mkdir, readdir, rmdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Groups, type Limits, weightOfAll } from './limits.ts';

const periodUs = 100_000;

/** The controllers that machines are held by, where the kernel has them. */
const wanted = ['cpu', 'memory', 'pids', 'io'] as const;
type Controller = (typeof wanted)[number];

/**
 * Folders of control groups: one for all machines of an installation, and one for each in it. For hosts without
 * systemd, which wants to be the only one who makes them. Source: the kernel's admin-guide/cgroup-v2.
 */
export function controlGroups(root: string, name: string, controllers: readonly string[]): Groups {
  const all = join(root, name);
  const present = wanted.filter((each) => controllers.includes(each));
  const passOn = present.map((each) => `+${each}`).join(' ');
  const write = async (dir: string, files: readonly ControlFile[]) => {
    for (const { controller, file, value } of files)
      if (present.includes(controller)) await writeFile(join(dir, file), value);
  };
  /** The kernel removes one without a process alone; one that is busy, or was never made, is left. */
  const remove = (id: string) => rmdir(join(all, id)).catch(() => undefined);

  return {
    async prepare() {
      await writeFile(join(root, 'cgroup.subtree_control'), passOn);
      await mkdir(all, { recursive: true });
      for (const each of await readdir(all, { withFileTypes: true }))
        if (each.isDirectory()) await remove(each.name);
      await write(all, filesOfAll);
      await writeFile(join(all, 'cgroup.subtree_control'), passOn);
    },
    async take(id, pid, limits) {
      const dir = join(all, id);
      await mkdir(dir, { recursive: true });
      await write(dir, controlFiles(limits));
      await writeFile(join(dir, 'cgroup.procs'), String(pid));
    },
    giveBack: remove,
  };
}

export interface ControlFile {
  controller: Controller;
  file: string;
  value: string;
}

export const filesOfAll: ControlFile[] = [
  { controller: 'cpu', file: 'cpu.weight', value: String(weightOfAll) },
  { controller: 'io', file: 'io.weight', value: `default ${weightOfAll}` },
];

export function controlFiles({ weight, cpuUsPerSecond, memoryBytes, tasks }: Limits): ControlFile[] {
  const quotaUs = Math.round((cpuUsPerSecond * periodUs) / 1_000_000);
  return [
    { controller: 'cpu', file: 'cpu.weight', value: String(weight) },
    { controller: 'cpu', file: 'cpu.max', value: `${quotaUs} ${periodUs}` },
    { controller: 'memory', file: 'memory.max', value: String(memoryBytes) },
    { controller: 'memory', file: 'memory.oom.group', value: '1' },
    { controller: 'pids', file: 'pids.max', value: String(tasks) },
    { controller: 'io', file: 'io.weight', value: `default ${weight}` },
  ];
}
