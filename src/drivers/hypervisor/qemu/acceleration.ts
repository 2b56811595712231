import { constants } from 'node:fs';
import { access, mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { release } from 'node:os';
import { join } from 'node:path';
import { runProgram } from '../../../platform/host/program.ts';
import { type Log, qemuProgram } from './options.ts';

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
/** The last line of a kernel that has come up whole and found no disk, as the probe wants it. */
const kernelCameUp = 'VFS: Unable to mount root fs';

export interface AccelerationProbe {
  /** What is known without trying: emulation unless hardware has proven itself before. */
  known(): Promise<Acceleration>;
  /** Tries a kernel under KVM the first time, and remembers the answer. `kernel` finds one, only if needed. */
  settle(kernel: () => Promise<string>): Promise<Acceleration>;
}

/**
 * Finds out whether KVM really works, by booting a kernel in it. That the device is there is not enough: inside
 * some virtual machines guests hang or QEMU fails. The answer holds for one host kernel and one QEMU.
 */
export function accelerationProbe(dir: string, log: Log): AccelerationProbe {
  const file = join(dir, 'acceleration.json');
  let answer: Acceleration | null = null;
  let probing: Promise<Acceleration> | null = null;

  async function remembered(key: string): Promise<Acceleration | null> {
    const text = await readFile(file, 'utf8').catch(() => '{}');
    const stored: { key?: string; acceleration?: Acceleration } = JSON.parse(text);
    return stored.key === key ? (stored.acceleration ?? null) : null;
  }

  async function probe(kernel: () => Promise<string>): Promise<Acceleration> {
    const usable = await access('/dev/kvm', constants.R_OK | constants.W_OK).then(
      () => true,
      () => false,
    );
    if (!usable) {
      log.warn({}, 'Machines run under emulation, slowly: /dev/kvm is not there or not open to us');
      return 'emulation';
    }
    const key = await hostKey();
    const before = await remembered(key);
    if (before) return before;
    const failure = await bootUnderKvm(await kernel());
    const acceleration = failure === null ? 'hardware' : 'emulation';
    await mkdir(dir, { recursive: true });
    await writeFile(`${file}.partial`, JSON.stringify({ key, acceleration, failure }));
    await rename(`${file}.partial`, file);
    if (failure === null)
      log.info({}, 'Machines run with hardware acceleration (KVM): a kernel has booted in it');
    else log.warn({ failure }, 'Machines run under emulation, slowly: a kernel did not boot in KVM');
    return acceleration;
  }

  return {
    async known() {
      return answer ?? (await remembered(await hostKey())) ?? 'emulation';
    },
    async settle(kernel) {
      if (answer) return answer;
      probing ??= probe(kernel).finally(() => {
        probing = null;
      });
      answer = await probing;
      return answer;
    },
  };
}

async function hostKey(): Promise<string> {
  const { stdout } = await runProgram([qemuProgram, '--version']);
  return `${release()} / ${stdout.split('\n')[0]}`;
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
