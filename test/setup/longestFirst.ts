import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Files that take long although they are small, the longest first: without a memory of earlier runs the runner begins with
 * large files, and a long one that begins last has everything wait for it.
 */
const long = [
  'test/crash/crash.test.ts',
  'test/crash/crashSecond.test.ts',
  'test/crash/crashBack.test.ts',
  'test/restored.test.ts',
  'test/operator.test.ts',
  'test/restoredPayments.test.ts',
  'test/crash/payments.test.ts',
  'test/crash/paymentsSecond.test.ts',
  'src/services/calendar/calendar.test.ts',
  'test/backupUnderLoad.test.ts',
  'test/outage.test.ts',
  'test/deadWorker.test.ts',
  'test/fuzz/fuzz.test.ts',
  'test/metrics.test.ts',
];

function rankOf({ moduleId }: TestSpecification): number {
  const at = long.findIndex((each) => moduleId.endsWith(`/${each}`));
  return at === -1 ? long.length : at;
}

/** The order of the runner, with the longest files before all others of their project. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const group = (file: TestSpecification) => sorted.findIndex(({ project }) => project === file.project);
    return sorted.toSorted((a, b) => group(a) - group(b) || rankOf(a) - rankOf(b));
  }
}
