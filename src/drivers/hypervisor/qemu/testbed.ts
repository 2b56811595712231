import { chmodSync, mkdtempSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runAsRoot, runProgram } from '../../../platform/host/program.ts';
import type { Hypervisor, MachineSpec } from '../contract.ts';
import { type TestGuests, testGuests } from '../guests.testbed.ts';
import { canRunMachines, missingHostPackages } from '../host.ts';
import { imageStore } from '../images/store.ts';
import type { ManagedDriverUnderTest } from '../managementConformance.ts';
import { qemuHypervisor } from './driver.ts';
import { exists, machineFiles } from './files.ts';
import type { QemuOptions } from './options.ts';
import { killProcess, waitForEnd } from './process.ts';

/** Real machines for a test file: a driver with folders, a bridge and keys of its own. */
export interface Testbed extends TestGuests {
  options: QemuOptions;
  open(): Hypervisor;
  /** What the conformance suites ask of a driver, with its guests on this bed. */
  underTest(
    patience: Pick<ManagedDriverUnderTest, 'readyTimeoutMs' | 'shutdownTimeoutMs'>,
  ): ManagedDriverUnderTest;
  /** A machine with the bed's identity that was started; its guest may still be booting. */
  start(hypervisor: Hypervisor, number: number): Promise<MachineSpec>;
  /** The same when it has booted. */
  boot(hypervisor: Hypervisor, number: number): Promise<MachineSpec>;
  /** Kills the machine's process, as the kernel does when memory runs out. */
  kill(spec: MachineSpec): Promise<void>;
  leftovers(spec: MachineSpec): Promise<string[]>;
  remove(): void;
}

export const imagesDir = process.env.INNKEEPER_TEST_IMAGES ?? join(tmpdir(), 'innkeeper-test-images');
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
export async function hasOwnNetwork(): Promise<boolean> {
  const { stdout } = await runAsRoot(['readlink', '/proc/1/ns/net']).catch(() => ({ stdout: '' }));
  return stdout.trim() !== readlinkSync('/proc/self/ns/net');
}

/** `network` tells the test files apart that run side by side: 10.77.<network>.0/24. */
export async function testbed(network: number, recipe: string, size: Partial<MachineSpec>): Promise<Testbed> {
  const dir = mkdtempSync(join(tmpdir(), 'ikt-'));
  chmodSync(dir, 0o711); // machines' accounts pass to their sockets, as in /run
  const guests = await testGuests(dir, network, recipe, size);
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
    ...guests,
    options,
    open: () => qemuHypervisor(options),
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

function safeRead(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return ''; // a process that has ended meanwhile
  }
}
