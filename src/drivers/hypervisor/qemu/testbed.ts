import { chmodSync, mkdtempSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runAsRoot, runProgram } from '../../../platform/host/program.ts';
import type { GuestIdentity, Hypervisor, ImageSource, MachineSpec } from '../contract.ts';
import { canRunMachines, missingHostPackages } from '../host.ts';
import { imageStore } from '../images/store.ts';
import type { ManagedDriverUnderTest, SignIn } from '../managementConformance.ts';
import { qemuHypervisor } from './driver.ts';
import { exists, machineFiles } from './files.ts';
import type { QemuOptions } from './options.ts';
import { killProcess, waitForEnd } from './process.ts';

/** Real machines for a test file: a driver with folders, a bridge and keys of its own. */
export interface Testbed {
  options: QemuOptions;
  image: ImageSource;
  identity: GuestIdentity;
  open(): Hypervisor;
  spec(number: number): MachineSpec;
  /** What the conformance suites ask of a driver, with its guests on this bed. */
  underTest(
    patience: Pick<ManagedDriverUnderTest, 'readyTimeoutMs' | 'shutdownTimeoutMs'>,
  ): ManagedDriverUnderTest;
  /** A machine with the bed's identity that was started; its guest may still be booting. */
  start(hypervisor: Hypervisor, number: number): Promise<MachineSpec>;
  /** The same when it has booted. */
  boot(hypervisor: Hypervisor, number: number): Promise<MachineSpec>;
  /** The identity's password, in clear. */
  password: string;
  other: { passwordHash: string; authorizedKey: string };
  inGuest(spec: MachineSpec, command: string, signIn?: SignIn): Promise<string>;
  signsIn(spec: MachineSpec, as: SignIn): Promise<boolean>;
  guestAddresses(spec: MachineSpec): Promise<string[]>;
  /** Whether a ping from an address that is not the guest's own is answered. */
  spoofs(spec: MachineSpec): Promise<boolean>;
  /** Kills the machine's process, as the kernel does when memory runs out. */
  kill(spec: MachineSpec): Promise<void>;
  leftovers(spec: MachineSpec): Promise<string[]>;
  remove(): void;
}

const imagesDir = process.env.INNKEEPER_TEST_IMAGES ?? join(tmpdir(), 'innkeeper-test-images');
const givenPassword = 'correct horse; $(battery) "staple"';
const otherPassword = "another 'one' entirely";

/** Why machines cannot run in this test run, in one line, or null when they can. */
export async function reasonToSkip(recipe: string): Promise<string | null> {
  const answer = await canRunMachines();
  if (!answer.ok) return answer.reason;
  const missing = await missingHostPackages('start');
  if (missing.length > 0) return `missing packages: ${missing.map((each) => each.package).join(' ')}`;
  if (!(await hasOwnNetwork())) return 'machines are tested in a network namespace only: run npm test';
  const image = await imageStore(imagesDir)
    .find(recipe)
    .catch(() => null);
  // A namespace has no way out, so the image cannot be built in it.
  if (!image) return `the image ${recipe} is not in ${imagesDir}: npm test builds it first`;
  for (const program of ['ssh', 'sshpass', 'openssl']) {
    const found = await runProgram(['which', program]).catch(() => null);
    if (!found) return `the program ${program} is missing`;
  }
  return null;
}

/** Bridges and rules of tests never touch the host's own network: that of process 1. */
async function hasOwnNetwork(): Promise<boolean> {
  const { stdout } = await runAsRoot(['readlink', '/proc/1/ns/net']).catch(() => ({ stdout: '' }));
  return stdout.trim() !== readlinkSync('/proc/self/ns/net');
}

/** `network` tells the test files apart that run side by side: 10.77.<network>.0/24. */
export async function testbed(network: number, recipe: string, size: Partial<MachineSpec>): Promise<Testbed> {
  const dir = mkdtempSync(join(tmpdir(), 'ikt-'));
  chmodSync(dir, 0o711); // machines' accounts pass to their sockets, as in /run
  for (const key of ['key', 'other-key'])
    await runProgram(['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', join(dir, key)]);
  const publicKey = (key: string) => readFileSync(join(dir, `${key}.pub`), 'utf8').trim();
  const options: QemuOptions = {
    dir: join(dir, 'data'),
    runDir: join(dir, 'run'),
    imagesDir,
    bridge: {
      name: `ikt${network}`,
      addresses: [`10.77.${network}.1/24`, `fd77:${network}::1/64`],
      nat: false,
    },
    diskLimits: { iops: 0, mbPerSecond: 0 },
    netbootUrl: null,
    log: { info: () => undefined, warn: () => undefined, error: console.error },
  };
  const bed: Testbed = {
    options,
    image: { slug: recipe, kind: 'build', recipe },
    identity: {
      hostname: 'guest',
      passwordHash: await hashOf(givenPassword),
      authorizedKeys: [publicKey('key')],
      nameservers: ['192.0.2.53'],
      userData: null,
    },
    password: givenPassword,
    other: { passwordHash: await hashOf(otherPassword), authorizedKey: publicKey('other-key') },
    open: () => qemuHypervisor(options),
    spec: (number) => ({
      id: `test-${network}-${number}`,
      cpuCores: 1,
      memoryMib: 96,
      diskGib: 1,
      image: recipe,
      nic: {
        mac: `52:54:00:77:${String(network).padStart(2, '0')}:${String(number).padStart(2, '0')}`,
        portMbps: 100,
        addresses: [
          { family: 4, address: `10.77.${network}.${number + 9}`, prefix: 24, gateway: `10.77.${network}.1` },
          { family: 6, address: `fd77:${network}::${number + 9}`, prefix: 64, gateway: `fd77:${network}::1` },
        ],
      },
      ...size,
    }),
    underTest: (patience) => ({
      ...bed,
      ...patience,
      hypervisor: bed.open(),
      again: async () => bed.open(),
      // The guest is off before ssh has its answer.
      guestShutsDown: async (spec) => void (await bed.inGuest(spec, 'poweroff').catch(() => undefined)),
      lose: bed.kill,
      silence: async (spec, silent) => {
        await bed.inGuest(spec, `kill -${silent ? 'STOP' : 'CONT'} $(pidof qemu-ga)`);
      },
    }),
    async start(hypervisor, number) {
      const spec = bed.spec(number);
      await hypervisor.createDisk(spec);
      await hypervisor.writeIdentity(spec, bed.identity);
      await hypervisor.start(spec);
      return spec;
    },
    async boot(hypervisor, number) {
      const spec = await bed.start(hypervisor, number);
      await hypervisor.waitUntilReady(spec, { timeoutMs: 120_000 });
      return spec;
    },
    async inGuest(spec, command, signIn = 'key') {
      const host = `root@${spec.nic.addresses[0]?.address}`;
      const options = ['StrictHostKeyChecking=no', 'UserKnownHostsFile=/dev/null', 'LogLevel=ERROR'];
      const ssh = (...more: string[]) => [
        'ssh',
        '-F',
        'none',
        ...[...options, ...more].flatMap((each) => ['-o', each]),
      ];
      const key = signIn === 'other key' ? 'other-key' : 'key';
      const byKey = [...ssh('BatchMode=yes'), '-i', join(dir, key), host, command];
      const byPassword = ['sshpass', '-e', ...ssh('PubkeyAuthentication=no'), host, command];
      const env = { SSHPASS: signIn === 'other password' ? otherPassword : givenPassword };
      return (await runProgram(signIn.endsWith('key') ? byKey : byPassword, { env, timeoutMs: 30_000 }))
        .stdout;
    },
    async signsIn(spec, as) {
      return bed.inGuest(spec, 'true', as).then(
        () => true,
        () => false,
      );
    },
    async guestAddresses(spec) {
      const lines = (await bed.inGuest(spec, 'ip -o addr show dev eth0')).matchAll(/inet6? ([0-9a-f.:]+)\//g);
      return [...lines].map((match) => match[1] ?? '').filter((address) => !address.startsWith('fe80'));
    },
    async spoofs(spec) {
      const strange = `10.77.${network}.199`;
      const ping = `ping -c 1 -W 1 -I ${strange} 10.77.${network}.1 >/dev/null && echo through`;
      const script = `ip addr add ${strange}/24 dev eth0; ${ping}; ip addr del ${strange}/24 dev eth0`;
      return (await bed.inGuest(spec, script)).includes('through');
    },
    async kill(spec) {
      const files = machineFiles(options, spec.id);
      await killProcess(files, 'SIGKILL');
      await waitForEnd(files, 5_000);
    },
    async leftovers({ id }) {
      const files = machineFiles(options, id);
      const links = (await runProgram(['ip', '-o', 'link'])).stdout.split('\n');
      const rules = (await runAsRoot(['nft', 'list', 'ruleset'])).stdout.split('\n');
      const found = [...links, ...rules].filter((line) => line.includes(files.tap));
      for (const path of [files.dir, files.runDir]) if (await exists(path)) found.push(path);
      for (const pid of (await readdir('/proc')).filter((each) => /^\d+$/.test(each))) {
        const line = safeRead(`/proc/${pid}/cmdline`);
        if (line.includes(files.pidFile)) found.push(line);
      }
      return found;
    },
    remove: () => rmSync(dir, { recursive: true, force: true }),
  };
  return bed;
}

async function hashOf(password: string): Promise<string> {
  return (await runProgram(['openssl', 'passwd', '-6', '-stdin'], { input: password })).stdout.trim();
}

function safeRead(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return ''; // a process that has ended meanwhile
  }
}
