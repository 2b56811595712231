import { readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { legacyMagic, unpackLegacyLz4 } from './lz4.ts';
import { dependenciesOf, downloadPackages, unpackPackage } from './packages.ts';
import type { FileEntry } from './tar.ts';

/** Debian's kernels, each a meta package that names the current one: for virtual machines, and for all that a server may have. */
export const kernelPackages = { machines: 'linux-image-cloud-amd64', servers: 'linux-image-amd64' };

/** Downloads the kernel that a meta package names, and unpacks it below `dir`. */
export async function fetchKernel(
  dir: string,
  meta: string,
): Promise<{ version: string; image: string; modulesDir: string }> {
  const name = (await dependenciesOf(meta)).find((each) => each.startsWith('linux-image-'));
  if (name === undefined) throw new Error(`apt knows no ${meta}; run apt-get update`);
  const [file = ''] = await downloadPackages([name], join(dir, 'packages'));
  await unpackPackage(file, join(dir, 'kernel'));
  const version = name.slice('linux-image-'.length);
  const modules = ['lib', 'usr/lib'].map((lib) => join(dir, 'kernel', lib, 'modules', version, 'kernel'));
  for (const modulesDir of modules) {
    const found = await readdir(modulesDir).then(
      () => true,
      () => false,
    );
    if (found) return { version, image: join(dir, 'kernel', 'boot', `vmlinuz-${version}`), modulesDir };
  }
  throw new Error(`${name} holds no modules`);
}

/**
 * Writes the kernel to `target`, unpacked when its packing is known: QEMU starts an unpacked kernel directly
 * (PVH), which spares each boot the unpacking. Header fields: the kernel's Documentation/arch/x86/boot.rst.
 */
export async function writeUnpackedKernel(image: string, target: string): Promise<void> {
  const packed = await readFile(image);
  const setupSectors = packed[0x1f1] || 4;
  const payloadAt = (setupSectors + 1) * 512 + packed.readUInt32LE(0x248);
  const payload = packed.subarray(payloadAt, payloadAt + packed.readUInt32LE(0x24c));
  await writeFile(target, unpackPayload(payload) ?? packed);
}

function unpackPayload(payload: Buffer): Buffer | null {
  // The payload ends with its unpacked size, four bytes that no packer knows.
  const body = payload.subarray(0, -4);
  if (body.readUInt32LE(0) === legacyMagic) return unpackLegacyLz4(body, payload.readUInt32LE(body.length));
  if (body.readUInt16BE(0) === 0x1f8b) return gunzipSync(body);
  return null;
}

/** Reads kernel modules and everything they depend on, in the order they have to be loaded. */
export async function readModules(modulesDir: string, names: readonly string[]): Promise<FileEntry[]> {
  const files = new Map<string, string>();
  for (const entry of await readdir(modulesDir, { recursive: true })) {
    if (entry.endsWith('.ko')) files.set(moduleName(entry), join(modulesDir, entry));
  }
  const ordered = new Map<string, FileEntry>();
  const add = async (name: string): Promise<void> => {
    const file = files.get(name);
    if (file === undefined || ordered.has(name)) return; // built into the kernel, or there already
    const content = await readFile(file);
    for (const dependency of dependenciesIn(content)) await add(dependency);
    ordered.set(name, { path: `modules/${basename(file)}`, content });
  };
  for (const name of names) await add(name);
  return [...ordered.values()];
}

/** A module's name, which files may write with hyphens. */
export function moduleName(path: string): string {
  return basename(path, '.ko').replaceAll('-', '_');
}

/** A module's `.modinfo` section is a row of `key=value` strings that end in zero bytes. */
function dependenciesIn(module: Buffer): string[] {
  const at = module.indexOf('\0depends=');
  if (at < 0) return [];
  const value = module.subarray(at + 9, module.indexOf(0, at + 9)).toString('latin1');
  return value
    .split(',')
    .filter(Boolean)
    .map((name) => name.replaceAll('-', '_'));
}
