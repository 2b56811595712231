import path from 'node:path';
import type { Reporter, TestModule } from 'vitest/node';

const shown = 50;

/** Says at the end which files took longest: what `longestFirst.ts` goes by, and where a suite that has grown too long is shortened. */
export class SlowestFiles implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const seconds = modules.map((each) => {
      const { duration, collectDuration, setupDuration } = each.diagnostic();
      return {
        file: path.relative(process.cwd(), each.moduleId),
        seconds: Math.round((duration + collectDuration + setupDuration) / 1_000),
      };
    });
    const all = seconds.reduce((sum, each) => sum + each.seconds, 0);
    const slowest = seconds.toSorted((a, b) => b.seconds - a.seconds).slice(0, shown);
    console.log(`\nThe slowest of ${seconds.length} files, which took ${all} s one by one:`);
    for (const { file, seconds: each } of slowest) console.log(`${String(each).padStart(5)} ${file}`);
  }
}
