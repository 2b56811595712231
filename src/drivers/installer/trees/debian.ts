import { glob, mkdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { ensurePackages } from '../../../platform/host/packages.ts';
import { runAsRoot } from '../../../platform/host/program.ts';
import { type Unpacked, unpack } from '../image/unpacked.ts';
import { files, leftovers, namedArrays, packages, unwanted } from './debianSystem.ts';

/** Installed when somebody first wants the tree. */
const hostPackages = [
  { package: 'mmdebstrap', why: "makes a Debian system from Debian's packages" },
  { package: 'debian-archive-keyring', why: 'proves that packages are really Debian’s' },
];

/**
 * A whole Debian 12 for a server, made by `mmdebstrap` from Debian's packages: systemd, OpenSSH, the kernel for all hardware with mdadm and every
 * driver in its initial RAM disk, and processors' microcode. Owners, permissions, devices and capabilities of files come along. About 650 MB, packed 190.
 */
export async function debianTree(
  work: string,
  archive: string,
  progress: (line: string) => void,
): Promise<Unpacked> {
  const say = (line: string) => progress(`Building the tree debian-12 (1 of 2): ${line}`);
  await ensurePackages(hostPackages, say);
  const root = join(work, 'root');
  say('installing Debian');
  const arrays = join(work, 'mdadm.conf');
  await writeFile(arrays, namedArrays);
  await bootstrap(root, arrays, say);
  await configure(root, join(work, 'configuration'));
  progress('Building the tree debian-12 (2 of 2): packing');
  const unpacked = await unpack(['zstd'], join(work, 'tools'));
  const whole = ['--numeric-owner', '--sort=name', '--xattrs', '--xattrs-include=security.*', '--format=pax'];
  await runAsRoot(['tar', ...whole, '-C', root, '-cf', archive, '.'], { timeoutMs: 600_000 });
  await runAsRoot(['rm', '-rf', '--one-file-system', root]);
  return unpacked;
}

async function bootstrap(root: string, arrays: string, say: (line: string) => void): Promise<void> {
  const options = [
    ...['--variant=minbase', '--mode=root', '--format=directory', '--aptopt=APT::Sandbox::User "root"'],
    // Nobody keeps a system whose making a power cut has ended.
    ...[...unwanted, 'force-unsafe-io'].map((option) => `--dpkgopt=${option}`),
    // Microcode is not free software, and no processor is safe without.
    '--components=main,non-free-firmware',
    `--include=${packages.join(',')}`,
    // Before mdadm, which would write down what arrays this host has.
    ...['mkdir -p "$1/etc/mdadm"', `upload "${arrays}" /etc/mdadm/mdadm.conf`].map(
      (command) => `--essential-hook=${command}`,
    ),
  ];
  // What it mounts inside is seen by nobody else, and gone with it however it ends.
  const alone = ['unshare', '--mount', '--propagation', 'private', '--'];
  const onLine = (line: string) => {
    if (line.startsWith('I: ') && !line.includes('hook')) say(line.slice(3, 120));
  };
  await runAsRoot([...alone, 'mmdebstrap', ...options, 'bookworm', root], { timeoutMs: 1_800_000, onLine });
}

/** Files are written beside and put in, since the system belongs to root and we may be someone else. */
async function configure(root: string, work: string): Promise<void> {
  await mkdir(work);
  for (const { path, content, mode } of files) {
    const file = join(work, basename(path));
    await writeFile(file, content);
    const as = ['-o', 'root', '-g', 'root', '-m', mode.toString(8)];
    await runAsRoot(['install', '-D', ...as, file, join(root, path)]);
  }
  const left: string[] = [];
  for await (const path of glob(leftovers, { cwd: root })) left.push(join(root, path));
  await runAsRoot(['rm', '-f', ...left]);
  await runAsRoot(['chroot', root, 'systemctl', '--quiet', 'enable', 'systemd-networkd.service']);
}
