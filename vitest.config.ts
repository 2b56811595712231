import os from 'node:os';
import { defineConfig } from 'vitest/config';
import { FailedFiles, failedFilesVariable } from './test/setup/failedFiles.ts';
import { LongestFirst } from './test/setup/longestFirst.ts';
import { SlowestFiles } from './test/setup/slowestFiles.ts';
import { StillRunning } from './test/setup/stillRunning.ts';

const workers = Math.max(2, os.availableParallelism());
const machineTests = ['**/*.machine.test.ts'];
/** Without a network of its own, a test run must not make machines: they would touch the host's network. */
const machinesOff = process.env.INNKEEPER_TEST_MACHINES === 'off';
const { [failedFilesVariable]: failedFiles } = process.env;
const longTests = ['**/*.long.test.ts'];
const never = ['**/node_modules/**', 'var/**'];

const shared = {
  pool: 'forks' as const,
  // Two cores that others may be using too: what waits for real programs gets its time, and in CI a second try.
  testTimeout: 60_000,
  hookTimeout: 180_000,
  // A second, which it would be otherwise, is little for a page on cores that others use too.
  expect: { poll: { timeout: 40_000 } },
  retry: process.env.CI ? 1 : 0,
  // Node loads the product itself, as it does where it runs. In the runner's own loader every name that a module imports is looked
  // up anew at each use, which was a seventh of the time of all tests.
  server: {
    deps: { external: [new RegExp(`^${inRegExp(import.meta.dirname)}/src/(?!.*\\.test\\.ts$).*\\.ts$`)] },
  },
};

function inRegExp(text: string): string {
  return text.replaceAll(/[^\w/]/g, '\\$&');
}

/** Groups run one after another; the files of a group side by side, as many as its `maxWorkers` says. */
export default defineConfig({
  test: {
    // Stands here and not in the projects: one PostgreSQL serves the whole run.
    globalSetup: ['test/setup/postgres.ts'],
    sequence: { sequencer: LongestFirst },
    reporters: [
      'default',
      ...(failedFiles ? [new FailedFiles(failedFiles), new SlowestFiles(), new StillRunning()] : []),
    ],
    projects: [
      {
        test: {
          ...shared,
          name: 'rules',
          include: ['**/*.test.ts'],
          exclude: [...never, ...longTests, ...(machinesOff ? machineTests : [])],
          // Files of a process share its modules: to load the product and have it compiled took as long as the tests themselves.
          isolate: false,
          // Three to a core: most of the time a file waits, for a product of its own, a machine or the database. With five on two cores a third of
          // their time was idle.
          maxWorkers: 3 * workers,
          // What a request makes is forgotten a moment later. In the usual 16 MiB much of it survived, to be found again and again.
          execArgv: ['--max-semi-space-size=64'],
          sequence: { groupOrder: 0 },
        },
      },
      ...(process.env.INNKEEPER_TEST_LONG === 'on'
        ? [
            {
              test: {
                ...shared,
                name: 'long',
                include: longTests,
                exclude: never,
                maxWorkers: workers,
                sequence: { groupOrder: 1 },
              },
            },
          ]
        : []),
    ],
  },
});
