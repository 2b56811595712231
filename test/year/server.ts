import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { signalIfThere } from '../signal.ts';

const program = path.join(import.meta.dirname, '../../src/platform/database/embedded/embedded.testchild.ts');
const memory = '/dev/shm';
const roomBytes = 8 * 2 ** 30;

/** A folder that goes with the test, in memory where there is room for a year. */
export function newFolder(name: string): string {
  const isRoomy = existsSync(memory) && statfsSync(memory).bavail * statfsSync(memory).bsize > roomBytes;
  return mkdtempSync(path.join(isRoomy ? memory : tmpdir(), `innkeeper-year-${name}-`));
}

/** A database server of the company's own, that can go away and come back with all that it had. */
export class DatabaseServer {
  readonly dir = newFolder('database');
  #stop: () => Promise<void> = async () => undefined;
  /** As its owner. */
  url = '';
  /** As the product works. */
  applicationUrl = '';

  async start(): Promise<void> {
    const child = spawn(process.execPath, [program, this.dir], {
      stdio: ['ignore', 'pipe', 'ignore'],
      cwd: '/',
    });
    const exited = once(child, 'exit');
    const [line] = await once(createInterface({ input: child.stdout }), 'line');
    const { url, applicationUrl } = JSON.parse(String(line)) as { url: string; applicationUrl: string };
    Object.assign(this, { url, applicationUrl });
    const pidFile = path.join(this.dir, 'postgres/data/postmaster.pid');
    this.#stop = async () => {
      // The supervisor first, which would start it again.
      child.kill('SIGKILL');
      await exited;
      const pid = existsSync(pidFile) ? Number(readFileSync(pidFile, 'utf8').split('\n')[0]) : 0;
      if (pid > 0 && existsSync(`/proc/${pid}`)) signalIfThere(pid, 'SIGKILL');
      while (pid > 0 && existsSync(`/proc/${pid}`)) await sleep(10);
    };
  }

  /** As a power cut takes it. */
  async kill(): Promise<void> {
    await this.#stop();
    this.#stop = async () => undefined;
  }

  async remove(): Promise<void> {
    await this.kill();
    rmSync(this.dir, { recursive: true, force: true, maxRetries: 5 });
  }
}
