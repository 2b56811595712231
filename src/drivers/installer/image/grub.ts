import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FileEntry } from '../../debian/index.ts';
import type { Unpacked } from './unpacked.ts';

const shared = [
  ...['normal', 'configfile', 'search', 'search_fs_uuid', 'search_label', 'search_fs_file', 'probe', 'test'],
  ...[
    'part_gpt',
    'part_msdos',
    'fat',
    'ext2',
    'diskfilter',
    'mdraid1x',
    'linux',
    'gzio',
    'echo',
    'ls',
    'cat',
  ],
  ...['reboot', 'halt', 'sleep', 'terminal', 'serial', 'all_video', 'minicmd', 'loadenv', 'gfxterm', 'font'],
];

/**
 * GRUB as it is written to disks: made once, the same for every server. Started from a disk, by BIOS or by UEFI, it reads
 * `grub/grub.cfg` of that disk's own EFI partition, so that each disk starts by itself whatever became of the others.
 */
export async function grubFiles(unpacked: Unpacked, work: string): Promise<FileEntry[]> {
  const bios = await make(unpacked, work, 'i386-pc', '(,gpt2)/grub', ['biosdisk', ...shared]);
  const efi = await make(unpacked, work, 'x86_64-efi', '/grub', ['efi_gop', 'efi_uga', 'chain', ...shared]);
  const boot = await readFile(join(unpacked.dir, 'usr/lib/grub/i386-pc/boot.img'));
  return [
    { path: 'usr/lib/innkeeper/grub/boot.img', content: boot },
    { path: 'usr/lib/innkeeper/grub/core.img', content: bios },
    { path: 'usr/lib/innkeeper/grub/BOOTX64.EFI', content: efi },
  ];
}

async function make(
  unpacked: Unpacked,
  work: string,
  platform: string,
  prefix: string,
  modules: readonly string[],
): Promise<Buffer> {
  const output = join(work, `grub-${platform}`);
  const folder = join(unpacked.dir, 'usr/lib/grub', platform);
  await writeFile(output, '');
  await unpacked.run('usr/bin/grub-mkimage', [
    ...['--directory', folder, '--prefix', prefix, '--format', platform, '--output', output],
    ...modules,
  ]);
  return readFile(output);
}
