import fs from 'node:fs';
import path from 'node:path';
import type { SerializedError } from 'vitest';
import type { Reporter, TestModule, TestRunEndReason } from 'vitest/node';

/** In the environment of a run: the path of the file in which it leaves the paths of test files that failed, one a line. */
export const failedFilesVariable = 'INNKEEPER_TEST_FAILED_FILES';

/**
 * Notes which files failed, for whoever wants to run them once more. Nothing is noted of a run that did not come to its end, nor
 * where something was thrown while no file ran: that is no file's own.
 */
export class FailedFiles implements Reporter {
  readonly #to: string;

  constructor(to: string) {
    this.#to = to;
  }

  onTestRunEnd(
    modules: readonly TestModule[],
    errors: readonly SerializedError[],
    reason: TestRunEndReason,
  ): void {
    const failed = modules.filter((each) => each.state() === 'failed').map(({ moduleId }) => moduleId);
    const thrown = errors.map(({ VITEST_TEST_PATH: file }) => (typeof file === 'string' ? file : null));
    if (reason === 'interrupted' || thrown.includes(null)) return;
    const files = [...new Set([...failed, ...thrown.filter((file) => file !== null)])];
    fs.writeFileSync(this.#to, files.map((file) => `${path.relative(process.cwd(), file)}\n`).join(''));
  }
}
