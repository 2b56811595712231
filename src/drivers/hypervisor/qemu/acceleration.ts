import { constants } from 'node:fs';
import { access, mkdir, readFile } from 'node:fs/promises';
import { release } from 'node:os';
import { join } from 'node:path';
import { writeDurably } from '../../../platform/host/durable.ts';
import { runProgram } from '../../../platform/host/program.ts';
import type { Log } from '../log.ts';
import { type Kvm, qemuProgram } from './options.ts';

/** How guests' instructions run: by the CPU itself (KVM) or translated by QEMU (TCG). */
export type Acceleration = 'hardware' | 'emulation';

/** What QEMU's command line says about it. */
export function acceleratorArguments(acceleration: Acceleration): string[] {
  return acceleration === 'hardware'
    ? ['-accel', 'kvm', '-cpu', 'host']
    : ['-accel', 'tcg,thread=multi,tb-size=128', '-cpu', 'max,la57=off'];
}

/** A healthy KVM boots the kernel within one second; a nested one within three. */
const probeTimeoutMs = 6_000;
/** How long after a failure a kernel is booted again where KVM has worked before. */
const bootAgainMs = 60_000;
/** The last line of a kernel that has come up whole and found no disk, as the probe wants it. */
const kernelCameUp = 'VFS: Unable to mount root fs';

export interface AccelerationProbe {
  /** What is known without trying: emulation unless hardware has proven itself before. */
  known(): Promise<Acceleration>;
  /**
   * How a machine runs that starts now. Tries a kernel under KVM the first time, and remembers the answer. `kernel`
   * finds one, only if needed.
   */
  settle(kernel: FindKernel): Promise<Acceleration>;
  /** A machine did not start under KVM: what was known of it counts no more. */
  doubt(): Promise<void>;
  /**
   * Why KVM does not work on a node where it has worked before; null while it does, and where it never did. Tries from
   * time to time whether it is back.
   */
  lost(kernel: FindKernel): Promise<string | null>;
}

type FindKernel = () => Promise<string>;

const hostKvm: Kvm = { device: '/dev/kvm', boot: bootUnderKvm };

/** What is kept beside the machines. */
interface Known {
  /** The kernel and the QEMU that the answer is of; null when it counts no more. */
  key: string | null;
  acceleration: Acceleration;
  failure: string | null;
  /** KVM has worked on this node once: it sells fast machines, and never slow ones in their stead. */
  proven: boolean;
}

/**
 * Finds out whether KVM really works, by booting a kernel in it. That the device is there is not enough: inside
 * some virtual machines guests hang or QEMU fails. The answer holds for one host kernel and one QEMU, as long as the
 * device is there.
 */
export function accelerationProbe(dir: string, log: Log, kvm: Kvm = hostKvm): AccelerationProbe {
  const file = join(dir, 'acceleration.json');
  let answer: Acceleration | null = null;
  let failure: string | null = null;
  let probing: Promise<Acceleration> | null = null;
  let said: Acceleration | null = null;
  let bootAgainAt = 0;

  async function recall(): Promise<Known> {
    const nothing: Known = { key: null, acceleration: 'emulation', failure: null, proven: false };
    const found: Partial<Known> = JSON.parse(await readFile(file, 'utf8').catch(() => '{}'));
    return { ...nothing, proven: found.acceleration === 'hardware', ...found };
  }

  async function remember(known: Known): Promise<void> {
    await mkdir(dir, { recursive: true });
    await writeDurably(file, JSON.stringify(known));
  }

  function isThere(): Promise<boolean> {
    return access(kvm.device, constants.R_OK | constants.W_OK).then(
      () => true,
      () => false,
    );
  }

  /** Of a node where KVM has worked, a failure is not the last word. */
  async function holds(known: Known): Promise<boolean> {
    if (known.proven && known.acceleration === 'emulation') return false;
    return known.key === (await hostKey());
  }

  async function look(kernel: FindKernel): Promise<Acceleration> {
    const before = await recall();
    if (!(await isThere())) failure = `${kvm.device} is not there or not open to us`;
    else if (await holds(before)) failure = before.failure;
    else {
      failure = await kvm.boot(await kernel());
      const acceleration = failure === null ? 'hardware' : 'emulation';
      const proven = before.proven || failure === null;
      await remember({ key: await hostKey(), acceleration, failure, proven });
      if (failure !== null) bootAgainAt = Date.now() + bootAgainMs;
    }
    const found = failure === null ? 'hardware' : 'emulation';
    if (found !== said) say(found, before.proven);
    return found;
  }

  function say(found: Acceleration, proven: boolean): void {
    said = found;
    if (found === 'hardware')
      log.info({}, 'Machines run with hardware acceleration (KVM): a kernel has booted in it');
    else if (proven) log.error({ failure }, 'KVM has worked on this node and does not any more');
    else log.warn({ failure }, 'MACHINES RUN UNDER EMULATION, several times slower: KVM does not work here');
  }

  const settle: AccelerationProbe['settle'] = async (kernel) => {
    // Whatever is known: a device that is gone accelerates nothing.
    if (answer === 'hardware' && !(await isThere())) answer = null;
    if (answer) return answer;
    probing ??= look(kernel).finally(() => {
      probing = null;
    });
    answer = await probing;
    return answer;
  };

  return {
    settle,
    async known() {
      if (answer) return answer;
      const known = await recall();
      return (await holds(known)) && (await isThere()) ? known.acceleration : 'emulation';
    },
    async doubt() {
      answer = null;
      await remember({ ...(await recall()), key: null });
    },
    async lost(kernel) {
      const known = await recall();
      if (!known.proven) {
        // Said at the start, where it is known without trying, and not only with the first machine.
        if (!said && (!(await isThere()) || (await holds(known)))) await settle(kernel);
        return null;
      }
      if (answer === 'emulation' && Date.now() >= bootAgainAt) answer = null;
      const found = await settle(kernel).catch((error: Error) => {
        failure = error.message; // no kernel to try it with
        return null;
      });
      return found === 'hardware' ? null : (failure ?? 'unknown');
    },
  };
}

let qemuVersion: Promise<string> | null = null;

/** Of the QEMU that was there first: one that is exchanged while we run is asked at the next start. */
async function hostKey(): Promise<string> {
  qemuVersion ??= runProgram([qemuProgram, '--version']).then(({ stdout }) => stdout.split('\n')[0] ?? '');
  return `${release()} / ${await qemuVersion}`;
}

/** Boots a kernel without any disk: one that works ends in a panic about that, and QEMU with it. */
async function bootUnderKvm(kernel: string): Promise<string | null> {
  try {
    const { stdout } = await runProgram(
      [
        [
          qemuProgram,
          '-nodefaults',
          '-no-user-config',
          '-display',
          'none',
          '-machine',
          'q35',
          '-m',
          'size=128M',
        ],
        [...acceleratorArguments('hardware'), '-no-reboot', '-serial', 'stdio'],
        ['-kernel', kernel, '-append', 'console=ttyS0 panic=-1'],
      ].flat(),
      { timeoutMs: probeTimeoutMs },
    );
    return stdout.includes(kernelCameUp) ? null : 'the kernel ended early';
  } catch (error) {
    return error instanceof Error ? (error.message.split('\n')[0] ?? '').slice(0, 200) : String(error);
  }
}
