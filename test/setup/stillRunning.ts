import path from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';

const everyMs = 5 * 60_000;
/** No file of `npm test` takes as long beside others. */
const longMs = 8 * 60_000;

/** Says every few minutes which files have run for long, so that the output of a run that was ended from outside tells what it hung at. */
export class StillRunning implements Reporter {
  readonly #began = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;

  onTestRunStart(): void {
    this.#timer = setInterval(() => this.#say(), everyMs).unref();
  }

  onTestModuleStart({ moduleId }: TestModule): void {
    this.#began.set(moduleId, performance.now());
  }

  onTestModuleEnd({ moduleId }: TestModule): void {
    this.#began.delete(moduleId);
  }

  onTestRunEnd(): void {
    clearInterval(this.#timer);
  }

  #say(): void {
    const now = performance.now();
    for (const [moduleId, began] of this.#began) {
      if (now - began < longMs) continue;
      const minutes = Math.round((now - began) / 60_000);
      console.log(`Still running after ${minutes} min: ${path.relative(process.cwd(), moduleId)}`);
    }
  }
}
