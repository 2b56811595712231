import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WantedPackage } from '../../src/platform/host/packages.ts';
import { runAsRoot, runProgram } from '../../src/platform/host/program.ts';

/** What the tree is made with. */
export const treePackages: WantedPackage[] = [
  { package: 'mmdebstrap', why: 'Incus and a newer QEMU, in a folder of their own' },
  { package: 'debian-archive-keyring', why: 'proves that packages are really Debian’s' },
  { package: 'gcc', why: 'what lets Incus run where the kernel has no vhost-vsock' },
  { package: 'libc6-dev', why: 'what that is made of' },
];

const release = 'bookworm';
/** What Incus runs virtual machines with. */
const packages = [
  ...['incus-base', 'qemu-system-x86', 'qemu-utils', 'qemu-system-modules-spice', 'ovmf', 'seabios'],
  ...['dash', 'bash', 'coreutils', 'grep', 'sed', 'findutils', 'libc-bin', 'util-linux', 'mount', 'procps'],
  ...['iproute2', 'nftables', 'dnsmasq-base', 'e2fsprogs', 'genisoimage', 'squashfs-tools', 'rsync', 'attr'],
  ...['tar', 'gzip', 'xz-utils', 'openssl', 'ca-certificates'],
];

/**
 * A folder with Incus and QEMU of Debian's backports, unpacked and not installed: this host keeps what it has. Kept from run to run,
 * under a name that changes with this file. The first time takes a minute and 250 MB; `say` tells how far it is.
 */
export async function ensureIncusTree(say: (line: string) => void): Promise<string> {
  const hash = createHash('sha256');
  for (const name of ['tree.ts', 'novsock.c']) hash.update(await readFile(join(import.meta.dirname, name)));
  const dir = join(
    tmpdir(),
    `innkeeper-test-incus-${process.getuid?.() ?? 0}-${hash.digest('hex').slice(0, 8)}`,
  );
  if (await isThere(dir)) return dir;
  const partial = await mkdtemp(join(tmpdir(), 'innkeeper-incus-'));
  try {
    say('unpacking Incus');
    await unpack(join(partial, 'tree'));
    await furnish(join(partial, 'tree'), partial);
    await runAsRoot(['chmod', '755', partial]);
    if (!(await isThere(dir))) await rename(partial, dir);
  } finally {
    await runAsRoot(['rm', '-rf', partial]);
  }
  return dir;
}

function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

async function unpack(root: string): Promise<void> {
  const server = await debianServer();
  const options = ['APT::Sandbox::User "root"', `APT::Default-Release "${release}-backports"`];
  const argv = [
    ...['mmdebstrap', '--variant=extract', '--mode=root', '--format=directory'],
    ...options.map((option) => `--aptopt=${option}`),
    `--include=${packages.join(',')}`,
    ...['', root, `deb ${server} ${release} main`, `deb ${server} ${release}-backports main`],
  ];
  await runAsRoot(argv, { timeoutMs: 900_000 });
}

/** The server that this host has its own packages from, so that whoever has a mirror uses it. */
async function debianServer(): Promise<string> {
  const format = '$(ORIGIN) $(CODENAME) $(COMPONENT) $(REPO_URI)';
  const { stdout } = await runProgram([
    'apt-get',
    'indextargets',
    '--format',
    format,
    'Created-By: Packages',
  ]);
  const [, server] = new RegExp(`^Debian ${release} main (\\S+)$`, 'm').exec(stdout) ?? [];
  if (server === undefined) throw new Error(`this host has no packages of Debian ${release}`);
  return server;
}

/** What a system that is unpacked and not installed lacks. */
async function furnish(tree: string, work: string): Promise<void> {
  const own = join(work, 'own');
  for (const folder of ['etc', 'usr/local/bin', 'usr/local/sbin', 'images', 'var/lib/incus', 'var/log/incus'])
    await mkdir(join(own, folder), { recursive: true });
  const files: Record<string, string> = {
    'etc/passwd': 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n',
    'etc/group': 'root:x:0:\nnogroup:x:65534:\n',
    'etc/hosts': '127.0.0.1 localhost\n',
    'etc/nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files\n',
    'etc/subuid': 'root:1000000:1000000000\n',
    'etc/subgid': 'root:1000000:1000000000\n',
  };
  for (const [path, content] of Object.entries(files)) await writeFile(join(own, path), content);
  // The host's kernel has what it has.
  await symlink('/bin/true', join(own, 'usr/local/sbin/modprobe'));
  const launcher = join(own, 'usr/local/bin/novsock');
  await runProgram(['gcc', '-O2', '-static', '-o', launcher, join(import.meta.dirname, 'novsock.c')]);
  await runAsRoot(['cp', '-r', '--no-preserve=ownership', `${own}/.`, tree]);
  await rm(own, { recursive: true });
  // Incus writes a partition table onto disks that have none, and that of a tiny guest is one file system from end to end.
  await runAsRoot(['rm', '-f', join(tree, 'sbin/sgdisk'), join(tree, 'usr/sbin/sgdisk')]);
}
