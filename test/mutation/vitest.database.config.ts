import { defineConfig } from 'vitest/config';

/** The tests of tax and ledger, those included that start the product on a database. */
export default defineConfig({
  test: {
    root: '.',
    pool: 'forks',
    globalSetup: ['test/setup/postgres.ts'],
    include: ['src/billing/tax/*.test.ts', 'src/billing/ledger/*.test.ts'],
    testTimeout: 60_000,
    hookTimeout: 180_000,
    maxWorkers: 1,
  },
});
