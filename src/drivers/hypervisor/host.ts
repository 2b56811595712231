import { access, constants } from 'node:fs/promises';
import { platform } from 'node:os';
import { missingPackages, type WantedPackage } from '../../platform/host/packages.ts';
import { asRoot, runProgram } from '../../platform/host/program.ts';

/** `start`: without it no machine runs. The others are needed to build the image of that name. */
export type HostPackageUse = 'start' | 'tiny' | 'debian-12';

export interface HostPackage extends WantedPackage {
  use: HostPackageUse;
}

/** Debian packages that the QEMU driver works with. */
export const hostPackages: readonly HostPackage[] = [
  { package: 'qemu-system-x86', use: 'start', why: 'runs the machines' },
  { package: 'qemu-utils', use: 'start', why: 'makes their disks (qemu-img)' },
  {
    package: 'bubblewrap',
    use: 'start',
    why: 'keeps programs that read strangers’ disks away from the rest',
  },
  { package: 'iproute2', use: 'start', why: 'makes the bridge and the network devices of machines' },
  { package: 'nftables', use: 'start', why: 'holds each machine to its own addresses' },
  { package: 'procps', use: 'start', why: 'lets the host forward packets (sysctl)' },
  { package: 'e2fsprogs', use: 'tiny', why: 'packs the file system of an image (mke2fs)' },
  { package: 'debian-archive-keyring', use: 'debian-12', why: 'proves that packages are really Debian’s' },
  { package: 'mmdebstrap', use: 'debian-12', why: "makes a Debian system from Debian's packages" },
];

/** Those of the packages wanted for these uses that are not installed. Default: all uses. */
export async function missingHostPackages(...uses: HostPackageUse[]): Promise<HostPackage[]> {
  const wanted = hostPackages.filter((each) => uses.length === 0 || uses.includes(each.use));
  const missing = await missingPackages(wanted);
  return wanted.filter((each) => missing.includes(each));
}

export type HostAnswer = { ok: true } | { ok: false; reason: string };

/** Whether this host can run real machines at all, once its packages are installed. */
export async function canRunMachines(): Promise<HostAnswer> {
  if (platform() !== 'linux') return no('Machines need Linux; this is another system');
  if (process.arch !== 'x64') return no(`Machines need a 64-bit x86 host; this one is ${process.arch}`);
  if (!(await succeeds(['apt-get', '--version'])))
    return no('Machines need a Debian or Ubuntu host (apt-get)');
  if (!(await succeeds(asRoot(['true']))))
    return no('Machines need root: run as root, or allow sudo without a password');
  if (!(await canOpen('/dev/net/tun'))) return no('Machines need /dev/net/tun, open for reading and writing');
  return { ok: true };
}

function no(reason: string): HostAnswer {
  return { ok: false, reason };
}

function succeeds(argv: readonly string[]): Promise<boolean> {
  return runProgram(argv, { timeoutMs: 10_000 }).then(
    () => true,
    () => false,
  );
}

function canOpen(path: string): Promise<boolean> {
  return access(path, constants.R_OK | constants.W_OK).then(
    () => true,
    () => false,
  );
}
