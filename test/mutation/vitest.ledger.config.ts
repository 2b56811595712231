import { defineConfig } from 'vitest/config';

/** The tests of the ledger, those included that start the product on a database. */
export default defineConfig({
  test: {
    root: '.',
    pool: 'forks',
    globalSetup: ['test/setup/postgres.ts'],
    include: ['src/billing/ledger/*.test.ts'],
    // Two runs side by side, of code that is slower for what is counted of it.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    maxWorkers: 1,
  },
});
