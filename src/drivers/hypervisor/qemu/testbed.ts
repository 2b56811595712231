import { mkdtempSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run, runAsRoot } from '../../../platform/host/run.ts';
import type { GuestIdentity, Hypervisor, ImageSource, MachineSpec } from '../contract.ts';
import { canRunMachines, missingHostPackages } from '../host.ts';
import { imageStore } from '../images/store.ts';
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
  inGuest(spec: MachineSpec, command: string, signIn?: 'key' | 'password'): Promise<string>;
  /** Kills the machine's process, as the kernel does when memory runs out. */
  kill(spec: MachineSpec): Promise<void>;
  leftovers(spec: MachineSpec): Promise<string[]>;
  remove(): void;
}

const imagesDir = process.env.INNKEEPER_TEST_IMAGES ?? join(tmpdir(), 'innkeeper-test-images');
const PASSWORD = 'correct horse; $(battery) "staple"';

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
    const found = await run(['which', program]).catch(() => null);
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
  await run(['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', join(dir, 'key')]);
  const hash = await run(['openssl', 'passwd', '-6', '-stdin'], { input: PASSWORD });
  const options: QemuOptions = {
    dir: join(dir, 'data'),
    runDir: join(dir, 'run'),
    runAs: process.getuid?.() === 0 ? 'nobody' : null,
    imagesDir,
    bridge: {
      name: `ikt${network}`,
      addresses: [`10.77.${network}.1/24`, `fd77:${network}::1/64`],
      nat: false,
    },
    log: { info: () => undefined, warn: () => undefined, error: console.error },
  };
  const bed: Testbed = {
    options,
    image: { slug: recipe, kind: 'build', recipe },
    identity: {
      hostname: 'guest',
      passwordHash: hash.stdout.trim(),
      authorizedKeys: [readFileSync(join(dir, 'key.pub'), 'utf8').trim()],
      nameservers: ['192.0.2.53'],
      userData: null,
    },
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
    async inGuest(spec, command, signIn = 'key') {
      const host = `root@${spec.nic.addresses[0]?.address}`;
      const options = ['StrictHostKeyChecking=no', 'UserKnownHostsFile=/dev/null', 'LogLevel=ERROR'];
      const ssh = (...more: string[]) => [
        'ssh',
        '-F',
        'none',
        ...[...options, ...more].flatMap((each) => ['-o', each]),
      ];
      const byKey = [...ssh('BatchMode=yes'), '-i', join(dir, 'key'), host, command];
      const byPassword = ['sshpass', '-e', ...ssh('PubkeyAuthentication=no'), host, command];
      const env = { SSHPASS: PASSWORD };
      return (await run(signIn === 'key' ? byKey : byPassword, { env, timeoutMs: 30_000 })).stdout;
    },
    async kill(spec) {
      const files = machineFiles(options, spec.id);
      await killProcess(files, 'SIGKILL');
      await waitForEnd(files, 5_000);
    },
    async leftovers({ id }) {
      const files = machineFiles(options, id);
      const links = (await run(['ip', '-o', 'link'])).stdout.split('\n');
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

function safeRead(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return ''; // a process that has ended meanwhile
  }
}
