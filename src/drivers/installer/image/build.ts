import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { runProgram } from '../../../platform/host/program.ts';
import {
  cpioArchive,
  type FileEntry,
  fetchKernel,
  kernelPackages,
  moduleName,
  readModules,
} from '../../debian/index.ts';
import { files, grubPackages, moduleFolders, modules, packages, programs } from './contents.ts';
import { grubFiles } from './grub.ts';
import { type Unpacked, unpack } from './unpacked.ts';

const libraries = 'usr/lib/x86_64-linux-gnu';
/** Debian's layout: everything below `usr`, with links where it stood before. */
const links = ['bin', 'sbin', 'lib', 'lib64'].map((path) => ({ path, target: `usr/${path}` }));

/**
 * Builds the installer into `dir`: `vmlinuz` and `initrd`, Debian's own kernel and programs in one archive that runs from memory. No
 * program of a package is configured, and none of their scripts run. About 8 and 30 MB.
 */
export async function buildInstaller(dir: string, progress: (line: string) => void): Promise<void> {
  const work = join(dir, 'work');
  progress('Building the installer (1 of 3): downloading packages');
  const kernel = await fetchKernel(work, kernelPackages.servers);
  const unpacked = await unpack([...packages, ...grubPackages], work);
  progress('Building the installer (2 of 3): gathering drivers and programs');
  const entries = [
    ...files,
    ...(await readPrograms(unpacked)),
    ...(await readDrivers(unpacked, kernel, work)),
    ...(await grubFiles(unpacked, work)),
    ...(await readScripts()),
  ];
  progress('Building the installer (3 of 3): packing');
  const archive = cpioArchive(foldersOf(entries), entries, [...links, ...(await applets(unpacked))]);
  await writeFile(join(work, 'archive'), archive);
  const packing = ['-q', '-T0', '-12', '-f', '-o', join(dir, 'initrd'), join(work, 'archive')];
  await unpacked.run('usr/bin/zstd', packing, { timeoutMs: 600_000 });
  await cp(kernel.image, join(dir, 'vmlinuz'));
}

/** Programs and, once each, the libraries that they need. */
async function readPrograms(unpacked: Unpacked): Promise<FileEntry[]> {
  const needed = new Map<string, string>();
  for (const program of programs)
    for (const [name, file] of await unpacked.librariesOf(program)) needed.set(name, file);
  const loader = 'lib64/ld-linux-x86-64.so.2';
  const sources = [
    ...programs.map((path) => [merged(path), join(unpacked.dir, path)]),
    ...[...needed].map(([name, file]) => [`${libraries}/${name}`, file]),
    [`usr/${loader}`, join(unpacked.dir, loader)],
    ['usr/bin/busybox', join(unpacked.dir, 'bin/busybox')],
  ];
  return Promise.all(
    sources.map(async ([path = '', file = '']) => ({ path, content: await readFile(file), mode: 0o755 })),
  );
}

function merged(path: string): string {
  return path.startsWith('usr/') ? path : `usr/${path}`;
}

/** BusyBox is everything that no program of its own is there for. */
async function applets(unpacked: Unpacked): Promise<{ path: string; target: string }[]> {
  const { stdout } = await runProgram([join(unpacked.dir, 'bin/busybox'), '--list']);
  const taken = new Set([...programs.map((path) => basename(path)), 'busybox', 'sh', 'modprobe', ...scripts]);
  const names = stdout.split('\n').filter((name) => /^[a-z0-9_[-]+$/i.test(name) && !taken.has(name));
  return [
    ...names.map((name) => ({ path: `usr/bin/${name}`, target: 'busybox' })),
    // BusyBox' own shell prefers its applets to programs of their names.
    { path: 'usr/bin/sh', target: 'dash' },
    { path: 'usr/sbin/modprobe', target: '../bin/kmod' },
  ];
}

/** The kernel's modules that servers may need, and the lists by which `modprobe` finds them. */
async function readDrivers(
  unpacked: Unpacked,
  kernel: { version: string; modulesDir: string },
  work: string,
): Promise<FileEntry[]> {
  const root = join(work, 'drivers');
  const dir = join(root, 'lib/modules', kernel.version);
  const names = [...modules];
  for (const folder of moduleFolders)
    for (const name of await readdir(join(kernel.modulesDir, folder), { recursive: true }))
      if (name.endsWith('.ko')) names.push(moduleName(name));
  await mkdir(join(dir, 'modules'), { recursive: true });
  for (const { path, content } of await readModules(kernel.modulesDir, names))
    await writeFile(join(dir, path), content);
  for (const list of ['modules.builtin', 'modules.builtin.modinfo', 'modules.order'])
    await cp(join(kernel.modulesDir, '..', list), join(dir, list));
  await unpacked.run('bin/kmod', ['-b', root, kernel.version], { argv0: 'depmod' });
  const found = await readdir(root, { recursive: true, withFileTypes: true });
  const paths = found
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1));
  return Promise.all(
    paths.map(async (path) => ({ path: `usr/${path}`, content: await readFile(join(root, path)) })),
  );
}

const scripts = [
  ...['agent', 'inventory', 'set_bmc', 'wipe_all', 'wipe', 'install_tree', 'identify', 'bootable'],
  ...['install_disk', 'give_way', 'rescue'],
];

/** What we wrote: programs by their name, and what they share. */
async function readScripts(): Promise<FileEntry[]> {
  const folder = join(import.meta.dirname, '../scripts');
  const places = new Map([
    ['init', 'init'],
    ...['lease', 'common'].map((name) => [name, `usr/lib/innkeeper/${name}`] as const),
    ...scripts.map((name) => [name, `usr/bin/${name}`] as const),
  ]);
  return Promise.all(
    [...places].map(async ([name, path]) => ({
      path,
      content: await readFile(join(folder, `${name}.sh`)),
      mode: 0o755,
    })),
  );
}

/** Every folder above a file, and those that things are mounted at. */
function foldersOf(entries: readonly FileEntry[]): string[] {
  const folders = new Set([
    'dev',
    'proc',
    'sys',
    'run',
    'tmp',
    'mnt',
    'root',
    'var',
    'var/log',
    'etc/dropbear',
  ]);
  for (const { path } of entries) {
    const parts = path.split('/').slice(0, -1);
    parts.forEach((_, index) => void folders.add(parts.slice(0, index + 1).join('/')));
  }
  return [...folders].sort();
}
